-- +goose Up
-- Which connection each payment takes, and what waits for money or for an operator.
SET LOCAL lock_timeout = '1s';

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

CREATE TABLE rail_payments (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL, -- of the transaction or receipt
    kind        text        NOT NULL CONSTRAINT rail_payment_kind_known CHECK (kind IN ('PAYOUT', 'COLLECTION', 'REFUND', 'SEND_BACK')),
    rail        text        NOT NULL,
    country     text        NOT NULL,
    connection  text        NOT NULL, -- empty: none serves it
    currency    text        NOT NULL,
    amount      bigint      NOT NULL CONSTRAINT rail_payment_amount_positive CHECK (amount > 0),
    state       text        NOT NULL CONSTRAINT rail_payment_state_known CHECK (state IN ('REVIEW', 'QUEUED', 'SENT', 'DONE', 'REFUSED', 'RETURNED', 'CANCELLED')),
    wait        text        NOT NULL,
    reason      text        NOT NULL,
    reviewed    boolean     NOT NULL DEFAULT false,
    forced      boolean     NOT NULL DEFAULT false,
    partner_id  text        NOT NULL DEFAULT '',
    recorded_at timestamptz NOT NULL,
    sent_at     timestamptz,
    settled_at  timestamptz,
    returned_at timestamptz,
    PRIMARY KEY (platform_id, id, kind),
    CONSTRAINT rail_payment_sent_over_connection CHECK (sent_at IS NULL OR connection <> ''),
    CONSTRAINT rail_payment_waits_for_something CHECK ((state IN ('REVIEW', 'QUEUED')) = (wait <> ''))
);
-- The queue of each account, in its order, and what waits for a review.
CREATE INDEX rail_payments_queue ON rail_payments (connection, currency, recorded_at, id) WHERE state = 'QUEUED';
CREATE INDEX rail_payments_review ON rail_payments (recorded_at, id) WHERE state = 'REVIEW';
-- What moved since a balance.
CREATE INDEX rail_payments_settled ON rail_payments (connection, currency, settled_at) INCLUDE (kind, amount, state) WHERE settled_at IS NOT NULL;
CREATE INDEX rail_payments_returned ON rail_payments (connection, currency, returned_at) INCLUDE (kind, amount) WHERE returned_at IS NOT NULL;
-- What retention deletes.
CREATE INDEX rail_payments_ended ON rail_payments (settled_at) WHERE settled_at IS NOT NULL;
-- What was handed over and is not settled, for the daily proof.
CREATE INDEX rail_payments_in_flight ON rail_payments (connection, currency, sent_at) WHERE state = 'SENT';

-- What operators decided about payments that wait. They are records for ever.
CREATE TABLE rail_decisions (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    payment_id  uuid        NOT NULL,
    kind        text        NOT NULL,
    decision    text        NOT NULL CONSTRAINT rail_decision_known CHECK (decision IN ('RELEASE', 'CANCEL')),
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

GRANT SELECT, INSERT ON rail_accounts, rail_usage, rail_payments, rail_decisions, rail_opening_balances TO causeway_service;
GRANT UPDATE ON rail_accounts TO causeway_service;
GRANT UPDATE (amount), DELETE ON rail_usage TO causeway_service;
GRANT UPDATE (connection, state, wait, reason, reviewed, forced, partner_id, sent_at, settled_at, returned_at), DELETE ON rail_payments TO causeway_service;

SELECT isolate_platforms('rail_payments');
SELECT isolate_platforms('rail_decisions');
