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
