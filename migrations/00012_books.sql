-- +goose Up

-- What finance does with the ledger. A change names the token and the person who made it, and, if it needed four eyes, the
-- proposal and who approved it. A change without a token was made by an operator on the command line, who is always named.

-- Changes of the books that need four eyes: proposed with one token, and approved with another. They are
-- records for ever.
CREATE TABLE ledger_proposals (
    platform_id       uuid        NOT NULL REFERENCES platforms,
    id                uuid        NOT NULL,
    action            text        NOT NULL,
    operation         text        NOT NULL, -- its id in the API
    request           text        NOT NULL, -- JSON, as it was proposed
    status            text        NOT NULL CONSTRAINT ledger_proposal_status_known CHECK (status IN ('PENDING', 'EXECUTED', 'REJECTED')),
    proposer_token_id uuid,       -- NULL: an operator
    proposer          text        NOT NULL, -- the name of the person; may be empty
    decider_token_id  uuid,       -- NULL: an operator, or pending
    decider           text        NOT NULL DEFAULT '',
    note              text        NOT NULL DEFAULT '' CONSTRAINT ledger_proposal_note_length CHECK (length(note) <= 500),
    result            text        NOT NULL DEFAULT '', -- the id of what was made
    error_code        text        NOT NULL DEFAULT '', -- of the last approval that could not be carried out
    error_message     text        NOT NULL DEFAULT '',
    error_at          timestamptz,
    created_at        timestamptz NOT NULL,
    expires_at        timestamptz NOT NULL,
    decided_at        timestamptz,
    figures           text        NOT NULL DEFAULT '', -- what the change comes to, as JSON: what the approver approves; empty for most
    PRIMARY KEY (platform_id, id),
    CONSTRAINT ledger_proposal_has_proposer CHECK (proposer_token_id IS NOT NULL OR proposer <> ''),
    CONSTRAINT ledger_proposal_has_decider CHECK ((status <> 'PENDING') = (decided_at IS NOT NULL)
        AND (status <> 'PENDING') = (decider_token_id IS NOT NULL OR decider <> '')),
    CONSTRAINT ledger_proposal_two_people CHECK (status <> 'EXECUTED'
        OR CASE WHEN num_nonnulls(decider_token_id, proposer_token_id) = 2 THEN decider_token_id <> proposer_token_id ELSE decider <> proposer END)
);
CREATE INDEX ledger_proposals_pending ON ledger_proposals (platform_id, expires_at) WHERE status = 'PENDING';

-- A decided proposal never changes.
-- +goose StatementBegin
CREATE FUNCTION ledger_check_proposal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'PENDING' THEN
        RAISE EXCEPTION 'a decided proposal cannot be changed'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_proposal_decided_once', TABLE = 'ledger_proposals';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER not_deleted BEFORE DELETE OR TRUNCATE ON ledger_proposals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_proposal_check_change BEFORE UPDATE ON ledger_proposals FOR EACH ROW EXECUTE FUNCTION ledger_check_proposal_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_proposals REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('proposal', 'id');
CREATE TRIGGER ledger_evidence_decision AFTER INSERT OR UPDATE ON ledger_proposals
    FOR EACH ROW WHEN (NEW.status <> 'PENDING') EXECUTE FUNCTION ledger_queue_decision();
GRANT SELECT, INSERT, UPDATE (status, decider_token_id, decider, note, result, error_code, error_message, error_at, decided_at) ON ledger_proposals TO causeway_service;
SELECT isolate_platforms('ledger_proposals');

-- Accounting periods are months. A month is soft-closed, then closed; after that nothing
-- is posted into it and its trial balance is stored. Which months of a platform are
-- closed is in ledger_clocks.

