-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- Adjustments that are posted every month: versions of what is posted from a month on, and the postings of months.
CREATE TABLE ledger_recurring_adjustments (
    platform_id       uuid        NOT NULL,
    name              text        NOT NULL CONSTRAINT ledger_recurring_adjustment_name_length CHECK (length(name) BETWEEN 1 AND 40),
    version           integer     NOT NULL CONSTRAINT ledger_recurring_adjustment_version_positive CHECK (version > 0),
    entries           jsonb       NOT NULL,
    note              text        NOT NULL CONSTRAINT ledger_recurring_adjustment_note_length CHECK (length(note) BETWEEN 1 AND 400),
    first_month       date        NOT NULL,
    last_month        date,       -- NULL: until it is ended; before first_month: it is ended
    reverses          boolean     NOT NULL,
    changed_at        timestamptz NOT NULL,
    token_id          uuid,       -- NULL: an operator on the command line
    actor             text        NOT NULL,
    person_id         uuid,
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT ledger_recurring_adjustment_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, name, version),
    CONSTRAINT ledger_recurring_adjustment_has_author CHECK (token_id IS NOT NULL OR actor <> '')
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_recurring_adjustments
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_recurring_adjustments REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('recurring-adjustment', 'name', 'version');
GRANT SELECT, INSERT ON ledger_recurring_adjustments TO causeway_service;
SELECT isolate_platforms('ledger_recurring_adjustments');

-- The primary key lets a month be posted once.
CREATE TABLE ledger_recurring_runs (
    platform_id uuid        NOT NULL,
    name        text        NOT NULL,
    month       date        NOT NULL,
    version     integer     NOT NULL,
    posting_id  uuid        NOT NULL,
    reversal_id uuid,       -- NULL: it is not reversed
    posted_at   timestamptz NOT NULL,
    PRIMARY KEY (platform_id, name, month)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_recurring_runs
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_recurring_runs TO causeway_service;
SELECT isolate_platforms('ledger_recurring_runs');
