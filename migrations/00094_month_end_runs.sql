-- +goose Up
-- Runs that post at the end of a month, and their results. All are records of the books: rows are added and never
-- changed.
SET LOCAL lock_timeout = '1s';

CREATE TABLE ledger_month_end_runs (
    platform_id    uuid        NOT NULL REFERENCES platforms,
    kind           text        NOT NULL, -- of the postings
    month          date        NOT NULL CONSTRAINT ledger_month_end_run_month_is_first_day CHECK (extract(day FROM month) = 1),
    run            int         NOT NULL CONSTRAINT ledger_month_end_run_counts_from_one CHECK (run > 0),
    ran_at         timestamptz NOT NULL,
    token_id       uuid,                 -- NULL for an operator
    actor          text        NOT NULL,
    last_seq       bigint      NOT NULL, -- the last posting that was read
    previous_month date,                 -- of the run that it continues
    previous_run   int,
    posting_ids    uuid[]      NOT NULL, -- the postings in force
    PRIMARY KEY (platform_id, kind, month, run),
    CONSTRAINT ledger_month_end_run_continues_earlier CHECK (previous_month < month),
    CONSTRAINT ledger_month_end_run_continues_whole CHECK ((previous_month IS NULL) = (previous_run IS NULL))
);

-- The exchange result of a run. Amounts are in the smallest unit of the functional currency.
CREATE TABLE ledger_exchange_results (
    platform_id           uuid        NOT NULL REFERENCES platforms,
    month                 date        NOT NULL,
    run                   int         NOT NULL,
    functional_currency   text        NOT NULL,
    keep_unrealised       boolean     NOT NULL,
    covers_from           timestamptz NOT NULL,
    rates_kept_at         timestamptz NOT NULL,
    opening_rates_kept_at timestamptz NOT NULL,
    opening_result        bigint      NOT NULL,
    cash                  bigint      NOT NULL, -- position in the functional currency
    opening_value         bigint      NOT NULL,
    closing_value         bigint      NOT NULL,
    rate_changes          bigint      NOT NULL,
    PRIMARY KEY (platform_id, month, run)
);

-- The position in each foreign currency at the end of the month.
CREATE TABLE ledger_exchange_positions (
    platform_id uuid        NOT NULL REFERENCES platforms,
    month       date        NOT NULL,
    run         int         NOT NULL,
    currency    text        NOT NULL,
    quantity    bigint      NOT NULL,
    cost        bigint      NOT NULL,
    rate        text        NOT NULL, -- empty for a quantity of zero
    rate_at     timestamptz,
    rate_source text        NOT NULL,
    value       bigint      NOT NULL,
    unrealised  bigint      NOT NULL,
    carried     bigint      NOT NULL, -- the part of it that an earlier month has posted
    PRIMARY KEY (platform_id, month, run, currency)
);

-- The realised result by origin and currency, and by origin what postings changed of the value of the position
-- (currency '').
CREATE TABLE ledger_exchange_origins (
    platform_id uuid   NOT NULL REFERENCES platforms,
    month       date   NOT NULL,
    run         int    NOT NULL,
    origin      text   NOT NULL,
    currency    text   NOT NULL,
    amount      bigint NOT NULL,
    trades      bigint NOT NULL,
    PRIMARY KEY (platform_id, month, run, origin, currency)
);

-- The payments in transit at the end of the month, with what is in transit and the fees that are deferred.
CREATE TABLE ledger_payments_in_transit (
    platform_id    uuid   NOT NULL REFERENCES platforms,
    month          date   NOT NULL,
    run            int    NOT NULL,
    transaction_id uuid   NOT NULL,
    currency       text   NOT NULL,
    amount         bigint NOT NULL,
    fee            bigint NOT NULL,
    PRIMARY KEY (platform_id, month, run, transaction_id, currency)
);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_month_end_runs FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_exchange_results FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_exchange_positions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_exchange_origins FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_payments_in_transit FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_month_end_runs, ledger_exchange_results, ledger_exchange_positions, ledger_exchange_origins, ledger_payments_in_transit TO causeway_service;
SELECT isolate_platforms('ledger_month_end_runs');
SELECT isolate_platforms('ledger_exchange_results');
SELECT isolate_platforms('ledger_exchange_positions');
SELECT isolate_platforms('ledger_exchange_origins');
SELECT isolate_platforms('ledger_payments_in_transit');
