-- +goose Up

-- A quote never changes; its state is the status of its transaction.
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
-- Partial, like every further index here, so that the planner never prefers it to the
-- primary key for a lookup by id, whatever it estimates for a young table.
CREATE UNIQUE INDEX quote_reference_unique ON quotes (platform_id, reference) WHERE reference <> '';

-- Narrow rows, pages filled to four fifths: a change of state stays on its page and
-- updates no index.
CREATE TABLE transactions (
    platform_id          uuid        NOT NULL,
    id                   uuid        NOT NULL,
    quote_id             uuid,
    customer_id          uuid, -- NULL: the platform's own transaction
    direction            text        NOT NULL,
    status               text        NOT NULL CONSTRAINT transaction_status_known
        CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED')),
    refund_status        text        NOT NULL,
    stage                text        NOT NULL,
    failure_reason       text        NOT NULL,
    source_external      uuid,
    source_internal      uuid,
    destination_external uuid,
    destination_internal uuid,
    source_rail          text        NOT NULL, -- '' if an internal account pays
    source_account       text        NOT NULL, -- path of the ledger account
    destination_rail     text        NOT NULL, -- '' if an internal account receives
    destination_account  text        NOT NULL, -- path of the ledger account
    receipt_id           uuid,                 -- the receipt that funded it
    sent_currency        text        NOT NULL,
    sent_minor           bigint      NOT NULL CONSTRAINT transaction_sent_positive CHECK (sent_minor > 0),
    received_currency    text        NOT NULL,
    received_minor       bigint      NOT NULL CONSTRAINT transaction_received_positive CHECK (received_minor > 0),
    funded_currency      text        NOT NULL DEFAULT '',
    funded_minor         bigint      NOT NULL DEFAULT 0,
    refund_reason        text        NOT NULL DEFAULT '',
    refund_at            timestamptz,
    refund_settled_at    timestamptz,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    settled_at           timestamptz,
    source_uma           text        NOT NULL, -- a sender at another provider; empty if none
    destination_uma      text        NOT NULL, -- a receiver at another provider; empty if none
    reference            text        NOT NULL, -- of a transaction without a quote; else empty
    details              text        NOT NULL, -- fields that no query filters by (JSON)
    PRIMARY KEY (platform_id, id)
) WITH (fillfactor = 80);
CREATE INDEX transactions_by_customer ON transactions (platform_id, customer_id, id) WHERE customer_id IS NOT NULL;
-- The platform's own transactions are few among those of its customers.
CREATE INDEX transactions_by_platform ON transactions (platform_id, id) WHERE customer_id IS NULL;
CREATE INDEX transactions_by_source_external ON transactions (platform_id, source_external, id) WHERE source_external IS NOT NULL;
CREATE INDEX transactions_by_source_internal ON transactions (platform_id, source_internal, id) WHERE source_internal IS NOT NULL;
CREATE INDEX transactions_by_source_uma ON transactions (platform_id, source_uma, id) WHERE source_uma <> '';
CREATE INDEX transactions_by_destination_external ON transactions (platform_id, destination_external, id) WHERE destination_external IS NOT NULL;
CREATE INDEX transactions_by_destination_internal ON transactions (platform_id, destination_internal, id) WHERE destination_internal IS NOT NULL;
CREATE INDEX transactions_by_destination_uma ON transactions (platform_id, destination_uma, id) WHERE destination_uma <> '';
CREATE INDEX transactions_by_reference ON transactions (platform_id, reference, id) WHERE reference <> '';

-- Every payment received from a partner, matched or not. The id is derived from the
-- rail and the partner's own id, so that a repeated notification is stored once.
CREATE TABLE receipts (
    platform_id     uuid        NOT NULL,
    id              uuid        NOT NULL,
    rail            text        NOT NULL, -- rail or chain it was paid by
    partner_id      text        NOT NULL,
    reference       text        NOT NULL,
    currency        text        NOT NULL,
    amount          bigint      NOT NULL CONSTRAINT receipt_amount_positive CHECK (amount > 0),
    received_at     timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);

-- Replies of rails about a payment or a refund, except those that it succeeded: these
-- follow from the postings. Rows never change.
CREATE TABLE rail_replies (
    platform_id uuid        NOT NULL,
    subject_id  uuid        NOT NULL,
    replied_at  timestamptz NOT NULL,
    call        text        NOT NULL,
    verdict     text        NOT NULL,
    reason      text        NOT NULL,
    accepted    boolean     NOT NULL,
    retry_at    timestamptz
);
CREATE INDEX rail_replies_by_subject ON rail_replies (platform_id, subject_id, replied_at);

-- The postings that put the funds of a receipt into the ledger account funding/unmatched
-- (suspense). Rows never change.
CREATE TABLE unmatched_funds (
    platform_id uuid NOT NULL,
    posting_id  uuid NOT NULL,
    receipt_id  uuid NOT NULL,
    PRIMARY KEY (platform_id, posting_id),
    CONSTRAINT unmatched_funds_receipt_fkey FOREIGN KEY (platform_id, receipt_id) REFERENCES receipts (platform_id, id)
);
-- Partial, so that the planner never prefers it to the primary key.
CREATE INDEX unmatched_funds_by_receipt ON unmatched_funds (platform_id, receipt_id) WHERE receipt_id IS NOT NULL;

-- Decisions about unmatched funds (suspense), once for each posting that put funds there.
-- Rows never change.
CREATE TABLE unmatched_assignments (
    platform_id    uuid        NOT NULL,
    posting_id     uuid        NOT NULL,
    receipt_id     uuid        NOT NULL,
    transaction_id uuid,       -- NULL: the funds go back to the payer
    account_id     uuid,       -- NULL: the funds pay for a quote, or go back
    note           text        NOT NULL,
    token_id       uuid        NOT NULL, -- of the caller who decided
    assigned_at    timestamptz NOT NULL,
    CONSTRAINT unmatched_assignment_once PRIMARY KEY (platform_id, posting_id),
    CONSTRAINT unmatched_assignment_account_needs_transaction CHECK (account_id IS NULL OR transaction_id IS NOT NULL)
);
CREATE INDEX unmatched_assignments_by_transaction ON unmatched_assignments (platform_id, transaction_id) WHERE transaction_id IS NOT NULL;

GRANT SELECT, INSERT ON quotes, receipts, rail_replies, unmatched_funds, unmatched_assignments TO causeway_service;
GRANT SELECT, INSERT, UPDATE ON transactions TO causeway_service;
