-- +goose Up

-- Partners' statements, compared with the ledger. All rows are only ever inserted: a
-- decision about a break is a row of its own, with author and time.

-- One import of one file. Inserted last, when the comparison is done.
CREATE TABLE reconciliations (
    platform_id             uuid        NOT NULL,
    id                      uuid        NOT NULL,
    account                 text        NOT NULL, -- path of a ledger account
    currency                text        NOT NULL,
    format                  text        NOT NULL,
    digest                  bytea       NOT NULL CONSTRAINT reconciliation_digest_is_sha256 CHECK (length(digest) = 32),
    statement_ids           text        NOT NULL, -- the partner's ids of the statements, one per line
    partner_account         text        NOT NULL,
    first_day               date        NOT NULL,
    last_day                date        NOT NULL,
    opening                 bigint,
    closing                 bigint,
    line_count              int         NOT NULL,
    known_line_count        int         NOT NULL, -- already imported by an earlier reconciliation
    ignored_line_count      int         NOT NULL,
    -- Results of this comparison: matches by rule, breaks by reason (JSON).
    matches                 text        NOT NULL,
    breaks                  text        NOT NULL,
    matched_line_count      int         NOT NULL,
    matched_entry_count     int         NOT NULL,
    earlier_breaks_resolved int         NOT NULL, -- breaks of earlier reconciliations resolved by this one
    created_by              text        NOT NULL,
    created_at              timestamptz NOT NULL,
    -- What of the statement does not fit its balances or the statement before it, one sentence per line, and why a person
    -- had it imported nevertheless.
    mismatches              text        NOT NULL DEFAULT '',
    override_note           text        NOT NULL DEFAULT '',
    -- How the partner's closing balance compared with the ledger at the import, in minor units; NULL if the statement has
    -- no closing balance.
    ledger_balance          bigint,     -- at the end of the last day, by effective time
    open_breaks_amount      bigint,     -- what explains the difference: open breaks,
    other_day_amount        bigint,     -- what is matched with something after the last day,
    resolved_amount         bigint,     -- and breaks resolved without a posting until then
    PRIMARY KEY (platform_id, id),
    CONSTRAINT reconciliation_days_in_order CHECK (first_day <= last_day)
);
CREATE UNIQUE INDEX reconciliation_file_unique ON reconciliations (platform_id, account, currency, digest);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON reconciliations REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('reconciliation', 'id');
-- Which lines were matched with which entries is another fact. Matches are written with their reconciliation, and never later.
CREATE TRIGGER ledger_evidence_matches AFTER INSERT ON reconciliations REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('reconciliation-matches', 'id');
GRANT SELECT, INSERT ON reconciliations TO causeway_service;
SELECT isolate_platforms('reconciliations');

CREATE TABLE reconciliation_lines (
    platform_id        uuid    NOT NULL,
    id                 uuid    NOT NULL,
    reconciliation_id  uuid    NOT NULL, -- the first that contained the line
    account            text    NOT NULL,
    currency           text    NOT NULL,
    fingerprint        bytea   NOT NULL CONSTRAINT reconciliation_line_fingerprint_is_sha256 CHECK (length(fingerprint) = 32),
    ordinal            int     NOT NULL,
    booking_date       date    NOT NULL,
    value_date         date    NOT NULL,
    -- Positive if the partner owes us more.
    amount             bigint  NOT NULL CONSTRAINT reconciliation_line_amount_not_zero CHECK (amount <> 0),
    servicer_reference text    NOT NULL,
    reference_list     text    NOT NULL, -- one per line
    description        text    NOT NULL,
    returned           boolean NOT NULL,
    PRIMARY KEY (platform_id, id)
);
CREATE UNIQUE INDEX reconciliation_line_unique ON reconciliation_lines (platform_id, account, currency, fingerprint);
CREATE INDEX reconciliation_lines_by_reconciliation ON reconciliation_lines (platform_id, reconciliation_id, id) WHERE reconciliation_id IS NOT NULL;
CREATE INDEX reconciliation_lines_by_value_date ON reconciliation_lines (platform_id, account, currency, value_date) WHERE value_date IS NOT NULL;
CREATE TRIGGER append_only
    BEFORE UPDATE OF platform_id, id, reconciliation_id, account, currency, fingerprint, ordinal, booking_date, value_date, amount, servicer_reference, returned
        OR DELETE OR TRUNCATE ON reconciliation_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
-- Nobody without the data key replaces the texts of a statement line: what is written is encrypted.
CREATE TRIGGER texts_stay_encrypted BEFORE UPDATE OF reference_list, description ON reconciliation_lines FOR EACH ROW
    WHEN (NEW.reference_list <> OLD.reference_list AND left(NEW.reference_list, 1) <> E'\x01'
        OR NEW.description <> OLD.description AND left(NEW.description, 1) <> E'\x01')
    EXECUTE FUNCTION reject_change();
-- A new data key encrypts the texts again. The other columns still never change.
GRANT SELECT, INSERT, UPDATE (reference_list, description) ON reconciliation_lines TO causeway_service;
SELECT isolate_platforms('reconciliation_lines');

