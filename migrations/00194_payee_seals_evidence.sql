-- +goose Up
SET LOCAL lock_timeout = '1s';

-- A keyed hash of who is paid by a payment and how much, as it was accepted: the beneficiary's account with its details, or
-- the internal account or the UMA address. It is compared before a payment leaves. Empty for what is not paid out.
ALTER TABLE transactions ADD COLUMN payee_seal text NOT NULL DEFAULT '';

-- Payments of a platform that were accepted before this day may have no seal: those before the upgrade, and those that the
-- program of before accepts while it runs beside this one. A platform without a row has sealed all of them.
CREATE TABLE payee_sealing (
    platform_id uuid NOT NULL,
    since       date NOT NULL,
    PRIMARY KEY (platform_id, since)
);
INSERT INTO payee_sealing (platform_id, since) SELECT id, (now() AT TIME ZONE 'UTC')::date + 2 FROM platforms;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payee_sealing FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON payee_sealing REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('payee-sealing', 'since');
GRANT SELECT ON payee_sealing TO causeway_service;
SELECT isolate_platforms('payee_sealing');

INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    SELECT platform_id, 'payee-sealing', to_char(since, 'YYYY-MM-DD'), now() FROM payee_sealing
ON CONFLICT DO NOTHING;
