-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The signing and encryption keys of platforms as UMA providers. The newest that is active signs.
CREATE TABLE uma_keys (
    platform_id uuid        NOT NULL REFERENCES platforms,
    id          uuid        NOT NULL,
    number      integer     NOT NULL CONSTRAINT uma_key_number_positive CHECK (number > 0),
    secrets     jsonb       NOT NULL, -- encrypted
    active_from timestamptz NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT uma_key_number_unique UNIQUE (platform_id, number) -- of two processes that add one, the first does
);
GRANT SELECT, INSERT, UPDATE (secrets), DELETE ON uma_keys TO causeway_service;
SELECT isolate_platforms('uma_keys');

-- Nonces of signed messages of other providers, as the SHA-256 of the domain and the nonce, until the messages are too old.
CREATE TABLE uma_nonces (
    platform_id uuid        NOT NULL REFERENCES platforms,
    hash        bytea       NOT NULL CONSTRAINT uma_nonce_hash_length CHECK (length(hash) = 32),
    expires_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, hash)
);
CREATE INDEX uma_nonces_by_expires_at ON uma_nonces (platform_id, expires_at);
GRANT SELECT, INSERT, DELETE ON uma_nonces TO causeway_service;
SELECT isolate_platforms('uma_nonces');

-- The public keys of other providers, as platforms have read them last.
CREATE TABLE uma_peers (
    platform_id    uuid        NOT NULL REFERENCES platforms,
    domain         text        NOT NULL,
    signing_key    bytea       NOT NULL,
    encryption_key bytea       NOT NULL,
    expires_at     timestamptz NOT NULL,
    PRIMARY KEY (platform_id, domain)
);
CREATE INDEX uma_peers_by_expires_at ON uma_peers (platform_id, expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON uma_peers TO causeway_service;
SELECT isolate_platforms('uma_peers');

-- How a receiver at another provider is paid.
ALTER TABLE lookups ADD COLUMN uma_receiver jsonb;