-- Who changed which month, and why. token_id is NULL if the operator did it on the
-- command line.
CREATE TABLE ledger_period_changes (
    platform_id       uuid        NOT NULL,
    id                bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    month             date        NOT NULL CONSTRAINT ledger_period_change_month_is_first_day CHECK (extract(day FROM month) = 1),
    action            text        NOT NULL CONSTRAINT ledger_period_action_known CHECK (action IN ('soft-close', 'reopen', 'close')),
    changed_at        timestamptz NOT NULL,
    token_id          uuid,
    note              text        NOT NULL CONSTRAINT ledger_period_change_note_length CHECK (length(note) <= 500),
    actor             text        NOT NULL DEFAULT '', -- the person that the request named, or the operator
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT ledger_period_change_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, id)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_period_changes FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_period_changes REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('period-change', 'id');
GRANT SELECT, INSERT ON ledger_period_changes TO causeway_service;
SELECT isolate_platforms('ledger_period_changes');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_closings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_closings REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('closing', 'month');
GRANT SELECT, INSERT ON ledger_closings TO causeway_service;
SELECT isolate_platforms('ledger_closings');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_closing_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_closing_lines TO causeway_service;
SELECT isolate_platforms('ledger_closing_lines');

-- Who authorised a manual posting. It may be effective in a soft-closed month. Inserted
-- before the posting, in the same transaction.
CREATE TABLE ledger_authorisations (
    platform_id       uuid        NOT NULL,
    posting_id        uuid        NOT NULL,
    token_id          uuid,       -- NULL: an operator
    note              text        NOT NULL CONSTRAINT ledger_authorisation_note_length CHECK (length(btrim(note)) BETWEEN 1 AND 500),
    authorised_at     timestamptz NOT NULL,
    actor             text        NOT NULL DEFAULT '', -- the person that the request named, or the operator
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT ledger_authorisation_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, posting_id),
    CONSTRAINT ledger_authorisation_posting_fkey FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT ledger_authorisation_has_author CHECK (token_id IS NOT NULL OR actor <> '')
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_authorisations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_authorisations REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('authorisation', 'posting_id');
GRANT SELECT, INSERT ON ledger_authorisations TO causeway_service;
SELECT isolate_platforms('ledger_authorisations');

-- The accounting policies of a platform: a row for each change. A platform without a row has the defaults
-- of core/books.
CREATE TABLE ledger_settings (
    platform_id         uuid        NOT NULL,
    version             integer     NOT NULL CONSTRAINT ledger_setting_version_positive CHECK (version > 0),
    changed_at          timestamptz NOT NULL,
    token_id            uuid,       -- NULL: an operator on the command line
    actor               text        NOT NULL,
    note                text        NOT NULL CONSTRAINT ledger_setting_note_length CHECK (length(note) <= 500),
    functional_currency text        NOT NULL, -- empty: none is chosen
    unrealised_result   text        NOT NULL CONSTRAINT ledger_setting_unrealised_result_known CHECK (unrealised_result IN ('REVERSE', 'KEEP')),
    fee_recognition     text        NOT NULL CONSTRAINT ledger_setting_fee_recognition_known CHECK (fee_recognition IN ('CONVERSION', 'DELIVERY')),
    year_end_month      smallint    NOT NULL CONSTRAINT ledger_setting_year_end_month_exists CHECK (year_end_month BETWEEN 1 AND 12),
    four_eyes           text[]      NOT NULL,
    proposal_id         uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id   uuid        CONSTRAINT ledger_setting_two_tokens CHECK (approver_token_id <> token_id),
    approver            text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, version),
    CONSTRAINT ledger_setting_has_author CHECK (token_id IS NOT NULL OR actor <> '')
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_settings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_settings REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('settings', 'version');
-- All market rates become evidence of a platform with its first functional currency, see 00010_pricing.sql.
CREATE TRIGGER ledger_evidence_rates AFTER INSERT ON ledger_settings
    FOR EACH ROW WHEN (NEW.functional_currency <> '') EXECUTE FUNCTION ledger_queue_kept_rates();
GRANT SELECT, INSERT ON ledger_settings TO causeway_service;
SELECT isolate_platforms('ledger_settings');