CREATE TABLE reconciliation_matches (
    platform_id       uuid     NOT NULL,
    id                uuid     NOT NULL,
    reconciliation_id uuid     NOT NULL,
    rule              text     NOT NULL,
    reference         text     NOT NULL,
    day_difference    smallint NOT NULL,
    explanation       text     NOT NULL,
    PRIMARY KEY (platform_id, id)
);
-- Finds the matches of a reconciliation, for the log of evidence.
CREATE INDEX reconciliation_matches_by_reconciliation ON reconciliation_matches (platform_id, reconciliation_id) WHERE reconciliation_id IS NOT NULL;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_matches FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON reconciliation_matches TO causeway_service;
SELECT isolate_platforms('reconciliation_matches');

-- The primary keys keep a line, and an entry of an account, from being matched twice.
CREATE TABLE reconciliation_matched_lines (
    platform_id uuid NOT NULL,
    line_id     uuid NOT NULL,
    match_id    uuid NOT NULL,
    PRIMARY KEY (platform_id, line_id)
);
-- Finds the lines of a match, for the log of evidence.
CREATE INDEX reconciliation_matched_lines_by_match ON reconciliation_matched_lines (platform_id, match_id) WHERE match_id IS NOT NULL;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_matched_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON reconciliation_matched_lines TO causeway_service;
SELECT isolate_platforms('reconciliation_matched_lines');

CREATE TABLE reconciliation_matched_entries (
    platform_id uuid     NOT NULL,
    account     text     NOT NULL,
    seq         bigint   NOT NULL,
    entry_no    smallint NOT NULL,
    match_id    uuid     NOT NULL,
    PRIMARY KEY (platform_id, account, seq, entry_no)
);
CREATE INDEX reconciliation_matched_entries_by_match ON reconciliation_matched_entries (platform_id, match_id) WHERE match_id IS NOT NULL;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_matched_entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON reconciliation_matched_entries TO causeway_service;
SELECT isolate_platforms('reconciliation_matched_entries');

CREATE TABLE reconciliation_breaks (
    platform_id       uuid        NOT NULL,
    id                uuid        NOT NULL,
    reconciliation_id uuid        NOT NULL,
    account           text        NOT NULL,
    currency          text        NOT NULL,
    reason            text        NOT NULL CONSTRAINT reconciliation_break_reason_known
        CHECK (reason IN ('RETURNED', 'DUPLICATE', 'AMOUNT_DIFFERS', 'MISSING_IN_LEDGER', 'MISSING_ON_STATEMENT')),
    line_id           uuid,
    seq               bigint,
    entry_no          smallint,
    -- The line or entry that it was compared with.
    compared_line_id  uuid,
    compared_seq      bigint,
    compared_entry_no smallint,
    reference         text        NOT NULL,
    difference        bigint      NOT NULL, -- the partner's amount minus the ledger's
    explanation       text        NOT NULL,
    created_at        timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT reconciliation_break_has_line_or_entry CHECK (line_id IS NOT NULL OR seq IS NOT NULL)
);
CREATE INDEX reconciliation_breaks_by_reconciliation ON reconciliation_breaks (platform_id, reconciliation_id, id) WHERE reconciliation_id IS NOT NULL;
CREATE INDEX reconciliation_breaks_by_account ON reconciliation_breaks (platform_id, account, currency, id) WHERE account <> '';
CREATE INDEX reconciliation_breaks_by_line ON reconciliation_breaks (platform_id, line_id) WHERE line_id IS NOT NULL;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_breaks FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON reconciliation_breaks TO causeway_service;
SELECT isolate_platforms('reconciliation_breaks');

-- One for each resolved break: by a note, by a posting that corrects the ledger, by a match
-- in a later comparison, or by another break that replaces it.
CREATE TABLE reconciliation_resolutions (
    platform_id       uuid        NOT NULL,
    break_id          uuid        NOT NULL,
    method            text        NOT NULL CONSTRAINT reconciliation_resolution_method_known CHECK (method IN ('NOTE', 'POSTING', 'MATCH', 'BREAK')),
    note              text        NOT NULL,
    posting_id        uuid,
    reconciliation_id uuid,
    resolved_by       text        NOT NULL,
    resolved_at       timestamptz NOT NULL,
    actor             text        DEFAULT '',
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid,
    approver          text,
    PRIMARY KEY (platform_id, break_id),
    CONSTRAINT reconciliation_resolution_posting_has_id CHECK ((method = 'POSTING') = (posting_id IS NOT NULL)),
    CONSTRAINT reconciliation_resolution_has_note CHECK (note <> '' OR method IN ('MATCH', 'BREAK')),
    CONSTRAINT reconciliation_resolution_two_tokens CHECK (resolved_by <> 'Token:' || approver_token_id::text)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_resolutions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON reconciliation_resolutions REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('resolution', 'break_id');
GRANT SELECT, INSERT ON reconciliation_resolutions TO causeway_service;
SELECT isolate_platforms('reconciliation_resolutions');
