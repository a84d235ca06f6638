-- +goose Up

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
    customer_id         uuid, -- NULL: the platform's own account
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
CREATE INDEX external_accounts_by_customer ON external_accounts (platform_id, customer_id, id) WHERE customer_id IS NOT NULL;
-- The platform's own accounts are few among those of its customers.
CREATE INDEX external_accounts_by_platform ON external_accounts (platform_id, id) WHERE customer_id IS NULL;
CREATE UNIQUE INDEX external_account_unique_while_active ON external_accounts
    (platform_id, coalesce(customer_id, '00000000-0000-0000-0000-000000000000'), fingerprint) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX external_account_one_uma_default ON external_accounts (platform_id, customer_id) WHERE default_uma_deposit AND deleted_at IS NULL;

CREATE TABLE internal_accounts (
    platform_id  uuid        NOT NULL REFERENCES platforms,
    id           uuid        NOT NULL,
    customer_id  uuid, -- NULL: the platform's own account
    currency     text        NOT NULL,
    account_type text        NOT NULL,
    status       text        NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    reference    text        NOT NULL, -- the code in the memo of a payment into the account
    instructions text        NOT NULL, -- how to pay into the account (JSON); empty until the rails have returned them
    PRIMARY KEY (platform_id, id),
    FOREIGN KEY (platform_id, customer_id) REFERENCES customers
);
CREATE UNIQUE INDEX internal_account_owner_currency_unique ON internal_accounts
    (platform_id, coalesce(customer_id, '00000000-0000-0000-0000-000000000000'), currency);
-- Partial, so that the planner never prefers it to the primary key for a lookup by id.
CREATE UNIQUE INDEX internal_account_reference_unique ON internal_accounts (platform_id, reference) WHERE reference <> '';

-- Results of receiver lookups. Each is valid for some minutes and deleted later.
CREATE TABLE lookups (
    platform_id      uuid        NOT NULL REFERENCES platforms,
    id               uuid        NOT NULL,
    customer_id      uuid,
    sender_uma       text        NOT NULL,
    receiver_uma     text        NOT NULL,
    external_id      uuid,
    requested_fields jsonb       NOT NULL, -- what the receiver's provider asks to know about the payer
    expires_at       timestamptz NOT NULL,
    created_at       timestamptz NOT NULL,
    currencies       text[]      NOT NULL, -- that can be delivered to the receiver
    receiver_info    jsonb       NOT NULL, -- what the receiver's provider says about the receiver
    PRIMARY KEY (platform_id, id),
    CONSTRAINT lookup_has_one_receiver CHECK ((receiver_uma = '') = (external_id IS NOT NULL))
);
CREATE INDEX lookups_by_age ON lookups USING brin (created_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON customers, external_accounts, internal_accounts TO causeway_service;
GRANT SELECT, INSERT, DELETE ON lookups TO causeway_service;
