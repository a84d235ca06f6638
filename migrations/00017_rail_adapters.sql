-- +goose Up

-- Payment orders for banks that take files, the files for the banks, and the files of the banks. A connection serves several
-- platforms, and a file has orders of all of them, so that files belong to the service and what finds orders for them
-- begins with the connection.

-- One row for each connection: its lease, and the counters that are assigned under it.
CREATE TABLE bank_connections (
    connection   text        PRIMARY KEY,
    fence        bigint      NOT NULL, -- of the newest lease
    holder       uuid        NOT NULL, -- the process that has it
    leased_until timestamptz NOT NULL,
    files        bigint      NOT NULL DEFAULT 0, -- number of the newest file for the bank
    received     bigint      NOT NULL DEFAULT 0, -- number of the newest file of the bank
    news         bigint      NOT NULL DEFAULT 0, -- number of the newest change of an order
    traces       integer     NOT NULL DEFAULT 0  -- newest trace number
);
GRANT SELECT, INSERT, UPDATE ON bank_connections TO causeway_service;

CREATE TABLE bank_files (
    connection     text        NOT NULL REFERENCES bank_connections,
    number         bigint      NOT NULL CONSTRAINT bank_file_number_positive CHECK (number > 0),
    rail           text        NOT NULL,
    currency       text        NOT NULL,
    day            date        NOT NULL, -- of the bank
    day_number     integer     NOT NULL CONSTRAINT bank_file_day_number_positive CHECK (day_number > 0),
    name           text        NOT NULL,
    message_id     text        NOT NULL,
    orders         integer     NOT NULL CONSTRAINT bank_file_has_orders CHECK (orders > 0),
    sum            numeric     NOT NULL CONSTRAINT bank_file_sum_positive CHECK (sum > 0),
    first_trace    integer     NOT NULL,
    state          text        NOT NULL CONSTRAINT bank_file_state_known CHECK (state IN ('CREATED', 'UPLOADED', 'DELIVERED')),
    attempts       integer     NOT NULL DEFAULT 0, -- to upload it
    temporary_name text        NOT NULL DEFAULT '',
    fence          bigint      NOT NULL DEFAULT 0, -- of the lease under which it was uploaded
    sha256         bytea,
    size           bigint,
    created_at     timestamptz NOT NULL,
    uploaded_at    timestamptz,
    delivered_at   timestamptz,
    settles_at     timestamptz, -- NULL if it does not settle by itself, or has
    place          text        NOT NULL DEFAULT '', -- where it was uploaded, so that settings of another place do not make one that is missing there count as delivered
    PRIMARY KEY (connection, number),
    CONSTRAINT bank_file_name_unique UNIQUE (connection, name),
    CONSTRAINT bank_file_message_unique UNIQUE (connection, message_id),
    CONSTRAINT bank_file_day_number_unique UNIQUE (connection, rail, day, day_number),
    CONSTRAINT bank_file_uploaded_is_known CHECK (state = 'CREATED' OR temporary_name <> '' AND length(sha256) = 32 AND size > 0),
    CONSTRAINT bank_file_delivered_at CHECK ((state = 'DELIVERED') = (delivered_at IS NOT NULL))
);
CREATE INDEX bank_files_undelivered ON bank_files (connection, number) WHERE state <> 'DELIVERED';
CREATE INDEX bank_files_by_delivery ON bank_files (delivered_at);
CREATE INDEX bank_files_settling ON bank_files (connection, settles_at) WHERE settles_at IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON bank_files TO causeway_service;