-- Accounts that finance teams add to the chart of their platform: a row for each change of an account, the
-- last of which counts. ledger_accounts has an account for each currency that was posted to.
CREATE TABLE ledger_added_accounts (
    platform_id       uuid        NOT NULL,
    path              text        NOT NULL,
    version           integer     NOT NULL CONSTRAINT ledger_added_account_version_positive CHECK (version > 0),
    name              text        NOT NULL CONSTRAINT ledger_added_account_name_length CHECK (length(name) BETWEEN 1 AND 100),
    description       text        NOT NULL CONSTRAINT ledger_added_account_description_length CHECK (length(description) <= 500),
    retired           boolean     NOT NULL,
    changed_at        timestamptz NOT NULL,
    token_id          uuid,       -- NULL: an operator on the command line
    actor             text        NOT NULL,
    note              text        NOT NULL CONSTRAINT ledger_added_account_note_length CHECK (length(note) <= 500),
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT ledger_added_account_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, path, version),
    CONSTRAINT ledger_added_account_has_author CHECK (token_id IS NOT NULL OR actor <> '')
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_added_accounts FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_added_accounts REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('added-account', 'path', 'version');
GRANT SELECT, INSERT ON ledger_added_accounts TO causeway_service;
SELECT isolate_platforms('ledger_added_accounts');

-- Which account of the general ledger each account of a platform belongs to: versions of a mapping, and their
-- lines. A platform without a version has the built-in mapping of core/books.
CREATE TABLE ledger_gl_mappings (
    platform_id       uuid        NOT NULL,
    version           integer     NOT NULL CONSTRAINT ledger_gl_mapping_version_positive CHECK (version > 0),
    changed_at        timestamptz NOT NULL,
    token_id          uuid,       -- NULL: an operator on the command line
    actor             text        NOT NULL,
    note              text        NOT NULL CONSTRAINT ledger_gl_mapping_note_length CHECK (length(note) <= 500),
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT ledger_gl_mapping_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, version),
    CONSTRAINT ledger_gl_mapping_has_author CHECK (token_id IS NOT NULL OR actor <> '')
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_gl_mappings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_gl_mappings REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('gl-mapping', 'version');
GRANT SELECT, INSERT ON ledger_gl_mappings TO causeway_service;
SELECT isolate_platforms('ledger_gl_mappings');

