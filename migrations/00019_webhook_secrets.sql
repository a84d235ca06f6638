-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Platforms that exist may verify the Ed25519 signature, so they keep it. New ones ask for it.
ALTER TABLE platforms ADD COLUMN webhook_signatures text[] NOT NULL DEFAULT '{ECDSA_P256_SHA256,HMAC_SHA256,ED25519}'
    CONSTRAINT platform_webhook_signatures_known CHECK (
        webhook_signatures <@ '{ECDSA_P256_SHA256,HMAC_SHA256,ED25519}' AND cardinality(webhook_signatures) > 0);
ALTER TABLE platforms ALTER COLUMN webhook_signatures SET DEFAULT '{ECDSA_P256_SHA256,HMAC_SHA256}';
-- Changes with every change of webhook_secrets, so that processes read them again.
ALTER TABLE platforms ADD COLUMN webhook_secrets_version bigint NOT NULL DEFAULT 0;

-- The secrets with which platforms verify webhooks, encrypted.
CREATE TABLE webhook_secrets (
    platform_id      uuid        NOT NULL REFERENCES platforms,
    id               uuid        NOT NULL,
    encrypted_secret bytea       NOT NULL,
    valid_from       timestamptz NOT NULL,
    valid_until      timestamptz CONSTRAINT webhook_secret_validity_ordered CHECK (valid_until >= valid_from),
    PRIMARY KEY (platform_id, id)
);
CREATE UNIQUE INDEX webhook_secret_one_current ON webhook_secrets (platform_id) WHERE valid_until IS NULL;

GRANT SELECT, INSERT, DELETE ON webhook_secrets TO causeway_service;
-- Keys that ended are deleted.
GRANT DELETE ON webhook_keys TO causeway_service;