CREATE TABLE bank_orders (
    platform_id   uuid        NOT NULL,
    id            uuid        NOT NULL,
    subject_id    uuid        NOT NULL, -- the transaction, or the receipt that is sent back
    kind          text        NOT NULL CONSTRAINT bank_order_kind_known CHECK (kind IN ('PAYOUT', 'REFUND', 'COLLECTION')),
    connection    text        NOT NULL,
    rail          text        NOT NULL,
    batch         text        NOT NULL,
    currency      text        NOT NULL,
    amount        bigint      NOT NULL CONSTRAINT bank_order_amount_positive CHECK (amount > 0),
    end_to_end_id text        NOT NULL,
    key           text        NOT NULL,
    details       text        NOT NULL, -- encrypted: the counterparty and the text for it
    state         text        NOT NULL CONSTRAINT bank_order_state_known
        CHECK (state IN ('QUEUED', 'IN_FILE', 'ACCEPTED', 'PENDING', 'SETTLED', 'REJECTED', 'RETURNED')),
    file_number   bigint,
    file_position integer,
    news          bigint      NOT NULL DEFAULT 0, -- number of its newest change
    reported_in   bigint      NOT NULL DEFAULT 0, -- newest file of the bank that changed or confirmed it
    partner_id    text        NOT NULL DEFAULT '',
    code          text        NOT NULL DEFAULT '',
    reason        text        NOT NULL DEFAULT '', -- encrypted: what the bank wrote
    queued_at     timestamptz NOT NULL,
    accepted_at   timestamptz,
    settled_at    timestamptz,
    returned_at   timestamptz,
    updated_at    timestamptz NOT NULL,
    return_id     text        NOT NULL DEFAULT '', -- the bank's id of the credit with which it came back, so that a second credit is not taken for the first
    PRIMARY KEY (platform_id, id),
    -- An order is in one file, at one place in it.
    CONSTRAINT bank_order_in_file CHECK ((state = 'QUEUED') = (file_number IS NULL) AND (file_number IS NULL) = (file_position IS NULL)),
    CONSTRAINT bank_order_settled_at CHECK (state <> 'SETTLED' OR settled_at IS NOT NULL),
    CONSTRAINT bank_order_returned_at CHECK ((state = 'RETURNED') = (returned_at IS NOT NULL)),
    CONSTRAINT bank_order_end_to_end_id_unique UNIQUE (connection, end_to_end_id),
    CONSTRAINT bank_order_key_unique UNIQUE (connection, key),
    CONSTRAINT bank_order_position_unique UNIQUE (connection, file_number, file_position),
    CONSTRAINT bank_order_file_fkey FOREIGN KEY (connection, file_number) REFERENCES bank_files (connection, number)
);
CREATE INDEX bank_orders_queued ON bank_orders (connection, rail, currency, queued_at, id) WHERE state = 'QUEUED';
CREATE INDEX bank_orders_by_news ON bank_orders (connection, news) WHERE news > 0;
CREATE INDEX bank_orders_open_by_file ON bank_orders (connection, file_number, file_position) WHERE state IN ('IN_FILE', 'ACCEPTED', 'PENDING');
CREATE INDEX bank_orders_ended ON bank_orders (platform_id, updated_at) WHERE state IN ('SETTLED', 'REJECTED', 'RETURNED');

-- Once in a file, always in that file: otherwise it could be paid twice.
-- +goose StatementBegin
CREATE FUNCTION keep_bank_order_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'bank order % is in file % of connection % and stays there', OLD.id, OLD.file_number, OLD.connection USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER bank_order_stays_in_file BEFORE UPDATE ON bank_orders FOR EACH ROW
    WHEN (OLD.file_number IS NOT NULL
        AND (OLD.file_number, OLD.file_position, OLD.connection, OLD.kind, OLD.rail, OLD.batch, OLD.amount, OLD.currency, OLD.end_to_end_id, OLD.key)
        IS DISTINCT FROM (NEW.file_number, NEW.file_position, NEW.connection, NEW.kind, NEW.rail, NEW.batch, NEW.amount, NEW.currency, NEW.end_to_end_id, NEW.key))
    EXECUTE FUNCTION keep_bank_order_file();
GRANT SELECT, INSERT, UPDATE, DELETE ON bank_orders TO causeway_service;
SELECT isolate_platforms('bank_orders');

