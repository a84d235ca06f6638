-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- Since when payments of customers who need strong customer authentication need a proof of the payer; NULL for a platform that does
-- not ask for one, as those of before. Exemptions are the names of those that it uses.
ALTER TABLE platforms ADD COLUMN sca_payments_since timestamptz;
ALTER TABLE platforms ADD COLUMN sca_exemptions text[] NOT NULL DEFAULT '{}'
    CONSTRAINT platform_sca_exemptions_known CHECK (sca_exemptions <@ '{TRUSTED_BENEFICIARY,LOW_VALUE}');

-- When the customer has said that it trusts the account, for payments without a proof.
ALTER TABLE external_accounts ADD COLUMN trusted_at timestamptz;
DROP TRIGGER ledger_evidence_change ON external_accounts;
CREATE TRIGGER ledger_evidence_change AFTER UPDATE ON external_accounts FOR EACH ROW
    WHEN ((OLD.customer_id, OLD.platform_account_id, OLD.currency, OLD.account_type, OLD.rails, OLD.status, OLD.default_uma_deposit, OLD.verification, OLD.deleted_at, OLD.trusted_at, OLD.seal)
        IS DISTINCT FROM (NEW.customer_id, NEW.platform_account_id, NEW.currency, NEW.account_type, NEW.rails, NEW.status, NEW.default_uma_deposit, NEW.verification, NEW.deleted_at, NEW.trusted_at, NEW.seal))
    EXECUTE FUNCTION ledger_queue_version('external-account');

