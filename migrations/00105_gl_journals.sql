-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Journals that were made for a general ledger, by span: a day such as '2026-10-31' or a month such as
-- '2026-10', from from_day to before to_day. A journal never changes; what is posted into its span later is in a
-- journal with the next revision.
CREATE TABLE gl_journals (
    platform_id     uuid        NOT NULL,
    number          text        NOT NULL,
    span            text        NOT NULL,
    from_day        date        NOT NULL,
    to_day          date        NOT NULL,
    currency        text        NOT NULL,
    revision        integer     NOT NULL CONSTRAINT gl_journal_revision_positive CHECK (revision > 0),
    mapping_version integer     NOT NULL,
    made_at         timestamptz NOT NULL,
    token_id        uuid, -- NULL: an operator on the command line
    actor           text        NOT NULL,
    PRIMARY KEY (platform_id, number),
    CONSTRAINT gl_journal_revision_unique UNIQUE (platform_id, from_day, to_day, currency, revision),
    CONSTRAINT gl_journal_days_in_order CHECK (from_day < to_day),
    CONSTRAINT gl_journal_has_author CHECK (token_id IS NOT NULL OR actor <> '')
);

-- One of debit and credit is zero. Amounts are in minor units, of any size.
CREATE TABLE gl_journal_lines (
    platform_id uuid     NOT NULL,
    number      text     NOT NULL,
    line        smallint NOT NULL,
    code        text     NOT NULL,
    name        text     NOT NULL,
    debit       numeric  NOT NULL,
    credit      numeric  NOT NULL,
    PRIMARY KEY (platform_id, number, line),
    CONSTRAINT gl_journal_line_journal_fkey FOREIGN KEY (platform_id, number) REFERENCES gl_journals (platform_id, number),
    CONSTRAINT gl_journal_line_one_side CHECK (least(debit, credit) = 0 AND greatest(debit, credit) > 0)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON gl_journals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON gl_journal_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON gl_journals, gl_journal_lines TO causeway_service;
SELECT isolate_platforms('gl_journals');
SELECT isolate_platforms('gl_journal_lines');
