-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What the keys of embedded wallets are made from. A row is never deleted, and only the encryption of its
-- entropy changes: who loses it has lost what the wallet holds.
CREATE TABLE wallet_keys (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL, -- of the internal account
    entropy     bytea       NOT NULL CONSTRAINT wallet_key_entropy_encrypted CHECK (length(entropy) > 32 AND get_byte(entropy, 0) < 32),
    public_key  bytea       NOT NULL CONSTRAINT wallet_key_public_key_compressed CHECK (length(public_key) = 33 AND get_byte(public_key, 0) IN (2, 3)),
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT wallet_key_account_fkey FOREIGN KEY (platform_id, id) REFERENCES internal_accounts
);
CREATE TRIGGER append_only BEFORE UPDATE OF platform_id, id, public_key, created_at OR DELETE OR TRUNCATE ON wallet_keys
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

GRANT SELECT, INSERT, UPDATE (entropy) ON wallet_keys TO causeway_service;
SELECT isolate_platforms('wallet_keys');
