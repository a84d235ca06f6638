-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The closings of financial years into retained earnings. A closing that was reversed is followed by one with
-- the next number if the year is closed again.
CREATE TABLE ledger_year_closings (
    platform_id uuid        NOT NULL,
    year        integer     NOT NULL CONSTRAINT ledger_year_closing_year_exists CHECK (year BETWEEN 2000 AND 9999),
    number      integer     NOT NULL CONSTRAINT ledger_year_closing_number_positive CHECK (number > 0),
    last_month  date        NOT NULL,
    closed_at   timestamptz NOT NULL,
    token_id    uuid, -- NULL: an operator on the command line
    actor       text        NOT NULL,
    note        text        NOT NULL CONSTRAINT ledger_year_closing_note_length CHECK (length(btrim(note)) BETWEEN 1 AND 500),
    posting_id  uuid, -- NULL: there was no income or expense
    seq         bigint      NOT NULL, -- number of the last posting before it
    PRIMARY KEY (platform_id, year, number),
    CONSTRAINT ledger_year_closing_has_author CHECK (token_id IS NOT NULL OR actor <> ''),
    CONSTRAINT ledger_year_closing_posting_fkey FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED
);

-- What was closed, by currency: income with the sign of credits, expense with that of debits.
CREATE TABLE ledger_year_results (
    platform_id uuid    NOT NULL,
    year        integer NOT NULL,
    number      integer NOT NULL,
    currency    text    NOT NULL,
    income      numeric NOT NULL,
    expense     numeric NOT NULL,
    PRIMARY KEY (platform_id, year, number, currency),
    CONSTRAINT ledger_year_result_closing_fkey FOREIGN KEY (platform_id, year, number) REFERENCES ledger_year_closings
);

CREATE TABLE ledger_year_reversals (
    platform_id  uuid        NOT NULL,
    year         integer     NOT NULL,
    number       integer     NOT NULL,
    reversed_at  timestamptz NOT NULL,
    token_id     uuid, -- NULL: an operator on the command line
    actor        text        NOT NULL,
    note         text        NOT NULL CONSTRAINT ledger_year_reversal_note_length CHECK (length(btrim(note)) BETWEEN 1 AND 500),
    posting_id   uuid, -- NULL: the closing has none
    effective_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, year, number),
    CONSTRAINT ledger_year_reversal_has_author CHECK (token_id IS NOT NULL OR actor <> ''),
    CONSTRAINT ledger_year_reversal_closing_fkey FOREIGN KEY (platform_id, year, number) REFERENCES ledger_year_closings,
    CONSTRAINT ledger_year_reversal_posting_fkey FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_year_closings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_year_results FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_year_reversals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_year_closings, ledger_year_results, ledger_year_reversals TO causeway_service;
SELECT isolate_platforms('ledger_year_closings');
SELECT isolate_platforms('ledger_year_results');
SELECT isolate_platforms('ledger_year_reversals');
