-- +goose Up

-- A quote never changes; where it stands is its transaction's status.
CREATE TABLE quotes (
    platform_id       uuid        NOT NULL,
    id                uuid        NOT NULL,
    transaction_id    uuid        NOT NULL,
    side              text        NOT NULL,
    locked_amount     bigint      NOT NULL,
    fees              bigint      NOT NULL,
    fee_fixed         bigint      NOT NULL,
    fee_variable      bigint      NOT NULL,
    fee_fraction      text        NOT NULL,
    rate              text        NOT NULL,
    market_rate       text        NOT NULL,
    rounding_sent     bigint      NOT NULL,
    rounding_received bigint      NOT NULL,
    network           text        NOT NULL,
    reference         text        NOT NULL,
    instructions      text        NOT NULL,
    description       text        NOT NULL,
    purpose           text        NOT NULL,
    expires_at        timestamptz NOT NULL,
    created_at        timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
-- Partial, like every further index here: a look-up by the primary key cannot fall
-- for one of them, whatever the planner believes of a young table.
CREATE UNIQUE INDEX quote_reference_unique ON quotes (platform_id, reference) WHERE reference <> '';

-- Narrow and filled to four fifths: a change of state stays on its page and
-- touches no index.
CREATE TABLE transactions (
    platform_id          uuid        NOT NULL,
    id                   uuid        NOT NULL,
    quote_id             uuid,
    customer_id          uuid,
    direction            text        NOT NULL,
    status               text        NOT NULL CONSTRAINT transaction_status_known
        CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED')),
    refund_status        text        NOT NULL,
    reached              text        NOT NULL,
    failure_reason       text        NOT NULL,
    source_external      uuid,
    source_internal      uuid,
    destination_external uuid,
    destination_internal uuid,
    in_rail              text        NOT NULL,
    out_rail             text        NOT NULL,
    sent_currency        text        NOT NULL,
    sent_minor           bigint      NOT NULL CONSTRAINT transaction_sends_something CHECK (sent_minor > 0),
    received_currency    text        NOT NULL,
    received_minor       bigint      NOT NULL CONSTRAINT transaction_receives_something CHECK (received_minor > 0),
    funded_currency      text        NOT NULL DEFAULT '',
    funded_minor         bigint      NOT NULL DEFAULT 0,
    refund_reason        text        NOT NULL DEFAULT '',
    refund_at            timestamptz,
    refund_settled_at    timestamptz,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    settled_at           timestamptz,
    PRIMARY KEY (platform_id, id)
) WITH (fillfactor = 80);
CREATE INDEX transactions_of_customer ON transactions (platform_id, customer_id, id) WHERE customer_id IS NOT NULL;
CREATE INDEX transactions_to_external ON transactions (platform_id, destination_external, id) WHERE destination_external IS NOT NULL;
CREATE INDEX transactions_from_external ON transactions (platform_id, source_external, id) WHERE source_external IS NOT NULL;
CREATE INDEX transactions_from_internal ON transactions (platform_id, source_internal, id) WHERE source_internal IS NOT NULL;
CREATE INDEX transactions_to_internal ON transactions (platform_id, destination_internal, id) WHERE destination_internal IS NOT NULL;

-- Every payment that arrived, whosever it was. The id follows from the rail and the
-- partner's own id, so one told twice is taken once.
CREATE TABLE receipts (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    rail        text        NOT NULL,
    partner_id  text        NOT NULL,
    reference   text        NOT NULL,
    currency    text        NOT NULL,
    amount      bigint      NOT NULL CONSTRAINT receipt_amount_positive CHECK (amount > 0),
    received_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);

-- Work to be done later, about a group of transactions. A queue: small, and
-- cleaned often.
CREATE TABLE jobs (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    step        text        NOT NULL,
    due_at      timestamptz NOT NULL,
    attempts    int         NOT NULL DEFAULT 0,
    subjects    uuid[]      NOT NULL,
    PRIMARY KEY (platform_id, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
CREATE INDEX jobs_due ON jobs (step, due_at);

-- The answers of requests that carried an Idempotency-Key.
CREATE TABLE idempotency_keys (
    platform_id uuid        NOT NULL,
    token_id    uuid        NOT NULL,
    key         text        NOT NULL,
    fingerprint bytea       NOT NULL,
    status      smallint    NOT NULL CONSTRAINT idempotency_never_keeps_server_errors CHECK (status BETWEEN 200 AND 499),
    body        bytea       NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, token_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING brin (created_at);

GRANT SELECT, INSERT ON quotes, receipts TO causeway_service;
GRANT SELECT, INSERT, UPDATE ON transactions TO causeway_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON jobs, idempotency_keys TO causeway_service;

-- +goose Down
SELECT 1;
