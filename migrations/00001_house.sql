-- +goose Up

-- The service works as this role, which may change only what changes by design.
-- +goose StatementBegin
DO $$
BEGIN
    CREATE ROLE causeway_service NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- another database of this cluster made it
END
$$;
-- +goose StatementEnd
GRANT causeway_service TO CURRENT_USER;
GRANT USAGE ON SCHEMA public TO causeway_service;
GRANT SELECT ON goose_db_version TO causeway_service; -- it refuses to serve on another schema

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

CREATE TABLE customers (
    platform_id          uuid        NOT NULL REFERENCES platforms,
    id                   uuid        NOT NULL,
    platform_customer_id text        NOT NULL,
    customer_type        text        NOT NULL CONSTRAINT customer_type_known CHECK (customer_type IN ('INDIVIDUAL', 'BUSINESS')),
    region               text        NOT NULL DEFAULT '',
    currencies           text[]      NOT NULL DEFAULT '{}',
    email                text        NOT NULL DEFAULT '',
    uma_address          text        NOT NULL,
    status               text        NOT NULL CONSTRAINT customer_status_known CHECK (status IN ('UNVERIFIED', 'PENDING', 'APPROVED', 'REJECTED')),
    details              jsonb       NOT NULL,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    deleted_at           timestamptz,
    PRIMARY KEY (platform_id, id)
);
CREATE UNIQUE INDEX customer_platform_id_unique_while_active ON customers (platform_id, platform_customer_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX customer_uma_address_unique_while_active ON customers (platform_id, uma_address) WHERE deleted_at IS NULL;

CREATE TABLE external_accounts (
    platform_id         uuid        NOT NULL REFERENCES platforms,
    id                  uuid        NOT NULL,
    customer_id         uuid, -- none: the platform's own
    platform_account_id text        NOT NULL DEFAULT '',
    currency            text        NOT NULL,
    account_type        text        NOT NULL,
    fields              jsonb       NOT NULL,
    beneficiary         jsonb,
    rails               text[]      NOT NULL DEFAULT '{}',
    status              text        NOT NULL,
    default_uma_deposit boolean     NOT NULL DEFAULT false,
    verification        text        NOT NULL DEFAULT '',
    verified_name       text        NOT NULL DEFAULT '',
    fingerprint         text        NOT NULL,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    deleted_at          timestamptz,
    PRIMARY KEY (platform_id, id),
    FOREIGN KEY (platform_id, customer_id) REFERENCES customers
);
CREATE INDEX external_accounts_of_customer ON external_accounts (platform_id, customer_id, id) WHERE customer_id IS NOT NULL;
CREATE UNIQUE INDEX external_account_unique_while_active ON external_accounts
    (platform_id, coalesce(customer_id, '00000000-0000-0000-0000-000000000000'), fingerprint) WHERE deleted_at IS NULL;

CREATE TABLE internal_accounts (
    platform_id  uuid        NOT NULL REFERENCES platforms,
    id           uuid        NOT NULL,
    customer_id  uuid, -- none: the platform's own
    currency     text        NOT NULL,
    account_type text        NOT NULL,
    status       text        NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    FOREIGN KEY (platform_id, customer_id) REFERENCES customers
);
CREATE UNIQUE INDEX internal_account_one_per_owner_and_currency ON internal_accounts
    (platform_id, coalesce(customer_id, '00000000-0000-0000-0000-000000000000'), currency);

GRANT SELECT, INSERT, UPDATE, DELETE ON platforms, tokens, customers, external_accounts, internal_accounts TO causeway_service;

-- What the operator changed of the built-in corridor terms. A line without a
-- platform is for all; empty columns leave the built-in value.
CREATE TABLE corridor_overrides (
    platform_id  uuid REFERENCES platforms,
    source       text NOT NULL,
    destination  text NOT NULL,
    fee_fixed    bigint CONSTRAINT corridor_fixed_fee_not_negative CHECK (fee_fixed >= 0),
    fee_fraction text,
    min_sending  bigint CONSTRAINT corridor_minimum_positive CHECK (min_sending > 0),
    max_sending  bigint CONSTRAINT corridor_maximum_positive CHECK (max_sending > 0),
    lock_seconds int CONSTRAINT corridor_lock_between_1_and_15_minutes CHECK (lock_seconds BETWEEN 60 AND 900)
);
CREATE UNIQUE INDEX corridor_override_once ON corridor_overrides
    (coalesce(platform_id, '00000000-0000-0000-0000-000000000000'), source, destination);
GRANT SELECT ON corridor_overrides TO causeway_service;

-- +goose Down
SELECT 1;
