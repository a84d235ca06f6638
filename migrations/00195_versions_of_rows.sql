-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Rows that change are sealed in the log of evidence too: each version of them, and their deletion. The check compares a
-- row with its last version.

-- A keyed hash of the details of an account and of its verification, as they were registered. Empty in older rows.
ALTER TABLE external_accounts ADD COLUMN seal text NOT NULL DEFAULT '';

-- Queues a row that the service has changed. Whoever else changes one, with the rights of the owner of the tables, leaves
-- it as it was sealed. The row of the queue is locked until the commit, so that no version is sealed for the next one.
-- +goose StatementBegin
CREATE FUNCTION ledger_queue_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed record := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    IF current_user = 'causeway_service' THEN
        INSERT INTO ledger_evidence_queue AS q (platform_id, kind, subject, queued_at)
        VALUES (changed.platform_id, TG_ARGV[0], changed.id::text, clock_timestamp())
        ON CONFLICT (platform_id, kind, subject) DO UPDATE SET queued_at = q.queued_at;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
GRANT UPDATE (queued_at) ON ledger_evidence_queue TO causeway_service;

CREATE TRIGGER ledger_evidence_version AFTER INSERT OR DELETE ON external_accounts FOR EACH ROW EXECUTE FUNCTION ledger_queue_version('external-account');
CREATE TRIGGER ledger_evidence_change AFTER UPDATE ON external_accounts FOR EACH ROW
    WHEN ((OLD.customer_id, OLD.platform_account_id, OLD.currency, OLD.account_type, OLD.rails, OLD.status, OLD.default_uma_deposit, OLD.verification, OLD.deleted_at, OLD.seal)
        IS DISTINCT FROM (NEW.customer_id, NEW.platform_account_id, NEW.currency, NEW.account_type, NEW.rails, NEW.status, NEW.default_uma_deposit, NEW.verification, NEW.deleted_at, NEW.seal))
    EXECUTE FUNCTION ledger_queue_version('external-account');
CREATE TRIGGER ledger_evidence_version AFTER INSERT OR UPDATE OR DELETE ON tokens FOR EACH ROW EXECUTE FUNCTION ledger_queue_version('token');
CREATE TRIGGER ledger_evidence_version AFTER INSERT OR DELETE ON customers FOR EACH ROW EXECUTE FUNCTION ledger_queue_version('customer-status');
CREATE TRIGGER ledger_evidence_change AFTER UPDATE ON customers FOR EACH ROW
    WHEN ((OLD.customer_type, OLD.status, OLD.held_at, OLD.deleted_at) IS DISTINCT FROM (NEW.customer_type, NEW.status, NEW.held_at, NEW.deleted_at))
    EXECUTE FUNCTION ledger_queue_version('customer-status');
