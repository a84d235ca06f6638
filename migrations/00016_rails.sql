-- +goose Up

-- Connections to partners and chains: their settings, what they report, and what is paid over them.

-- Connections to partners as operators have set them. Every version stays. A version can retire a connection, which then
-- takes no new payments, or delete it; a later version with settings opens it again. Secrets are not in the settings, only
-- references to files and variables of the environment.
CREATE TABLE rail_connections (
    name     text        NOT NULL CONSTRAINT rail_connection_name_valid CHECK (name ~ '^[a-z][a-z0-9-]{0,39}$'),
    version  integer     NOT NULL CONSTRAINT rail_connection_version_positive CHECK (version > 0),
    settings jsonb       NOT NULL,
    set_by   text        NOT NULL CONSTRAINT rail_connection_set_by_length CHECK (length(set_by) BETWEEN 1 AND 200),
    note     text        NOT NULL CONSTRAINT rail_connection_note_length CHECK (length(note) BETWEEN 1 AND 500),
    set_at   timestamptz NOT NULL,
    state    text        NOT NULL DEFAULT 'OPEN' CONSTRAINT rail_connection_state_known CHECK (state IN ('OPEN', 'RETIRED', 'DELETED')),
    PRIMARY KEY (name, version)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rail_connections FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
-- Only the owner of the database, as whom the commands of operators work, writes it.
GRANT SELECT ON rail_connections TO causeway_service;

-- Tests of versions of connections. Payments take a version only after a test of it has passed.
CREATE TABLE rail_tests (
    connection text        NOT NULL,
    version    integer     NOT NULL,
    id         bigint      GENERATED ALWAYS AS IDENTITY,
    passed     boolean     NOT NULL,
    checked    text[]      NOT NULL,
    problem    text        NOT NULL CONSTRAINT rail_test_problem_length CHECK (length(problem) <= 2000),
    tested_at  timestamptz NOT NULL,
    PRIMARY KEY (connection, version, id),
    CONSTRAINT rail_tests_version_fkey FOREIGN KEY (connection, version) REFERENCES rail_connections (name, version)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rail_tests FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
-- Only the owner of the database, as whom the commands of operators work, writes it.
GRANT SELECT ON rail_tests TO causeway_service;

-- A name is that of a connection, or in capital letters that of a rail. The latest row of a name is in force.
CREATE TABLE rail_controls (
    id     bigint      GENERATED ALWAYS AS IDENTITY,
    name   text        NOT NULL CONSTRAINT rail_control_name_valid CHECK (name ~ '^([a-z][a-z0-9-]{0,39}|[A-Z][A-Z0-9_]{0,39})$'),
    paused boolean     NOT NULL,
    set_by text        NOT NULL CONSTRAINT rail_control_set_by_length CHECK (length(set_by) BETWEEN 1 AND 200),
    note   text        NOT NULL CONSTRAINT rail_control_note_length CHECK (length(note) BETWEEN 1 AND 500),
    set_at timestamptz NOT NULL,
    PRIMARY KEY (name, id)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rail_controls FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
-- Only the owner of the database, as whom the commands of operators work, writes it.
GRANT SELECT ON rail_controls TO causeway_service;

-- How far each connection was read of what its partner or chain reports, and what of it could not be passed on yet.

-- A process reads a feed while it holds its lease. The fence is the number of the lease: who lost it changes nothing.
CREATE TABLE rail_feeds (
    connection   text        PRIMARY KEY CONSTRAINT rail_feed_connection_length CHECK (length(connection) BETWEEN 1 AND 100),
    cursor       text        NOT NULL DEFAULT '',
    fence        bigint      NOT NULL CONSTRAINT rail_feed_fence_positive CHECK (fence > 0),
    holder       uuid        NOT NULL,
    leased_until timestamptz NOT NULL,
    failures     integer     NOT NULL DEFAULT 0, -- since the last success
    last_error   text        NOT NULL DEFAULT '' CONSTRAINT rail_feed_error_length CHECK (length(last_error) <= 2000),
    failed_at    timestamptz,
    retry_at     timestamptz,
    succeeded_at timestamptz
);
GRANT SELECT, INSERT, UPDATE, DELETE ON rail_feeds TO causeway_service;

-- What a partner reported and the service could not take or understand, kept until it can or an operator discards it. The
-- content has personal data, and is encrypted. The platform is zero if it is not known. The program knows the kinds, of
-- which each version may add some.
CREATE TABLE rail_feed_items (
    platform_id  uuid        NOT NULL,
    id           uuid        NOT NULL,
    connection   text        NOT NULL,
    kind         text        NOT NULL CONSTRAINT rail_feed_item_kind_form CHECK (kind ~ '^[A-Z_]{1,40}$'),
    -- key is the same for the same item, however often it is reported.
    key          text        NOT NULL CONSTRAINT rail_feed_item_key_length CHECK (length(key) BETWEEN 1 AND 600),
    content      text        NOT NULL,
    problem      text        NOT NULL CONSTRAINT rail_feed_item_problem_length CHECK (length(problem) <= 2000),
    attempts     integer     NOT NULL DEFAULT 1,
    kept_at      timestamptz NOT NULL,
    retry_at     timestamptz NOT NULL,
    discarded_at timestamptz,
    discarded_by text        NOT NULL DEFAULT '',
    note         text        NOT NULL DEFAULT '' CONSTRAINT rail_feed_item_note_length CHECK (length(note) <= 500),
    place        text        NOT NULL DEFAULT '' CONSTRAINT rail_feed_item_place_length CHECK (length(place) <= 500), -- an event of a list, a file of a folder
    PRIMARY KEY (platform_id, id)
);
CREATE UNIQUE INDEX rail_feed_items_once ON rail_feed_items (connection, kind, key);
CREATE INDEX rail_feed_items_open ON rail_feed_items (connection, retry_at) WHERE discarded_at IS NULL;
CREATE INDEX rail_feed_items_discarded ON rail_feed_items (discarded_at) WHERE discarded_at IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON rail_feed_items TO causeway_service;
SELECT isolate_platforms('rail_feed_items');

-- What partners report by themselves over HTTP, once for a connection and the partner's id of the event, until it is
-- read. The account of a partner can serve several platforms, so the rows belong to none: platform_id is zero, and is
-- there because encrypted values are bound to it. Rows are deleted after some months, in
-- adapters/postgres/partner_events.go.
CREATE TABLE partner_events (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL, -- derived from connection and event_id
    connection  text        NOT NULL,
    number      bigint      NOT NULL,
    event_id    text        NOT NULL,
    body        text        NOT NULL, -- encrypted
    received_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT partner_event_of_no_platform CHECK (platform_id = '00000000-0000-0000-0000-000000000000'),
    CONSTRAINT partner_event_once UNIQUE (connection, event_id),
    CONSTRAINT partner_event_number_once UNIQUE (connection, number)
);
CREATE INDEX partner_events_by_received_at ON partner_events (received_at);
GRANT SELECT, INSERT, UPDATE (body), DELETE ON partner_events TO causeway_service;
SELECT isolate_platforms('partner_events');

-- The last number of each connection. Its row is locked while events are saved, so that numbers become visible in
-- their order.
CREATE TABLE partner_event_numbers (
    connection text   NOT NULL PRIMARY KEY,
    last       bigint NOT NULL
);
GRANT SELECT, INSERT, UPDATE ON partner_event_numbers TO causeway_service;

-- What the partners and chains of connections hold, as they say it, and their statements until they are reconciled.

-- The last balance of each day (UTC); the last of all is the present one.
CREATE TABLE rail_balances (
    connection text        NOT NULL,
    currency   text        NOT NULL,
    day        date        NOT NULL,
    amount     bigint      NOT NULL,
    at         timestamptz NOT NULL,
    PRIMARY KEY (connection, currency, day)
);
CREATE INDEX rail_balances_by_day ON rail_balances (day);
GRANT SELECT, INSERT, UPDATE, DELETE ON rail_balances TO causeway_service;

-- Balances that operators have set for connections whose partner reports none. They are records for ever.
CREATE TABLE rail_opening_balances (
    connection text        NOT NULL,
    currency   text        NOT NULL,
    at         timestamptz NOT NULL,
    amount     bigint      NOT NULL,
    set_by     text        NOT NULL CONSTRAINT rail_opening_balance_set_by_length CHECK (length(set_by) BETWEEN 1 AND 200),
    note       text        NOT NULL CONSTRAINT rail_opening_balance_note_length CHECK (length(note) BETWEEN 1 AND 500),
    PRIMARY KEY (connection, currency, at)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rail_opening_balances FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON rail_opening_balances TO causeway_service;

-- The content of a statement is deleted when it is reconciled.
CREATE TABLE rail_statements (
    platform_id   uuid        NOT NULL,
    id            uuid        NOT NULL,
    connection    text        NOT NULL,
    name          text        NOT NULL CONSTRAINT rail_statement_name_length CHECK (length(name) <= 300),
    format        text        NOT NULL CONSTRAINT rail_statement_format_length CHECK (length(format) BETWEEN 1 AND 40),
    account       text        NOT NULL, -- the ledger account, or empty: then as accounts or an earlier statement say
    currency      text        NOT NULL,
    accounts      text        NOT NULL,
    digest        bytea       NOT NULL,
    content       bytea       NOT NULL,
    received_at   timestamptz NOT NULL,
    attempts      integer     NOT NULL DEFAULT 0,
    retry_at      timestamptz NOT NULL,
    problem       text        NOT NULL DEFAULT '' CONSTRAINT rail_statement_problem_length CHECK (length(problem) <= 2000),
    reconciled_at timestamptz,
    -- Who has ended a statement that will never be reconciled, and why. It has the time in reconciled_at.
    discarded_by  text        NOT NULL DEFAULT '',
    note          text        NOT NULL DEFAULT '' CONSTRAINT rail_statement_note_length CHECK (length(note) <= 500),
    balances      jsonb       NOT NULL DEFAULT '[]', -- its closing balances, which are those of the connection once it is reconciled
    PRIMARY KEY (platform_id, id)
);
CREATE UNIQUE INDEX rail_statements_once ON rail_statements (platform_id, connection, digest);
CREATE INDEX rail_statements_open ON rail_statements (retry_at) WHERE reconciled_at IS NULL;
CREATE INDEX rail_statements_reconciled ON rail_statements (reconciled_at) WHERE reconciled_at IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON rail_statements TO causeway_service;
SELECT isolate_platforms('rail_statements');

-- The daily comparisons of the ledger with what partners and chains say that they hold; the last of each day stays. Amounts
-- are of several platforms, and can be larger than a bigint.
CREATE TABLE rail_proofs (
    day         date        NOT NULL,
    currency    text        NOT NULL,
    connections text[]      NOT NULL CONSTRAINT rail_proof_has_connections CHECK (cardinality(connections) > 0),
    from_at     timestamptz,
    to_at       timestamptz,
    partners    numeric     NOT NULL,
    ledger_from numeric     NOT NULL,
    ledger_to   numeric     NOT NULL,
    flight_out  numeric     NOT NULL,
    flight_in   numeric     NOT NULL,
    state       text        NOT NULL CONSTRAINT rail_proof_state_known CHECK (state IN ('PROVED', 'DIFFERENT', 'NO_BALANCE')),
    difference  numeric     NOT NULL,
    suspects    text[]      NOT NULL,
    problem     text        NOT NULL,
    proved_at   timestamptz NOT NULL,
    PRIMARY KEY (day, currency, connections),
    CONSTRAINT rail_proof_difference_of_state CHECK ((difference <> 0) = (state = 'DIFFERENT'))
);
GRANT SELECT, INSERT, UPDATE, DELETE ON rail_proofs TO causeway_service;

-- Counters of what a connection holds in one currency. A process that hands over payments locks the row.
CREATE TABLE rail_accounts (
    connection text        NOT NULL,
    currency   text        NOT NULL,
    -- The time of the balance since which moved counts.
    balance_at timestamptz,
    in_flight  bigint      NOT NULL DEFAULT 0 CONSTRAINT rail_account_in_flight_not_negative CHECK (in_flight >= 0),
    moved      bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (connection, currency)
);
GRANT SELECT, INSERT, UPDATE ON rail_accounts TO causeway_service;

-- What was paid out in each hour (UTC), for limits.
CREATE TABLE rail_usage (
    connection text        NOT NULL,
    currency   text        NOT NULL,
    hour       timestamptz NOT NULL,
    rail       text        NOT NULL,
    amount     bigint      NOT NULL CONSTRAINT rail_usage_not_negative CHECK (amount >= 0),
    PRIMARY KEY (connection, currency, hour, rail)
);
CREATE INDEX rail_usage_by_hour ON rail_usage (hour);
GRANT SELECT, INSERT, UPDATE (amount), DELETE ON rail_usage TO causeway_service;

-- Which connection each payment takes, and what waits for money or for an operator.
CREATE TABLE rail_payments (
    platform_id    uuid        NOT NULL,
    id             uuid        NOT NULL, -- of the transaction or receipt
    kind           text        NOT NULL CONSTRAINT rail_payment_kind_known CHECK (kind IN ('PAYOUT', 'COLLECTION', 'REFUND', 'SEND_BACK')),
    rail           text        NOT NULL,
    country        text        NOT NULL,
    connection     text        NOT NULL, -- empty: none serves it
    currency       text        NOT NULL,
    amount         bigint      NOT NULL CONSTRAINT rail_payment_amount_positive CHECK (amount > 0),
    state          text        NOT NULL CONSTRAINT rail_payment_state_known
        CHECK (state IN ('REVIEW', 'QUEUED', 'HANDED_OVER', 'SENT', 'DONE', 'REFUSED', 'RETURNED', 'CANCELLED')),
    wait           text        NOT NULL,
    reason         text        NOT NULL,
    reviewed       boolean     NOT NULL DEFAULT false,
    forced         boolean     NOT NULL DEFAULT false,
    partner_id     text        NOT NULL DEFAULT '',
    recorded_at    timestamptz NOT NULL,
    sent_at        timestamptz,
    settled_at     timestamptz,
    returned_at    timestamptz,
    handed_over_at timestamptz, -- an adapter has it, and it can be stopped until it leaves
    -- It has left, and an adapter was to send it again: that the partner did not take one of the two says nothing about the
    -- other, so it cannot be stopped.
    sent_again     boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (platform_id, id, kind),
    CONSTRAINT rail_payment_sent_over_connection CHECK (sent_at IS NULL OR connection <> ''),
    CONSTRAINT rail_payment_waits_for_something CHECK ((state IN ('REVIEW', 'QUEUED')) = (wait <> '')),
    CONSTRAINT rail_payment_handed_over_to_connection CHECK (handed_over_at IS NULL OR connection <> '')
);
-- What waits for a review.
CREATE INDEX rail_payments_review ON rail_payments (recorded_at, id) WHERE state = 'REVIEW';
-- What moved since a balance.
CREATE INDEX rail_payments_settled ON rail_payments (connection, currency, settled_at) INCLUDE (kind, amount, state) WHERE settled_at IS NOT NULL;
CREATE INDEX rail_payments_returned ON rail_payments (connection, currency, returned_at) INCLUDE (kind, amount) WHERE returned_at IS NOT NULL;
-- What retention deletes.
CREATE INDEX rail_payments_ended ON rail_payments (settled_at) WHERE settled_at IS NOT NULL;
-- What was handed over and is not settled, for the daily proof.
CREATE INDEX rail_payments_in_flight ON rail_payments (connection, currency, sent_at) WHERE state = 'SENT';
-- The queue of an account in its order: those first that an operator sends without regard to it.
CREATE INDEX rail_payments_queued ON rail_payments (connection, currency, forced DESC, recorded_at, id) WHERE state = 'QUEUED';
-- What adapters have and has not left, for operators.
CREATE INDEX rail_payments_handed_over ON rail_payments (connection, currency, handed_over_at) WHERE state = 'HANDED_OVER';
GRANT SELECT, INSERT, UPDATE (connection, state, wait, reason, reviewed, forced, partner_id, sent_at, settled_at, returned_at, handed_over_at, sent_again), DELETE ON rail_payments TO causeway_service;
SELECT isolate_platforms('rail_payments');

-- What operators decided about payments that wait or have not left, and about those that never did. They are records for
-- ever.
CREATE TABLE rail_decisions (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    payment_id  uuid        NOT NULL,
    kind        text        NOT NULL,
    decision    text        NOT NULL CONSTRAINT rail_decision_known
        CHECK (decision IN ('RELEASE', 'CANCEL', 'WITHDRAW', 'MOVE', 'REPORT_NOT_SENT', 'CONFIRM_NOT_SENT')),
    state       text        NOT NULL, -- before, as wait and reason
    wait        text        NOT NULL,
    reason      text        NOT NULL,
    actor       text        NOT NULL CONSTRAINT rail_decision_actor_length CHECK (length(actor) BETWEEN 1 AND 200),
    note        text        NOT NULL CONSTRAINT rail_decision_note_length CHECK (length(note) BETWEEN 1 AND 500),
    decided_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
CREATE INDEX rail_decisions_by_payment ON rail_decisions (platform_id, payment_id);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rail_decisions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON rail_decisions TO causeway_service;
SELECT isolate_platforms('rail_decisions');

-- Over which connection money was received, so that what it holds is known between two balances, and a refund goes back the
-- same way.
CREATE TABLE rail_receipts (
    platform_id uuid        NOT NULL,
    rail        text        NOT NULL,
    partner_id  text        NOT NULL,
    connection  text        NOT NULL,
    currency    text        NOT NULL,
    amount      bigint      NOT NULL CONSTRAINT rail_receipt_not_negative CHECK (amount >= 0),
    received_at timestamptz NOT NULL,
    reversed_at timestamptz,
    PRIMARY KEY (platform_id, rail, partner_id)
);
-- What moved since a balance.
CREATE INDEX rail_receipts_received ON rail_receipts (connection, currency, received_at) INCLUDE (amount);
CREATE INDEX rail_receipts_reversed ON rail_receipts (connection, currency, reversed_at) INCLUDE (amount) WHERE reversed_at IS NOT NULL;
-- What retention deletes.
CREATE INDEX rail_receipts_by_time ON rail_receipts (received_at);
GRANT SELECT, INSERT, UPDATE (reversed_at), DELETE ON rail_receipts TO causeway_service;
SELECT isolate_platforms('rail_receipts');
