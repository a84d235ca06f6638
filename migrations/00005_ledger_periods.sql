-- +goose Up

-- Accounting periods are months. A month is soft-closed, then closed; after that nothing
-- is posted into it and its trial balance is stored. Which months of a platform are
-- closed is in ledger_clocks.

-- Who changed which month, and why. token_id is NULL if the operator did it on the
-- command line.
CREATE TABLE ledger_period_changes (
    platform_id uuid        NOT NULL,
    id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    month       date        NOT NULL CONSTRAINT ledger_period_change_month_is_first_day CHECK (extract(day FROM month) = 1),
    action      text        NOT NULL CONSTRAINT ledger_period_action_known CHECK (action IN ('soft-close', 'reopen', 'close')),
    changed_at  timestamptz NOT NULL,
    token_id    uuid,
    note        text        NOT NULL CONSTRAINT ledger_period_change_note_length CHECK (length(note) <= 500),
    PRIMARY KEY (platform_id, id)
);

-- The state of the ledger when a month was closed.
CREATE TABLE ledger_closings (
    platform_id    uuid        NOT NULL,
    month          date        NOT NULL CONSTRAINT ledger_closing_month_is_first_day CHECK (extract(day FROM month) = 1),
    closed_at      timestamptz NOT NULL,
    token_id       uuid,
    note           text        NOT NULL CONSTRAINT ledger_closing_note_length CHECK (length(note) <= 500),
    -- The platform's last posting at that time, and its digest; 0 and NULL in an empty ledger.
    seq            bigint      NOT NULL,
    digest         bytea       CONSTRAINT ledger_closing_digest_is_sha256 CHECK (length(digest) = 32),
    -- No posting before this number is effective after the month: where the totals of the
    -- next month begin.
    next_month_seq bigint      NOT NULL,
    -- The newest signed checkpoint of the log at that time, if there was one.
    log_checkpoint text,
    PRIMARY KEY (platform_id, month),
    CONSTRAINT ledger_closing_digest_of_last_posting CHECK ((seq = 0) = (digest IS NULL))
);

-- The trial balance of a closed month: one line for each account with an entry that is
-- effective in it or before. Opening and closing balance have the sign of the account's class.
CREATE TABLE ledger_closing_lines (
    platform_id uuid    NOT NULL,
    month       date    NOT NULL,
    account_id  bigint  NOT NULL,
    opening     numeric NOT NULL,
    debits      numeric NOT NULL,
    credits     numeric NOT NULL,
    closing     numeric NOT NULL,
    PRIMARY KEY (platform_id, month, account_id),
    CONSTRAINT ledger_closing_line_account_fkey FOREIGN KEY (platform_id, account_id) REFERENCES ledger_accounts (platform_id, id)
);

-- Who authorised a manual posting. It may be effective in a soft-closed month. Inserted
-- before the posting, in the same transaction.
CREATE TABLE ledger_authorisations (
    platform_id   uuid        NOT NULL,
    posting_id    uuid        NOT NULL,
    token_id      uuid        NOT NULL,
    note          text        NOT NULL CONSTRAINT ledger_authorisation_note_length CHECK (length(btrim(note)) BETWEEN 1 AND 500),
    authorised_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, posting_id),
    CONSTRAINT ledger_authorisation_posting_fkey FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_period_changes FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_closings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_closing_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_authorisations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

-- A closed month is not reopened, and is closed together with its trial balance. The
-- trigger names its columns: postings change neither and do not pay for it.
-- +goose StatementBegin
CREATE FUNCTION ledger_check_period_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.closed_before > NEW.soft_closed_before OR EXISTS (
        SELECT FROM ledger_closings c WHERE c.platform_id = NEW.platform_id AND c.month >= (NEW.closed_before AT TIME ZONE 'UTC')::date
    ) THEN
        RAISE EXCEPTION 'a closed month cannot be reopened'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_clock_closed_month_not_reopened', TABLE = 'ledger_clocks';
    END IF;
    IF OLD.closed_before > '-infinity' AND NEW.closed_before > OLD.closed_before AND NOT EXISTS (
        SELECT FROM ledger_closings c WHERE c.platform_id = NEW.platform_id
            AND c.month = ((NEW.closed_before AT TIME ZONE 'UTC') - interval '1 month')::date
    ) THEN
        RAISE EXCEPTION 'a month cannot be closed without its trial balance'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_clock_closed_month_has_closing', TABLE = 'ledger_clocks';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_clock_check_period_change BEFORE UPDATE OF closed_before, soft_closed_before ON ledger_clocks
    FOR EACH ROW EXECUTE FUNCTION ledger_check_period_change();

GRANT SELECT, INSERT ON ledger_period_changes, ledger_closings, ledger_closing_lines, ledger_authorisations TO causeway_service;
