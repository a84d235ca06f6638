-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The nonces with which keys of wallets have signed transfers by permits and by transactions, by the SHA-256 of what the owner signed. A
-- transfer that could get another nonce could move twice.
CREATE TABLE wallet_transfer_nonces (
    platform_id    uuid        NOT NULL,
    account_id     uuid        NOT NULL,
    payload_sha256 bytea       NOT NULL,
    nonce          bigint      NOT NULL,
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (platform_id, account_id, payload_sha256)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_transfer_nonces
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON wallet_transfer_nonces TO causeway_service;
SELECT isolate_platforms('wallet_transfer_nonces');

-- The payment of an embedded wallet that is on its way, and until when it can be sent: the next one is signed after it, with the next
-- nonce.
ALTER TABLE evm_wallets
    ADD COLUMN turn       uuid,
    ADD COLUMN turn_until timestamptz;
