-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The keys that encrypt personal data, encrypted with the master key. Keys are added and kept,
-- because old rows need them. The index key makes fingerprints and is never replaced.
CREATE TABLE data_keys (
    id            uuid        NOT NULL,
    purpose       text        NOT NULL CONSTRAINT data_key_purpose_known CHECK (purpose IN ('DATA', 'INDEX')),
    encrypted_key bytea       NOT NULL,
    created_at    timestamptz NOT NULL,
    PRIMARY KEY (id, purpose)
);
CREATE UNIQUE INDEX data_key_one_index_key ON data_keys (purpose) WHERE purpose = 'INDEX';

GRANT SELECT, INSERT ON data_keys TO causeway_service;
-- A new master key encrypts the stored keys again.
GRANT UPDATE (encrypted_key) ON data_keys, ledger_log_keys TO causeway_service;
GRANT UPDATE (encrypted_secret) ON webhook_secrets TO causeway_service;