-- The files of banks, which are read once.
CREATE TABLE bank_received_files (
    connection  text        NOT NULL REFERENCES bank_connections,
    number      bigint      NOT NULL CONSTRAINT bank_received_file_number_positive CHECK (number > 0),
    name        text        NOT NULL,
    size        bigint      NOT NULL,
    modified_at timestamptz NOT NULL,
    sha256      bytea       NOT NULL CONSTRAINT bank_received_file_sha256_length CHECK (length(sha256) = 32),
    state       text        NOT NULL CONSTRAINT bank_received_file_state_known CHECK (state IN ('READING', 'READ', 'DUPLICATE', 'UNREADABLE')),
    problem     text        NOT NULL DEFAULT '',
    found_at    timestamptz NOT NULL,
    ended_at    timestamptz,
    PRIMARY KEY (connection, number),
    CONSTRAINT bank_received_file_unique UNIQUE (connection, name, size, modified_at, sha256)
);
-- One that could not be read may be put down again, for a version that can.
CREATE UNIQUE INDEX bank_received_files_by_content ON bank_received_files (connection, sha256) WHERE state IN ('READING', 'READ');
CREATE INDEX bank_received_files_by_end ON bank_received_files (ended_at);
-- Finds the files with a content, also those that could not be read.
CREATE INDEX bank_received_files_by_digest ON bank_received_files (connection, sha256);
GRANT SELECT, INSERT, UPDATE, DELETE ON bank_received_files TO causeway_service;

