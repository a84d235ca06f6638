-- +goose Up

CREATE TABLE platforms (
    id                      uuid        PRIMARY KEY,
    name                    text        NOT NULL,
    environment             text        NOT NULL CONSTRAINT platform_environment_known CHECK (environment IN ('SANDBOX', 'PRODUCTION')),
    regulated               boolean     NOT NULL,
    uma_domain              text        NOT NULL,
    uma_subdomain           text        NOT NULL DEFAULT '',
    webhook_endpoint        text        NOT NULL DEFAULT '',
    currencies              jsonb       NOT NULL,
    created_at              timestamptz NOT NULL,
    updated_at              timestamptz NOT NULL,
    -- The algorithms with which its webhooks are signed. A platform that verifies Ed25519 asks for it.
    webhook_signatures      text[]      NOT NULL DEFAULT '{ECDSA_P256_SHA256,HMAC_SHA256}' CONSTRAINT platform_webhook_signatures_known CHECK (
        webhook_signatures <@ '{ECDSA_P256_SHA256,HMAC_SHA256,ED25519}' AND cardinality(webhook_signatures) > 0),
    -- Changes with every change of webhook_secrets, so that processes read them again.
    webhook_secrets_version bigint      NOT NULL DEFAULT 0,
    kyc_redirect_origins    text[]      NOT NULL DEFAULT '{}',
    invitation_url          text        NOT NULL DEFAULT '', -- the page for invitations; empty for none
    embedded_wallets        jsonb       -- settings for the embedded wallets of its customers; NULL if it has set none
);
GRANT SELECT, INSERT, UPDATE, DELETE ON platforms TO causeway_service;
SELECT isolate_platforms('platforms', 'id = (SELECT visible_platform())');

CREATE TABLE tokens (
    platform_id uuid        NOT NULL REFERENCES platforms,
    id          uuid        NOT NULL,
    name        text        NOT NULL,
    permissions text[]      NOT NULL,
    client_id   text        NOT NULL CONSTRAINT token_client_id_unique UNIQUE,
    secret_hash bytea       NOT NULL CONSTRAINT token_secret_hash_is_sha256 CHECK (length(secret_hash) = 32),
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
CREATE TRIGGER ledger_evidence_version AFTER INSERT OR UPDATE OR DELETE ON tokens FOR EACH ROW EXECUTE FUNCTION ledger_queue_version('token');
GRANT SELECT, INSERT, UPDATE, DELETE ON tokens TO causeway_service;
SELECT isolate_platforms('tokens');

-- The responses to requests with an Idempotency-Key, which belongs to the platform and not to a token.
-- The program knows a repeated request by the name of the primary key.
CREATE TABLE idempotency_keys (
    platform_id uuid        NOT NULL,
    token_id    uuid        NOT NULL,
    key         text        NOT NULL,
    fingerprint bytea       NOT NULL,
    status      smallint    NOT NULL CONSTRAINT idempotency_key_status_below_500 CHECK (status BETWEEN 200 AND 499),
    body        bytea       NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, key)
);
-- Finds the oldest responses of a platform. A BRIN index does not for long: new rows fill the space of deleted ones, so
-- that the oldest may be anywhere.
CREATE INDEX idempotency_keys_by_created_at ON idempotency_keys (platform_id, created_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO causeway_service;
SELECT isolate_platforms('idempotency_keys');

-- The keys that encrypt personal data, encrypted with the master key. Keys are added and kept,
-- because old rows need them. The index key makes fingerprints and is never replaced.
CREATE TABLE data_keys (
    id            uuid        NOT NULL,
    purpose       text        NOT NULL CONSTRAINT data_key_purpose_known CHECK (purpose IN ('DATA', 'INDEX')),
    encrypted_key bytea       NOT NULL,
    created_at    timestamptz NOT NULL,
    -- The number of the version of what is encrypted, with which the key was created.
    generation    smallint    NOT NULL DEFAULT 1,
    PRIMARY KEY (id, purpose)
);
CREATE UNIQUE INDEX data_key_one_index_key ON data_keys (purpose) WHERE purpose = 'INDEX';
-- A new master key encrypts the keys again.
GRANT SELECT, INSERT, UPDATE (encrypted_key) ON data_keys TO causeway_service;

-- What operators did on the command line. Few rows; kept for ever. What they do to the whole service has a
-- platform_id and subject_id of zero, and subject is what was changed, such as a pair of currencies, a month or the id
-- of a key. The program knows the actions, so that a new one needs no migration.
CREATE TABLE operator_actions (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    action      text        NOT NULL CONSTRAINT operator_action_known CHECK (action ~ '^[A-Z][A-Z_]{2,39}$'),
    subject_id  uuid        NOT NULL, -- such as a platform, token or customer
    actor       text        NOT NULL CONSTRAINT operator_action_actor_length CHECK (length(actor) BETWEEN 1 AND 200),
    at          timestamptz NOT NULL,
    subject     text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, id)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_actions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON operator_actions TO causeway_service;
SELECT isolate_platforms('operator_actions');