-- Whether the payer has to authorise the payment; NULL if no rule asks for it.
ALTER TABLE transactions ADD COLUMN payer_authorization text;
ALTER TABLE transactions DROP CONSTRAINT transaction_status_known;
ALTER TABLE transactions ADD CONSTRAINT transaction_status_known
    CHECK (status IN ('PENDING', 'PENDING_AUTHORIZATION', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED')) NOT VALID;
ALTER TABLE transactions ADD CONSTRAINT transaction_payer_authorization_known
    CHECK (payer_authorization IN ('REQUIRED', 'AUTHORIZED', 'EXEMPT')) NOT VALID;

-- Why payments could go on without, or with, a proof of their payer: one row for each thing that it has authorised, or one for an
-- exemption. What was authorised is a digest of the amounts, the currencies and the payee.
CREATE TABLE payment_authorizations (
    platform_id    uuid        NOT NULL,
    transaction_id uuid        NOT NULL,
    purpose        text        NOT NULL,
    customer_id    uuid        NOT NULL,
    challenge_id   uuid,
    factor         text        NOT NULL,
    exemption      text        NOT NULL,
    euro_cents     bigint      NOT NULL,
    digest         bytea       NOT NULL CONSTRAINT payment_authorization_digest_length CHECK (length(digest) = 32),
    authorized_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, transaction_id, purpose),
    CONSTRAINT payment_authorization_proof_or_exemption CHECK (
        (exemption = '') = (challenge_id IS NOT NULL) AND (factor IN ('SMS_OTP', 'PASSKEY')) = (exemption = '')
        AND exemption IN ('', 'TRUSTED_BENEFICIARY', 'LOW_VALUE'))
);
CREATE INDEX payment_authorizations_by_customer ON payment_authorizations (platform_id, customer_id, authorized_at DESC);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_authorizations
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON payment_authorizations REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('payment-authorization', 'transaction_id', 'purpose');
GRANT SELECT, INSERT ON payment_authorizations TO causeway_service;
SELECT isolate_platforms('payment_authorizations');

-- A payment that its payer has to authorise does not begin without a proof or an exemption.
-- +goose StatementBegin
CREATE FUNCTION require_payment_authorization() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.payer_authorization = 'REQUIRED' OR NOT EXISTS (
        SELECT FROM payment_authorizations a WHERE a.platform_id = NEW.platform_id AND a.transaction_id = NEW.id) THEN
        RAISE EXCEPTION 'transaction % has a payer who has to authorise it, and has not', NEW.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER payment_authorized BEFORE UPDATE OF status ON transactions FOR EACH ROW
    WHEN (NEW.payer_authorization IS NOT NULL AND OLD.status IN ('PENDING', 'PENDING_AUTHORIZATION', 'EXPIRED')
        AND NEW.status IN ('PROCESSING', 'COMPLETED'))
    EXECUTE FUNCTION require_payment_authorization();

-- Quotes that nobody has authorised are deleted as those that nobody has paid.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION delete_unpaid_quotes(platform uuid, before timestamptz, max_rows int, OUT checked int, OUT deleted int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    last uuid;
    old  uuid[]; -- the quotes to check
    next uuid[];
BEGIN
    before := least(before, clock_timestamp() - interval '30 days');
    checked := 0; deleted := 0;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('delete_unpaid_quotes' || platform, 0)) THEN
        RETURN;
    END IF;
    WITH due AS (
        DELETE FROM quote_retention_open o WHERE o.platform_id = platform AND o.quote_id = ANY (ARRAY(
            SELECT d.quote_id FROM quote_retention_open d WHERE d.platform_id = platform AND d.check_at <= clock_timestamp() ORDER BY d.check_at LIMIT max_rows))
        RETURNING o.quote_id)
    SELECT coalesce(array_agg(quote_id), '{}') INTO old FROM due;
    SELECT p.checked_to INTO last FROM quote_retention_progress p WHERE p.platform_id = platform;
    next := ARRAY(SELECT q.id FROM quotes q
        WHERE q.platform_id = platform AND q.id > coalesce(last, '00000000-0000-0000-0000-000000000000') AND q.id < first_uuid_v7(before)
        ORDER BY q.id LIMIT max_rows - cardinality(old));
    IF cardinality(next) > 0 THEN
        INSERT INTO quote_retention_progress VALUES (platform, next[cardinality(next)])
        ON CONFLICT (platform_id) DO UPDATE SET checked_to = excluded.checked_to;
    END IF;
    old := old || next;
    checked := cardinality(old);
    WITH maybe AS MATERIALIZED (
        SELECT t.id, q.id AS quote_id FROM unnest(old) AS o(id)
        JOIN quotes q ON q.platform_id = platform AND q.id = o.id
        JOIN transactions t ON t.platform_id = platform AND t.id = q.transaction_id
        WHERE t.status IN ('PENDING', 'PENDING_AUTHORIZATION')
           OR (t.status = 'EXPIRED' OR t.status = 'FAILED' AND t.failure_reason = 'SCA_NOT_COMPLETED') AND t.refund_status = '' AND t.stage = '' AND t.receipt_id IS NULL AND t.funded_minor = 0
          AND NOT EXISTS (SELECT FROM ledger_postings p
              WHERE p.platform_id = platform AND p.transaction_id = t.id AND p.recorded_at >= t.created_at - interval '1 day') -- clocks differ
          AND NOT EXISTS (SELECT FROM unmatched_assignments a WHERE a.platform_id = platform AND a.transaction_id = t.id)
    ), unpaid AS MATERIALIZED (
        SELECT t.id, m.quote_id FROM maybe m JOIN transactions t ON t.platform_id = platform AND t.id = m.id
        WHERE (t.status = 'EXPIRED' OR t.status = 'FAILED' AND t.failure_reason = 'SCA_NOT_COMPLETED') AND t.refund_status = '' AND t.receipt_id IS NULL AND t.funded_minor = 0
          AND NOT EXISTS (SELECT FROM jobs j WHERE j.platform_id = platform AND j.id < first_uuid_v7(before) AND t.id = ANY (j.subjects))
        FOR UPDATE OF t SKIP LOCKED -- a payment is being recorded
    ), deleted_quotes AS (
        DELETE FROM quotes q USING unpaid u WHERE q.platform_id = platform AND q.id = u.quote_id RETURNING 1
    ), deleted_transactions AS (
        DELETE FROM transactions t USING unpaid u WHERE t.platform_id = platform AND t.id = u.id
    ), still_open AS (
        INSERT INTO quote_retention_open
        SELECT platform, m.quote_id, clock_timestamp() + interval '1 day' FROM maybe m
        WHERE NOT EXISTS (SELECT FROM unpaid u WHERE u.id = m.id)
        ON CONFLICT DO NOTHING
    )
    SELECT count(*) INTO deleted FROM deleted_quotes;
END
$$;
-- +goose StatementEnd
