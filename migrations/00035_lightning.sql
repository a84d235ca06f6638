-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- What connections to nodes of the Lightning network keep. A node serves several platforms, so only payments and invoices belong to
-- a platform.
CREATE TABLE lightning_nodes (
    connection    text        PRIMARY KEY,
    created_at    timestamptz NOT NULL,
    settle_index  bigint, -- invoices that were settled up to here are known; NULL: nothing was read
    payment_index bigint, -- payments up to here were looked at; NULL: nothing was read
    fee_msat      bigint      NOT NULL DEFAULT 0, -- thousandths of a satoshi of fees that are in no event; negative: of receipts
    last_event    bigint      NOT NULL DEFAULT 0,
    read_event    bigint      NOT NULL DEFAULT 0 -- events up to here were stored by their reader
);
GRANT SELECT, INSERT, UPDATE ON lightning_nodes TO causeway_service;

-- Payments, for ever: a repeated call returns the outcome of the first. One that is SENT may have been paid under its hash until the
-- node says that it was not. An address can name a person, and so can the text of an invoice: only a hash of them is kept.
CREATE TABLE lightning_payments (
    platform_id  uuid        NOT NULL REFERENCES platforms,
    connection   text        NOT NULL,
    id           uuid        NOT NULL, -- of the transaction
    destination  bytea       NOT NULL CONSTRAINT lightning_payment_destination_is_sha256 CHECK (length(destination) = 32), -- of the invoice or address
    satoshis     bigint      NOT NULL CONSTRAINT lightning_payment_positive CHECK (satoshis > 0),
    created_at   timestamptz NOT NULL,
    status       text        NOT NULL CONSTRAINT lightning_payment_status_known CHECK (status IN ('NEW', 'SENT', 'PAID', 'FAILED')),
    invoice      text        NOT NULL DEFAULT '', -- that an address has given
    payment_hash bytea       CONSTRAINT lightning_payment_hash_is_sha256 CHECK (length(payment_hash) = 32),
    expires_at   timestamptz, -- of the invoice
    sent_at      timestamptz, -- last
    sendings     int         NOT NULL DEFAULT 0, -- of this invoice
    payment_index bigint, -- payments of the node up to here were looked at; NULL: none was
    fee_msat     bigint      NOT NULL DEFAULT 0,
    asked_at     timestamptz, -- when an address was first asked in vain for the next invoice
    code         text        NOT NULL DEFAULT '',
    problem      text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, connection, id),
    CONSTRAINT lightning_payment_sent_has_hash CHECK (status NOT IN ('SENT', 'PAID') OR payment_hash IS NOT NULL AND sent_at IS NOT NULL)
);
CREATE INDEX lightning_payments_sent ON lightning_payments (connection, id) WHERE status = 'SENT';
-- An invoice is paid for one payment only.
CREATE UNIQUE INDEX lightning_payment_hash_once ON lightning_payments (connection, payment_hash) WHERE status IN ('SENT', 'PAID');
GRANT SELECT, INSERT, UPDATE ON lightning_payments TO causeway_service;
SELECT isolate_platforms('lightning_payments');

-- Invoices that were given to payers.
CREATE TABLE lightning_invoices (
    platform_id      uuid        NOT NULL REFERENCES platforms,
    id               uuid        NOT NULL,
    connection       text        NOT NULL,
    reference        text        NOT NULL,
    satoshis         bigint      NOT NULL CONSTRAINT lightning_invoice_positive CHECK (satoshis > 0),
    description_hash bytea       NOT NULL CONSTRAINT lightning_invoice_description_is_sha256 CHECK (length(description_hash) = 32),
    request          text        NOT NULL,
    payment_hash     bytea       NOT NULL CONSTRAINT lightning_invoice_hash_is_sha256 CHECK (length(payment_hash) = 32),
    expires_at       timestamptz NOT NULL,
    created_at       timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
CREATE INDEX lightning_invoices_by_hash ON lightning_invoices (connection, payment_hash);
GRANT SELECT, INSERT ON lightning_invoices TO causeway_service;
SELECT isolate_platforms('lightning_invoices');

-- What the feed of a connection reports, in the order of its numbers. Read events are deleted after some months.
CREATE TABLE lightning_events (
    connection text        NOT NULL,
    number     bigint      NOT NULL,
    kind       text        NOT NULL,
    partner_id text        NOT NULL,
    body       jsonb       NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (connection, number),
    CONSTRAINT lightning_event_once UNIQUE (connection, kind, partner_id)
);
CREATE INDEX lightning_events_by_created_at ON lightning_events (created_at);
GRANT SELECT, INSERT, DELETE ON lightning_events TO causeway_service;