CREATE TABLE ledger_gl_mapping_lines (
    platform_id uuid    NOT NULL,
    version     integer NOT NULL,
    path        text    NOT NULL, -- of an account, or a group such as customers/*
    currency    text    NOT NULL, -- empty: all
    code        text    NOT NULL CONSTRAINT ledger_gl_mapping_line_code_length CHECK (length(code) BETWEEN 1 AND 40),
    name        text    NOT NULL CONSTRAINT ledger_gl_mapping_line_name_length CHECK (length(name) BETWEEN 1 AND 100),
    PRIMARY KEY (platform_id, version, path, currency),
    CONSTRAINT ledger_gl_mapping_line_version_fkey FOREIGN KEY (platform_id, version) REFERENCES ledger_gl_mappings (platform_id, version)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_gl_mapping_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_gl_mapping_lines TO causeway_service;
SELECT isolate_platforms('ledger_gl_mapping_lines');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON gl_journals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON gl_journals REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('gl-journal', 'number');
GRANT SELECT, INSERT ON gl_journals TO causeway_service;
SELECT isolate_platforms('gl_journals');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON gl_journal_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON gl_journal_lines TO causeway_service;
SELECT isolate_platforms('gl_journal_lines');

-- Runs that post at the end of a month, and their results. All are records of the books: rows are added and never
-- changed.

CREATE TABLE ledger_month_end_runs (
    platform_id       uuid        NOT NULL REFERENCES platforms,
    kind              text        NOT NULL, -- of the postings
    month             date        NOT NULL CONSTRAINT ledger_month_end_run_month_is_first_day CHECK (extract(day FROM month) = 1),
    run               int         NOT NULL CONSTRAINT ledger_month_end_run_counts_from_one CHECK (run > 0),
    ran_at            timestamptz NOT NULL,
    token_id          uuid,       -- NULL for an operator
    actor             text        NOT NULL,
    last_seq          bigint      NOT NULL, -- the last posting that was read
    previous_month    date,       -- of the run that it continues
    previous_run      int,
    posting_ids       uuid[]      NOT NULL, -- the postings in force
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT ledger_month_end_run_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, kind, month, run),
    CONSTRAINT ledger_month_end_run_continues_earlier CHECK (previous_month < month),
    CONSTRAINT ledger_month_end_run_continues_whole CHECK ((previous_month IS NULL) = (previous_run IS NULL))
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_month_end_runs FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_month_end_runs REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('month-end-run', 'kind', 'month', 'run');
GRANT SELECT, INSERT ON ledger_month_end_runs TO causeway_service;
SELECT isolate_platforms('ledger_month_end_runs');

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
    -- What income, expense and own funds in foreign currencies were worth until the end of the month; NULL for nothing.
    translated            bigint,
    PRIMARY KEY (platform_id, month, run)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_exchange_results FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_exchange_results TO causeway_service;
SELECT isolate_platforms('ledger_exchange_results');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_exchange_positions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_exchange_positions TO causeway_service;
SELECT isolate_platforms('ledger_exchange_positions');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_exchange_origins FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_exchange_origins TO causeway_service;
SELECT isolate_platforms('ledger_exchange_origins');

-- What was posted in the month on accounts of income, expense and own funds in foreign currencies, and its value in the
-- functional currency: translated exactly and rounded once for each account, currency and month.
CREATE TABLE ledger_exchange_translations (
    platform_id uuid   NOT NULL REFERENCES platforms,
    month       date   NOT NULL,
    run         int    NOT NULL,
    account     text   NOT NULL, -- a path, or the line of the chart for internal accounts
    currency    text   NOT NULL,
    quantity    bigint NOT NULL, -- credits less debits
    value       bigint NOT NULL,
    postings    bigint NOT NULL,
    remainder   text,  -- a decimal, carried into the next month; NULL for nothing
    PRIMARY KEY (platform_id, month, run, account, currency)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_exchange_translations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_exchange_translations TO causeway_service;
SELECT isolate_platforms('ledger_exchange_translations');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_payments_in_transit FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_payments_in_transit TO causeway_service;
SELECT isolate_platforms('ledger_payments_in_transit');

-- The closings of financial years into retained earnings. A closing that was reversed is followed by one with
-- the next number if the year is closed again.
CREATE TABLE ledger_year_closings (
    platform_id       uuid        NOT NULL,
    year              integer     NOT NULL CONSTRAINT ledger_year_closing_year_exists CHECK (year BETWEEN 2000 AND 9999),
    number            integer     NOT NULL CONSTRAINT ledger_year_closing_number_positive CHECK (number > 0),
    last_month        date        NOT NULL,
    closed_at         timestamptz NOT NULL,
    token_id          uuid,       -- NULL: an operator on the command line
    actor             text        NOT NULL,
    note              text        NOT NULL CONSTRAINT ledger_year_closing_note_length CHECK (length(btrim(note)) BETWEEN 1 AND 500),
    posting_id        uuid,       -- NULL: there was no income or expense
    seq               bigint      NOT NULL, -- number of the last posting before it
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT ledger_year_closing_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, year, number),
    CONSTRAINT ledger_year_closing_has_author CHECK (token_id IS NOT NULL OR actor <> ''),
    CONSTRAINT ledger_year_closing_posting_fkey FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_year_closings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_year_closings REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('year-closing', 'year', 'number');
GRANT SELECT, INSERT ON ledger_year_closings TO causeway_service;
SELECT isolate_platforms('ledger_year_closings');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_year_results FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_year_results TO causeway_service;
SELECT isolate_platforms('ledger_year_results');

CREATE TABLE ledger_year_reversals (
    platform_id       uuid        NOT NULL,
    year              integer     NOT NULL,
    number            integer     NOT NULL,
    reversed_at       timestamptz NOT NULL,
    token_id          uuid,       -- NULL: an operator on the command line
    actor             text        NOT NULL,
    note              text        NOT NULL CONSTRAINT ledger_year_reversal_note_length CHECK (length(btrim(note)) BETWEEN 1 AND 500),
    posting_id        uuid,       -- NULL: the closing has none
    effective_at      timestamptz NOT NULL,
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT ledger_year_reversal_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, year, number),
    CONSTRAINT ledger_year_reversal_has_author CHECK (token_id IS NOT NULL OR actor <> ''),
    CONSTRAINT ledger_year_reversal_closing_fkey FOREIGN KEY (platform_id, year, number) REFERENCES ledger_year_closings,
    CONSTRAINT ledger_year_reversal_posting_fkey FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_year_reversals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON ledger_year_reversals REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('year-reversal', 'year', 'number');
GRANT SELECT, INSERT ON ledger_year_reversals TO causeway_service;
SELECT isolate_platforms('ledger_year_reversals');
