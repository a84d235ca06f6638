-- +goose Up

-- Partners' statements and what became of them beside the books. All of it is only ever
-- added to: what somebody decided about a break stands with who and when.

-- One import of one file. It is written last, when its comparison is done.
CREATE TABLE reconciliations (
    platform_id     uuid        NOT NULL,
    id              uuid        NOT NULL,
    account         text        NOT NULL, -- a path of the chart
    currency        text        NOT NULL,
    format          text        NOT NULL,
    digest          bytea       NOT NULL CONSTRAINT reconciliation_digest_is_sha256 CHECK (length(digest) = 32),
    statements      text        NOT NULL, -- the partner's names for them, one a row
    partner_account text        NOT NULL,
    first_day       date        NOT NULL,
    last_day        date        NOT NULL,
    opening         bigint,
    closing         bigint,
    lines           int         NOT NULL,
    known_lines     int         NOT NULL,
    ignored         int         NOT NULL,
    -- At the time of the comparison: matches by rule, breaks by reason (JSON).
    matches         text        NOT NULL,
    breaks          text        NOT NULL,
    matched_lines   int         NOT NULL,
    matched_entries int         NOT NULL,
    cleared         int         NOT NULL, -- breaks of earlier ones that this one resolved
    made_by         text        NOT NULL,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT reconciliation_days_in_order CHECK (first_day <= last_day)
);
CREATE UNIQUE INDEX reconciliation_file_once ON reconciliations (platform_id, account, currency, digest);

CREATE TABLE reconciliation_lines (
    platform_id uuid    NOT NULL,
    id          uuid    NOT NULL,
    run_id      uuid    NOT NULL, -- that saw it first
    account     text    NOT NULL,
    currency    text    NOT NULL,
    identity    bytea   NOT NULL CONSTRAINT reconciliation_line_identity_is_sha256 CHECK (length(identity) = 32),
    ordinal     int     NOT NULL,
    booked_on   date    NOT NULL,
    value_on    date    NOT NULL,
    -- Above zero when the partner has more for us.
    amount      bigint  NOT NULL CONSTRAINT reconciliation_line_moves_something CHECK (amount <> 0),
    servicer    text    NOT NULL,
    refs        text    NOT NULL, -- one a row
    description text    NOT NULL,
    returned    boolean NOT NULL,
    PRIMARY KEY (platform_id, id)
);
CREATE UNIQUE INDEX reconciliation_line_once ON reconciliation_lines (platform_id, account, currency, identity);
CREATE INDEX reconciliation_lines_of_run ON reconciliation_lines (platform_id, run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX reconciliation_lines_by_day ON reconciliation_lines (platform_id, account, currency, value_on) WHERE value_on IS NOT NULL;

CREATE TABLE reconciliation_matches (
    platform_id uuid     NOT NULL,
    id          uuid     NOT NULL,
    run_id      uuid     NOT NULL,
    rule        text     NOT NULL,
    reference   text     NOT NULL,
    days        smallint NOT NULL,
    explanation text     NOT NULL,
    PRIMARY KEY (platform_id, id)
);

-- Its key keeps a line, and an entry of an account, from being matched twice.
CREATE TABLE reconciliation_matched_lines (
    platform_id uuid NOT NULL,
    line_id     uuid NOT NULL,
    match_id    uuid NOT NULL,
    PRIMARY KEY (platform_id, line_id)
);
CREATE TABLE reconciliation_matched_entries (
    platform_id uuid     NOT NULL,
    account     text     NOT NULL,
    seq         bigint   NOT NULL,
    n           smallint NOT NULL,
    match_id    uuid     NOT NULL,
    PRIMARY KEY (platform_id, account, seq, n)
);
CREATE INDEX reconciliation_matched_entries_of_match ON reconciliation_matched_entries (platform_id, match_id) WHERE match_id IS NOT NULL;

CREATE TABLE reconciliation_breaks (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    run_id      uuid        NOT NULL,
    account     text        NOT NULL,
    currency    text        NOT NULL,
    reason      text        NOT NULL CONSTRAINT reconciliation_break_reason_known
        CHECK (reason IN ('RETURNED', 'DUPLICATE', 'AMOUNT_DIFFERS', 'MISSING_IN_LEDGER', 'MISSING_ON_STATEMENT')),
    line_id     uuid,
    seq         bigint,
    n           smallint,
    -- What it was compared with.
    other_line  uuid,
    other_seq   bigint,
    other_n     smallint,
    reference   text        NOT NULL,
    difference  bigint      NOT NULL, -- what the partner has more than the books
    explanation text        NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT reconciliation_break_of_something CHECK (line_id IS NOT NULL OR seq IS NOT NULL)
);
CREATE INDEX reconciliation_breaks_of_run ON reconciliation_breaks (platform_id, run_id, id) WHERE run_id IS NOT NULL;
CREATE INDEX reconciliation_breaks_of_account ON reconciliation_breaks (platform_id, account, currency, id) WHERE account <> '';
CREATE INDEX reconciliation_breaks_of_line ON reconciliation_breaks (platform_id, line_id) WHERE line_id IS NOT NULL;

-- Once a break: by a note, by a posting that corrects the books, by a match that a later
-- comparison found, or by another break that stands for it.
CREATE TABLE reconciliation_resolutions (
    platform_id uuid        NOT NULL,
    break_id    uuid        NOT NULL,
    how         text        NOT NULL CONSTRAINT reconciliation_resolution_known CHECK (how IN ('NOTE', 'POSTING', 'MATCH', 'BREAK')),
    note        text        NOT NULL,
    posting_id  uuid,
    run_id      uuid,
    made_by     text        NOT NULL,
    made_at     timestamptz NOT NULL,
    PRIMARY KEY (platform_id, break_id),
    CONSTRAINT reconciliation_resolution_by_posting_names_it CHECK ((how = 'POSTING') = (posting_id IS NOT NULL)),
    CONSTRAINT reconciliation_resolution_says_why CHECK (note <> '' OR how IN ('MATCH', 'BREAK'))
);

-- +goose StatementBegin
CREATE FUNCTION reconciliation_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: reconciliations are only added to', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER reconciliation_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliations FOR EACH STATEMENT EXECUTE FUNCTION reconciliation_refuse_change();
CREATE TRIGGER reconciliation_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_lines FOR EACH STATEMENT EXECUTE FUNCTION reconciliation_refuse_change();
CREATE TRIGGER reconciliation_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_matches FOR EACH STATEMENT EXECUTE FUNCTION reconciliation_refuse_change();
CREATE TRIGGER reconciliation_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_matched_lines FOR EACH STATEMENT EXECUTE FUNCTION reconciliation_refuse_change();
CREATE TRIGGER reconciliation_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_matched_entries FOR EACH STATEMENT EXECUTE FUNCTION reconciliation_refuse_change();
CREATE TRIGGER reconciliation_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_breaks FOR EACH STATEMENT EXECUTE FUNCTION reconciliation_refuse_change();
CREATE TRIGGER reconciliation_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reconciliation_resolutions FOR EACH STATEMENT EXECUTE FUNCTION reconciliation_refuse_change();

GRANT SELECT, INSERT ON reconciliations, reconciliation_lines, reconciliation_matches, reconciliation_matched_lines,
    reconciliation_matched_entries, reconciliation_breaks, reconciliation_resolutions TO causeway_service;

-- +goose Down
DROP TABLE reconciliation_resolutions, reconciliation_breaks, reconciliation_matched_entries, reconciliation_matched_lines,
    reconciliation_matches, reconciliation_lines, reconciliations;
DROP FUNCTION reconciliation_refuse_change;
