-- +goose Up

-- The service runs its statements as this role, which has only the privileges it needs.
-- Roles belong to the whole cluster: another database may have created it already.
-- +goose StatementBegin
DO $$
BEGIN
    CREATE ROLE causeway_service NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$$;
-- +goose StatementEnd
GRANT causeway_service TO CURRENT_USER;
GRANT USAGE ON SCHEMA public TO causeway_service;
GRANT SELECT ON schema_migrations TO causeway_service; -- the service checks the version when it starts

-- Rejects a change of an append-only table. The trigger's argument, if any, is the hint.
-- +goose StatementBegin
CREATE FUNCTION reject_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is not allowed: the table is append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = coalesce(TG_ARGV[0], '');
END
$$;
-- +goose StatementEnd

CREATE TABLE platforms (
    id               uuid        PRIMARY KEY,
    name             text        NOT NULL,
    environment      text        NOT NULL CONSTRAINT platform_environment_known CHECK (environment IN ('SANDBOX', 'PRODUCTION')),
    regulated        boolean     NOT NULL,
    uma_domain       text        NOT NULL,
    uma_subdomain    text        NOT NULL DEFAULT '',
    webhook_endpoint text        NOT NULL DEFAULT '',
    currencies       jsonb       NOT NULL,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL
);

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

-- The responses to requests with an Idempotency-Key.
CREATE TABLE idempotency_keys (
    platform_id uuid        NOT NULL,
    token_id    uuid        NOT NULL,
    key         text        NOT NULL,
    fingerprint bytea       NOT NULL,
    status      smallint    NOT NULL CONSTRAINT idempotency_key_status_below_500 CHECK (status BETWEEN 200 AND 499),
    body        bytea       NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, token_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING brin (created_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON platforms, tokens, idempotency_keys TO causeway_service;
