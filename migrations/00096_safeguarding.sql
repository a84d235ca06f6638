-- +goose Up
-- What is owed to customers against what is held for them: whose money an account at a partner holds, the
-- report of each day, and who has seen it. All rows are records for ever.
SET LOCAL lock_timeout = '1s';

-- The last row of an account is its purpose; an account without one holds customers' money.
CREATE TABLE safeguarding_purposes (
    platform_id uuid        NOT NULL,
    account     text        NOT NULL,
    version     integer     NOT NULL CONSTRAINT safeguarding_purpose_version_positive CHECK (version > 0),
    purpose     text        NOT NULL CONSTRAINT safeguarding_purpose_known CHECK (purpose IN ('CLIENT', 'OWN')),
    changed_at  timestamptz NOT NULL,
    token_id    uuid,       -- NULL for the operator
    actor       text        NOT NULL DEFAULT '',
    note        text        NOT NULL CONSTRAINT safeguarding_purpose_note_length CHECK (length(note) <= 500),
    PRIMARY KEY (platform_id, account, version)
);

CREATE TABLE safeguarding_reports (
    platform_id          uuid        NOT NULL,
    day                  date        NOT NULL,
    version              integer     NOT NULL CONSTRAINT safeguarding_report_version_positive CHECK (version > 0),
    as_of                timestamptz NOT NULL, -- the effective time up to which postings count
    made_at              timestamptz NOT NULL,
    token_id             uuid,       -- NULL for the report that the service makes, and for the operator
    actor                text        NOT NULL DEFAULT '',
    -- The platform's last posting at that time, and its digest; 0 and NULL in an empty ledger.
    seq                  bigint      NOT NULL,
    posting_digest       bytea       CONSTRAINT safeguarding_report_posting_digest_is_sha256 CHECK (length(posting_digest) = 32),
    log_checkpoint       text,
    shortfalls           text[]      NOT NULL, -- the currencies in which less is held than owed
    value_currency       text        NOT NULL DEFAULT '',
    rates_kept_at        timestamptz,
    value_missing        text[]      NOT NULL,
    requirement_value    numeric     NOT NULL,
    resource_value       numeric     NOT NULL,
    digest               bytea       NOT NULL CONSTRAINT safeguarding_report_digest_is_sha256 CHECK (length(digest) = 32),
    PRIMARY KEY (platform_id, day, version),
    CONSTRAINT safeguarding_report_digest_of_last_posting CHECK ((seq = 0) = (posting_digest IS NULL))
);

CREATE TABLE safeguarding_report_lines (
    platform_id uuid    NOT NULL,
    day         date    NOT NULL,
    version     integer NOT NULL,
    section     text    NOT NULL CONSTRAINT safeguarding_report_line_section_known CHECK (section IN ('REQUIREMENT', 'RESOURCE', 'OWN_FUNDS')),
    path        text    NOT NULL,
    currency    text    NOT NULL,
    amount      numeric NOT NULL,
    PRIMARY KEY (platform_id, day, version, section, path, currency),
    CONSTRAINT safeguarding_report_line_report_fkey FOREIGN KEY (platform_id, day, version) REFERENCES safeguarding_reports (platform_id, day, version)
);

-- The last statement of each account of the resource that was imported when the report was made.
CREATE TABLE safeguarding_report_statements (
    platform_id       uuid    NOT NULL,
    day               date    NOT NULL,
    version           integer NOT NULL,
    path              text    NOT NULL,
    currency          text    NOT NULL,
    reconciliation_id uuid    NOT NULL,
    statement_date    date    NOT NULL,
    closing           numeric, -- NULL if the statement has no closing balance
    difference        numeric,
    open_breaks       integer NOT NULL,
    PRIMARY KEY (platform_id, day, version, path, currency),
    CONSTRAINT safeguarding_report_statement_report_fkey FOREIGN KEY (platform_id, day, version) REFERENCES safeguarding_reports (platform_id, day, version),
    CONSTRAINT safeguarding_report_statement_difference_with_closing CHECK ((closing IS NULL) = (difference IS NULL))
);

CREATE TABLE safeguarding_acknowledgements (
    platform_id     uuid        NOT NULL,
    day             date        NOT NULL,
    version         integer     NOT NULL,
    id              bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    acknowledged_at timestamptz NOT NULL,
    token_id        uuid,       -- NULL for the operator
    actor           text        NOT NULL DEFAULT '',
    note            text        NOT NULL CONSTRAINT safeguarding_acknowledgement_note_length CHECK (length(btrim(note)) BETWEEN 1 AND 500),
    PRIMARY KEY (platform_id, day, version, id),
    CONSTRAINT safeguarding_acknowledgement_report_fkey FOREIGN KEY (platform_id, day, version) REFERENCES safeguarding_reports (platform_id, day, version)
);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON safeguarding_purposes FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON safeguarding_reports FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON safeguarding_report_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON safeguarding_report_statements FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON safeguarding_acknowledgements FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

GRANT SELECT, INSERT ON safeguarding_purposes, safeguarding_reports, safeguarding_report_lines, safeguarding_report_statements, safeguarding_acknowledgements TO causeway_service;

SELECT isolate_platforms('safeguarding_purposes');
SELECT isolate_platforms('safeguarding_reports');
SELECT isolate_platforms('safeguarding_report_lines');
SELECT isolate_platforms('safeguarding_report_statements');
SELECT isolate_platforms('safeguarding_acknowledgements');