-- What operators have to look at in files of banks.
CREATE TABLE bank_notices (
    connection text        NOT NULL REFERENCES bank_connections,
    file       bigint      NOT NULL, -- of the bank
    place      text        NOT NULL,
    kind       text        NOT NULL CONSTRAINT bank_notice_kind_known
        CHECK (kind IN ('UNKNOWN_PAYMENT', 'CONTRADICTION', 'DUPLICATE_FILE', 'UNREADABLE_FILE', 'CORRECTION', 'OTHER_ACCOUNT', 'OTHER_CURRENCY')),
    name       text        NOT NULL, -- the end-to-end id, message or file
    code       text        NOT NULL,
    noticed_at timestamptz NOT NULL,
    PRIMARY KEY (connection, file, place, kind)
);
CREATE INDEX bank_notices_by_time ON bank_notices (noticed_at);
CREATE INDEX bank_notices_newest ON bank_notices (connection, noticed_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON bank_notices TO causeway_service;

-- What notifications of change correct in the account of a counterparty.
CREATE TABLE bank_corrections (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    order_id    uuid        NOT NULL,
    connection  text        NOT NULL,
    file        bigint      NOT NULL, -- of the bank, as in the notice
    place       text        NOT NULL,
    details     text        NOT NULL, -- encrypted
    received_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT bank_correction_notice_unique UNIQUE (connection, file, place),
    CONSTRAINT bank_correction_order_fkey FOREIGN KEY (platform_id, order_id) REFERENCES bank_orders (platform_id, id) ON DELETE CASCADE
);
CREATE INDEX bank_corrections_by_order ON bank_corrections (platform_id, order_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON bank_corrections TO causeway_service;
SELECT isolate_platforms('bank_corrections');

-- How money received was named, by which the bank names it when it takes it back. It has no column of a platform: a bank
-- that takes money back does not know whose it was.
CREATE TABLE bank_receipt_names (
    connection  text        NOT NULL REFERENCES bank_connections,
    name        text        NOT NULL, -- a hash of an id that a bank has given, with the amount
    partner_id  text        NOT NULL, -- of the receipt
    received_at timestamptz NOT NULL,
    PRIMARY KEY (connection, name, partner_id)
);
CREATE INDEX bank_receipt_names_by_time ON bank_receipt_names (received_at);
GRANT SELECT, INSERT, DELETE ON bank_receipt_names TO causeway_service;

-- What the service knows of Bitcoin wallets, for each connection to one. A wallet serves several platforms, so only
-- addresses and payments belong to a platform. See adapters/postgres/bitcoin_wallet.go.

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
GRANT SELECT, INSERT, UPDATE ON bitcoin_wallets TO causeway_service;

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
GRANT SELECT, INSERT, UPDATE ON bitcoin_addresses TO causeway_service;
SELECT isolate_platforms('bitcoin_addresses');

-- Payments to addresses, for ever: a repeated call returns the outcome of the first. A payout and the refund of the same
-- transaction can leave over one wallet: they differ in their kind only.
CREATE TABLE bitcoin_payments (
    platform_id uuid        NOT NULL REFERENCES platforms,
    connection  text        NOT NULL,
    id          uuid        NOT NULL, -- of the transaction, or of the receipt that is sent back
    address     text        NOT NULL,
    satoshis    bigint      NOT NULL CONSTRAINT bitcoin_payment_positive CHECK (satoshis > 0),
    created_at  timestamptz NOT NULL,
    batch       bigint,     -- NULL: not signed yet
    kind        text        NOT NULL CONSTRAINT bitcoin_payment_kind_known CHECK (kind IN ('PAYOUT', 'REFUND')),
    PRIMARY KEY (platform_id, connection, id, kind)
);
CREATE INDEX bitcoin_payments_unsigned ON bitcoin_payments (connection, id) WHERE batch IS NULL;
CREATE INDEX bitcoin_payments_by_batch ON bitcoin_payments (connection, batch) WHERE batch IS NOT NULL;
GRANT SELECT, INSERT, UPDATE ON bitcoin_payments TO causeway_service;
SELECT isolate_platforms('bitcoin_payments');

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
GRANT SELECT, INSERT, UPDATE ON bitcoin_batches TO causeway_service;

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
GRANT SELECT, INSERT, DELETE ON bitcoin_transactions TO causeway_service;

-- A coin belongs to one batch.
CREATE TABLE bitcoin_inputs (
    connection text   NOT NULL,
    outpoint   text   NOT NULL,
    batch      bigint NOT NULL,
    PRIMARY KEY (connection, outpoint)
);
CREATE INDEX bitcoin_inputs_by_batch ON bitcoin_inputs (connection, batch);
GRANT SELECT, INSERT, DELETE ON bitcoin_inputs TO causeway_service;

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
GRANT SELECT, INSERT, UPDATE ON bitcoin_deposits TO causeway_service;

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
GRANT SELECT, INSERT, DELETE ON bitcoin_events TO causeway_service;

-- What connections to Ethereum-like chains have read and signed. A connection may serve several platforms.

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
GRANT SELECT, INSERT, UPDATE ON evm_chains TO causeway_service;

-- The ends of the ranges of blocks that were read.
CREATE TABLE evm_blocks (
    connection text   NOT NULL,
    number     bigint NOT NULL,
    hash       bytea  NOT NULL,
    PRIMARY KEY (connection, number)
);
GRANT SELECT, INSERT, DELETE ON evm_blocks TO causeway_service;

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
GRANT SELECT, INSERT, DELETE ON evm_addresses TO causeway_service;
SELECT isolate_platforms('evm_addresses');

-- How far the references of each platform have addresses.
CREATE TABLE evm_reference_positions (
    connection  text    NOT NULL,
    platform_id uuid    NOT NULL,
    quotes      boolean NOT NULL,
    last        uuid    NOT NULL,
    PRIMARY KEY (connection, platform_id, quotes)
);
GRANT SELECT, INSERT, UPDATE ON evm_reference_positions TO causeway_service;
SELECT isolate_platforms('evm_reference_positions');

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
GRANT SELECT, INSERT, UPDATE, DELETE ON evm_deposits TO causeway_service;
SELECT isolate_platforms('evm_deposits');

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
GRANT SELECT, INSERT, UPDATE ON evm_holdings TO causeway_service;

-- What is to be reported, in the order of its numbers. It keeps what was reported lately.
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
    -- Of a transfer that brought another amount than was sent, in the smallest unit of its currency: what was sent, what has
    -- arrived, and what has left the sender. Zero in other events.
    sent        numeric     NOT NULL DEFAULT 0,
    arrived     numeric     NOT NULL DEFAULT 0,
    taken       numeric     NOT NULL DEFAULT 0,
    PRIMARY KEY (connection, number)
);
GRANT SELECT, INSERT, DELETE ON evm_events TO causeway_service;
SELECT isolate_platforms('evm_events');

-- The senders of a chain, and their next nonces.
CREATE TABLE evm_wallets (
    chain_id   numeric NOT NULL,
    address    bytea   NOT NULL,
    connection text    NOT NULL,
    next_nonce bigint  NOT NULL,
    PRIMARY KEY (chain_id, address)
);
GRANT SELECT, INSERT, UPDATE ON evm_wallets TO causeway_service;

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
GRANT SELECT, INSERT, UPDATE ON evm_transactions TO causeway_service;
SELECT isolate_platforms('evm_transactions');

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
GRANT SELECT, INSERT ON evm_attempts TO causeway_service;
