-- +goose Up
-- What connections to Ethereum-like chains have read and signed. A connection may serve several platforms.
SET LOCAL lock_timeout = '1s';

-- How far each connection has read its chain. fee_wei is what its transactions have cost, and fee_gwei what of it was
-- reported.
CREATE TABLE evm_chains (
    connection    text        PRIMARY KEY,
    chain_id      numeric     NOT NULL,
    wallet        bytea       NOT NULL,
    position      bigint      NOT NULL,
    position_hash bytea       NOT NULL,
    event_number  bigint      NOT NULL DEFAULT 0,
    fee_wei       numeric     NOT NULL DEFAULT 0,
    fee_gwei      bigint      NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL
);

-- The ends of the ranges of blocks that were read.
CREATE TABLE evm_blocks (
    connection text   NOT NULL,
    number     bigint NOT NULL,
    hash       bytea  NOT NULL,
    PRIMARY KEY (connection, number)
);

CREATE TABLE evm_addresses (
    connection  text        NOT NULL,
    address     bytea       NOT NULL,
    platform_id uuid        NOT NULL,
    reference   text        NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (connection, address),
    CONSTRAINT evm_address_reference_unique UNIQUE (connection, platform_id, reference)
);

-- The addresses of quotes are deleted long after the quotes.
CREATE INDEX evm_addresses_of_quotes ON evm_addresses (connection, created_at) WHERE reference NOT LIKE 'FUND-%';

-- How far the references of each platform have addresses.
CREATE TABLE evm_reference_positions (
    connection  text    NOT NULL,
    platform_id uuid    NOT NULL,
    quotes      boolean NOT NULL,
    last        uuid    NOT NULL,
    PRIMARY KEY (connection, platform_id, quotes)
);

CREATE TABLE evm_deposits (
    connection       text        NOT NULL,
    partner_id       text        NOT NULL,
    platform_id      uuid        NOT NULL,
    reference        text        NOT NULL,
    address          bytea       NOT NULL,
    transaction_hash bytea       NOT NULL,
    log_index        bigint      NOT NULL,
    block_number     bigint      NOT NULL,
    block_hash       bytea       NOT NULL,
    received_at      timestamptz NOT NULL,
    currency         text        NOT NULL,
    amount           numeric     NOT NULL,
    payer            bytea       NOT NULL,
    reversed         boolean     NOT NULL DEFAULT false,
    oversized        boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (connection, partner_id)
);
CREATE INDEX evm_deposits_by_block ON evm_deposits (connection, block_number);
CREATE INDEX evm_deposits_by_transaction ON evm_deposits (connection, transaction_hash);
CREATE INDEX evm_deposits_oversized ON evm_deposits (connection, block_number) WHERE oversized;

-- What each deposit address has received and sent, in the smallest unit of a currency.
CREATE TABLE evm_holdings (
    connection text        NOT NULL,
    currency   text        NOT NULL,
    address    bytea       NOT NULL,
    received   numeric     NOT NULL DEFAULT 0,
    sent       numeric     NOT NULL DEFAULT 0,
    claimed_at timestamptz,
    PRIMARY KEY (connection, currency, address)
);
CREATE INDEX evm_holdings_of_some_money ON evm_holdings (connection, currency, (received - sent)) WHERE received <> sent;

-- What is to be reported, in the order of its numbers.
CREATE TABLE evm_events (
    connection  text        NOT NULL,
    number      bigint      NOT NULL,
    kind        text        NOT NULL,
    platform_id uuid,       -- NULL for the fee of no platform
    partner_id  text        NOT NULL,
    receipt     text        NOT NULL,
    subject     uuid,
    reference   text        NOT NULL,
    currency    text        NOT NULL,
    amount      bigint      NOT NULL,
    payer       bytea       NOT NULL,
    at          timestamptz NOT NULL,
    memo        text        NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (connection, number)
);

-- The senders of a chain, and their next nonces.
CREATE TABLE evm_wallets (
    chain_id   numeric NOT NULL,
    address    bytea   NOT NULL,
    connection text    NOT NULL,
    next_nonce bigint  NOT NULL,
    PRIMARY KEY (chain_id, address)
);

-- What was signed: one row for each nonce of a sender. It is a record, as payments are.
CREATE TABLE evm_transactions (
    connection   text        NOT NULL,
    sender       bytea       NOT NULL,
    nonce        bigint      NOT NULL,
    path         bigint[]    NOT NULL,
    purpose      text        NOT NULL,
    subject      uuid        NOT NULL,
    platform_id  uuid,       -- NULL for what serves all
    target       bytea       NOT NULL,
    value        numeric     NOT NULL,
    data         bytea       NOT NULL,
    gas_limit    bigint      NOT NULL,
    recipient    bytea       NOT NULL,
    currency     text        NOT NULL,
    amount       numeric     NOT NULL,
    state        text        NOT NULL,
    settled      boolean     NOT NULL DEFAULT false,
    hash         bytea,
    block_number bigint,
    block_hash   bytea,
    fee          numeric,
    version      integer     NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    PRIMARY KEY (connection, sender, nonce),
    CONSTRAINT evm_transaction_subject_unique UNIQUE (connection, purpose, subject)
);
CREATE INDEX evm_transactions_pending ON evm_transactions (connection, sender, nonce) WHERE state = 'PENDING';
CREATE INDEX evm_transactions_by_block ON evm_transactions (connection, block_number) WHERE block_number IS NOT NULL;

-- The signed versions of a transaction: stored before they are sent.
CREATE TABLE evm_attempts (
    connection       text        NOT NULL,
    sender           bytea       NOT NULL,
    nonce            bigint      NOT NULL,
    number           integer     NOT NULL,
    hash             bytea       NOT NULL,
    raw              bytea       NOT NULL,
    max_fee          numeric     NOT NULL,
    max_priority_fee numeric     NOT NULL,
    created_at       timestamptz NOT NULL,
    PRIMARY KEY (connection, sender, nonce, number),
    CONSTRAINT evm_attempt_transaction_fkey FOREIGN KEY (connection, sender, nonce) REFERENCES evm_transactions (connection, sender, nonce)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON evm_attempts FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

GRANT SELECT, INSERT, UPDATE ON evm_chains, evm_wallets, evm_reference_positions, evm_holdings, evm_transactions TO causeway_service;
GRANT SELECT, INSERT, DELETE ON evm_blocks, evm_events, evm_addresses TO causeway_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON evm_deposits TO causeway_service;
GRANT SELECT, INSERT ON evm_attempts TO causeway_service;

SELECT isolate_platforms('evm_addresses');
SELECT isolate_platforms('evm_reference_positions');
SELECT isolate_platforms('evm_deposits');
SELECT isolate_platforms('evm_events');
SELECT isolate_platforms('evm_transactions');
