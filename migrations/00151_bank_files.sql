-- +goose Up
-- Payment orders for banks that take files, the files for the banks, and the files of the banks. A connection serves several
-- platforms, and a file has orders of all of them, so that files belong to the service and what finds orders for them
-- begins with the connection.
SET LOCAL lock_timeout = '1s';

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

-- What operators have to look at in files of banks.
CREATE TABLE bank_notices (
    connection text        NOT NULL REFERENCES bank_connections,
    file       bigint      NOT NULL, -- of the bank
    place      text        NOT NULL,
    kind       text        NOT NULL CONSTRAINT bank_notice_kind_known
        CHECK (kind IN ('UNKNOWN_PAYMENT', 'CONTRADICTION', 'DUPLICATE_FILE', 'UNREADABLE_FILE', 'OTHER_ACCOUNT', 'OTHER_CURRENCY', 'CORRECTION')),
    name       text        NOT NULL, -- the end-to-end id, message or file
    code       text        NOT NULL,
    noticed_at timestamptz NOT NULL,
    PRIMARY KEY (connection, file, place, kind)
);
CREATE INDEX bank_notices_by_time ON bank_notices (noticed_at);
CREATE INDEX bank_notices_newest ON bank_notices (connection, noticed_at);

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

GRANT SELECT, INSERT, UPDATE ON bank_connections TO causeway_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON bank_files, bank_orders, bank_received_files, bank_notices, bank_corrections TO causeway_service;
SELECT isolate_platforms('bank_orders');
SELECT isolate_platforms('bank_corrections');
