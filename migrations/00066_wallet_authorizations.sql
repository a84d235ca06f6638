-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The evidence of payments from embedded wallets: what the owner signed, and with which key. It is kept
-- for ever, as the ledger is; only the encryption of the payload changes. The session is NULL for a test
-- value of the sandbox.
CREATE TABLE wallet_authorizations (
    platform_id           uuid        NOT NULL,
    id                    uuid        NOT NULL, -- of the transaction
    account_id            uuid        NOT NULL, -- the wallet
    payload               text        NOT NULL, -- encrypted: it can name the address of a person
    signature             text        NOT NULL, -- the header Service-Wallet-Signature
    session_id            uuid,
    session_key           bytea       CONSTRAINT wallet_authorization_session_key_compressed CHECK (length(session_key) = 33),
    certificate_statement text,
    certificate_key       bytea       CONSTRAINT wallet_authorization_certificate_key_compressed CHECK (length(certificate_key) = 33),
    certificate_signature bytea,
    signed_at             timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT wallet_authorization_has_whole_session
        CHECK (num_nulls(session_id, session_key, certificate_statement, certificate_key, certificate_signature) IN (0, 5))
);
CREATE TRIGGER append_only
    BEFORE UPDATE OF platform_id, id, account_id, signature, session_id, session_key, certificate_statement, certificate_key, certificate_signature, signed_at
        OR DELETE OR TRUNCATE ON wallet_authorizations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
-- Nobody without the data key replaces the payload: what is written is encrypted.
CREATE TRIGGER payload_stays_encrypted BEFORE UPDATE OF payload ON wallet_authorizations FOR EACH ROW
    WHEN (NEW.payload <> OLD.payload AND left(NEW.payload, 1) <> E'\x01') EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT, UPDATE (payload) ON wallet_authorizations TO causeway_service;
SELECT isolate_platforms('wallet_authorizations');

-- No wallet is debited without evidence: also not by the previous release, which knows no signatures.
-- +goose StatementBegin
CREATE FUNCTION require_wallet_authorization() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM wallet_authorizations a WHERE a.platform_id = NEW.platform_id AND a.id = NEW.id) THEN
        RAISE EXCEPTION 'transaction % is paid by an embedded wallet, and nobody has signed it', NEW.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER wallet_authorized BEFORE UPDATE OF status ON transactions FOR EACH ROW
    WHEN (OLD.status = 'PENDING' AND NEW.status IN ('PROCESSING', 'COMPLETED') AND starts_with(NEW.source_account, 'wallets/'))
    EXECUTE FUNCTION require_wallet_authorization();
