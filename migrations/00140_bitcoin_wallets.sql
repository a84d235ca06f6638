-- +goose Up
-- What the service knows of Bitcoin wallets, for each connection to one. A wallet serves several platforms, so only
-- addresses and payments belong to a platform. See adapters/postgres/bitcoin_wallet.go.
SET LOCAL lock_timeout = '1s';

-- One process at a time changes a wallet: lease numbers those that took it, and each change names its number.
CREATE TABLE bitcoin_wallets (
    connection       text        NOT NULL PRIMARY KEY,
    created_at       timestamptz NOT NULL,
    lease            bigint      NOT NULL,
    leased_until     timestamptz NOT NULL,
    scanned_block    text        NOT NULL DEFAULT '', -- the deepest block whose deposits may still be unknown follows it
    scanned_height   bigint      NOT NULL DEFAULT 0,
    best_block       text        NOT NULL DEFAULT '', -- at the last scan
    rescan_height    bigint, -- the wallet has to look for new addresses from here on; NULL: nowhere
    references_until timestamptz, -- deposit references up to here have an address
    last_event       bigint      NOT NULL DEFAULT 0,
    read_event       bigint      NOT NULL DEFAULT 0, -- events up to here were stored by their reader
    last_batch       bigint      NOT NULL DEFAULT 0
);

-- Addresses for ever: somebody may pay to one years later.
CREATE TABLE bitcoin_addresses (
    platform_id uuid        NOT NULL REFERENCES platforms,
    connection  text        NOT NULL,
    address     text        NOT NULL,
    reference   text        NOT NULL,
    known_at    timestamptz NOT NULL, -- not shown to a payer before
    imported_at timestamptz, -- NULL: the wallet does not watch it
    checked_at  timestamptz, -- that the wallet still watches it
    PRIMARY KEY (platform_id, connection, address)
);
CREATE INDEX bitcoin_addresses_by_address ON bitcoin_addresses (connection, address);
CREATE INDEX bitcoin_addresses_to_import ON bitcoin_addresses (connection, address) WHERE imported_at IS NULL;
CREATE INDEX bitcoin_addresses_to_check ON bitcoin_addresses (connection, checked_at) WHERE imported_at IS NOT NULL;

-- Payments to addresses, for ever: a repeated call returns the outcome of the first.
CREATE TABLE bitcoin_payments (
    platform_id uuid        NOT NULL REFERENCES platforms,
    connection  text        NOT NULL,
    id          uuid        NOT NULL, -- of the transaction, or of the receipt that is sent back
    address     text        NOT NULL,
    satoshis    bigint      NOT NULL CONSTRAINT bitcoin_payment_positive CHECK (satoshis > 0),
    created_at  timestamptz NOT NULL,
    batch       bigint, -- NULL: not signed yet
    PRIMARY KEY (platform_id, connection, id)
);
CREATE INDEX bitcoin_payments_unsigned ON bitcoin_payments (connection, id) WHERE batch IS NULL;
CREATE INDEX bitcoin_payments_by_batch ON bitcoin_payments (connection, batch) WHERE batch IS NOT NULL;

-- A batch is some payments in one transaction, of which at most one version can ever be in the chain.
CREATE TABLE bitcoin_batches (
    connection text        NOT NULL,
    number     bigint      NOT NULL,
    status     text        NOT NULL CONSTRAINT bitcoin_batch_status_known CHECK (status IN ('SENT', 'CONFIRMED', 'FINAL', 'RELEASED')),
    created_at timestamptz NOT NULL,
    since      text        NOT NULL, -- the block after which it can be in the chain
    txid       text        NOT NULL DEFAULT '', -- of the version that was confirmed
    ended_at   timestamptz, -- when it became FINAL or RELEASED
    PRIMARY KEY (connection, number)
);
CREATE INDEX bitcoin_batches_open ON bitcoin_batches (connection, number) WHERE status IN ('SENT', 'CONFIRMED');
CREATE INDEX bitcoin_batches_by_end ON bitcoin_batches (ended_at) WHERE ended_at IS NOT NULL;

-- Signed transactions, stored before they are sent.
CREATE TABLE bitcoin_transactions (
    connection text        NOT NULL,
    txid       text        NOT NULL,
    batch      bigint      NOT NULL,
    version    int         NOT NULL,
    raw        bytea       NOT NULL,
    fee        bigint      NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (connection, txid),
    CONSTRAINT bitcoin_transaction_version_once UNIQUE (connection, batch, version)
);

-- A coin belongs to one batch.
CREATE TABLE bitcoin_inputs (
    connection text   NOT NULL,
    outpoint   text   NOT NULL,
    batch      bigint NOT NULL,
    PRIMARY KEY (connection, outpoint)
);
CREATE INDEX bitcoin_inputs_by_batch ON bitcoin_inputs (connection, batch);

-- Outputs that were received, for ever: one that was reversed is recognised when it returns.
CREATE TABLE bitcoin_deposits (
    connection text   NOT NULL,
    txid       text   NOT NULL,
    vout       bigint NOT NULL,
    address    text   NOT NULL,
    satoshis   bigint NOT NULL,
    block      text   NOT NULL,
    height     bigint NOT NULL,
    status     text   NOT NULL CONSTRAINT bitcoin_deposit_status_known CHECK (status IN ('IMMATURE', 'CREDITED', 'REVERSED')),
    occurrence int    NOT NULL, -- how often it was credited
    PRIMARY KEY (connection, txid, vout)
);
CREATE INDEX bitcoin_deposits_by_height ON bitcoin_deposits (connection, height) WHERE status <> 'REVERSED';

-- What the feed of a connection reports, in the order of its numbers. Read events are deleted after some months.
CREATE TABLE bitcoin_events (
    connection text        NOT NULL,
    number     bigint      NOT NULL,
    kind       text        NOT NULL,
    partner_id text        NOT NULL,
    body       jsonb       NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (connection, number),
    CONSTRAINT bitcoin_event_once UNIQUE (connection, kind, partner_id)
);
CREATE INDEX bitcoin_events_by_created_at ON bitcoin_events (created_at);

GRANT SELECT, INSERT, UPDATE ON bitcoin_wallets, bitcoin_addresses, bitcoin_payments, bitcoin_batches, bitcoin_deposits TO causeway_service;
GRANT SELECT, INSERT, DELETE ON bitcoin_transactions, bitcoin_inputs, bitcoin_events TO causeway_service;
SELECT isolate_platforms('bitcoin_addresses');
SELECT isolate_platforms('bitcoin_payments');
