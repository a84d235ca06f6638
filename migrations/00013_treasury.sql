-- +goose Up

-- What is owed to customers against what is held for them: whose money an account at a partner holds, the
-- report of each day, and who has seen it. All rows are records for ever.

-- The last row of an account is its purpose; an account without one holds customers' money.
CREATE TABLE safeguarding_purposes (
    platform_id       uuid        NOT NULL,
    account           text        NOT NULL,
    version           integer     NOT NULL CONSTRAINT safeguarding_purpose_version_positive CHECK (version > 0),
    purpose           text        NOT NULL CONSTRAINT safeguarding_purpose_known CHECK (purpose IN ('CLIENT', 'OWN')),
    changed_at        timestamptz NOT NULL,
    token_id          uuid,       -- NULL for the operator
    actor             text        NOT NULL DEFAULT '',
    note              text        NOT NULL CONSTRAINT safeguarding_purpose_note_length CHECK (length(note) <= 500),
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT safeguarding_purpose_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, account, version)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON safeguarding_purposes FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON safeguarding_purposes REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('safeguarding-purpose', 'account', 'version');
GRANT SELECT, INSERT ON safeguarding_purposes TO causeway_service;
SELECT isolate_platforms('safeguarding_purposes');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON safeguarding_reports FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON safeguarding_reports REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('safeguarding-report', 'day', 'version');
GRANT SELECT, INSERT ON safeguarding_reports TO causeway_service;
SELECT isolate_platforms('safeguarding_reports');

CREATE TABLE safeguarding_report_lines (
    platform_id  uuid    NOT NULL,
    day          date    NOT NULL,
    version      integer NOT NULL,
    section      text    NOT NULL CONSTRAINT safeguarding_report_line_section_known CHECK (section IN ('REQUIREMENT', 'RESOURCE', 'OWN_FUNDS')),
    path         text    NOT NULL,
    currency     text    NOT NULL,
    amount       numeric NOT NULL,
    -- What confirms from outside that an account with customers' money holds what the report says, and what of it comes
    -- from adjustments since the account was last confirmed. NULL in the lines of other sections.
    confirmation text    CONSTRAINT safeguarding_report_line_confirmation_known
        CHECK (confirmation IN ('STATEMENT', 'RAIL_PROOF', 'SANDBOX', 'IN_TRANSIT', 'NOTHING_HELD', 'NONE')),
    manual       numeric,
    manual_since date,
    PRIMARY KEY (platform_id, day, version, section, path, currency),
    CONSTRAINT safeguarding_report_line_report_fkey FOREIGN KEY (platform_id, day, version) REFERENCES safeguarding_reports (platform_id, day, version),
    CONSTRAINT safeguarding_report_line_confirmation_whole CHECK (
        (confirmation IS NULL) = (manual IS NULL) AND (confirmation IS NULL) = (manual_since IS NULL)
        AND (confirmation IS NULL OR section = 'RESOURCE'))
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON safeguarding_report_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON safeguarding_report_lines TO causeway_service;
SELECT isolate_platforms('safeguarding_report_lines');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON safeguarding_report_statements FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON safeguarding_report_statements TO causeway_service;
SELECT isolate_platforms('safeguarding_report_statements');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON safeguarding_acknowledgements FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON safeguarding_acknowledgements REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('safeguarding-acknowledgement', 'day', 'version', 'id');
GRANT SELECT, INSERT ON safeguarding_acknowledgements TO causeway_service;
SELECT isolate_platforms('safeguarding_acknowledgements');

-- Movements of money between accounts at partners, each with its posting: sweeps, transfers, and exchanges with a liquidity
-- provider. A transfer in transit has a second posting when it arrives.
CREATE TABLE treasury_movements (
    platform_id       uuid        NOT NULL,
    id                uuid        NOT NULL,
    kind              text        NOT NULL CONSTRAINT treasury_movement_kind_known CHECK (kind IN ('SWEEP', 'TRANSFER', 'SETTLEMENT')),
    from_account      text        NOT NULL,
    to_account        text        NOT NULL,
    currency          text        NOT NULL,
    amount            bigint      NOT NULL CONSTRAINT treasury_movement_amount_positive CHECK (amount > 0),
    bought_currency   text,
    bought_amount     bigint      CONSTRAINT treasury_movement_bought_amount_positive CHECK (bought_amount > 0),
    in_transit        boolean     NOT NULL,
    allow_overdraft   boolean     NOT NULL,
    note              text        NOT NULL CONSTRAINT treasury_movement_note_length CHECK (length(note) <= 500),
    effective_at      timestamptz NOT NULL, -- as requested; that of the posting is later if the month is closed
    posting_id        uuid        NOT NULL,
    created_at        timestamptz NOT NULL,
    token_id          uuid,       -- NULL for the operator
    actor             text        NOT NULL DEFAULT '',
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT treasury_movement_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, id),
    CONSTRAINT treasury_movement_posting_unique UNIQUE (platform_id, posting_id),
    CONSTRAINT treasury_movement_bought_in_settlement CHECK ((kind = 'SETTLEMENT') = (bought_currency IS NOT NULL) AND (bought_currency IS NULL) = (bought_amount IS NULL)),
    CONSTRAINT treasury_movement_posting_fkey FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON treasury_movements FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON treasury_movements REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('treasury-movement', 'id');
GRANT SELECT, INSERT ON treasury_movements TO causeway_service;
SELECT isolate_platforms('treasury_movements');

CREATE TABLE treasury_arrivals (
    platform_id       uuid        NOT NULL,
    movement_id       uuid        NOT NULL,
    posting_id        uuid        NOT NULL,
    effective_at      timestamptz NOT NULL,
    arrived_at        timestamptz NOT NULL,
    token_id          uuid,
    actor             text        NOT NULL DEFAULT '',
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT treasury_arrival_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, movement_id),
    CONSTRAINT treasury_arrival_movement_fkey FOREIGN KEY (platform_id, movement_id) REFERENCES treasury_movements (platform_id, id),
    CONSTRAINT treasury_arrival_posting_unique UNIQUE (platform_id, posting_id),
    CONSTRAINT treasury_arrival_posting_fkey FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON treasury_arrivals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON treasury_arrivals REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('treasury-arrival', 'movement_id');
GRANT SELECT, INSERT ON treasury_arrivals TO causeway_service;
SELECT isolate_platforms('treasury_arrivals');

-- What was announced about assets below zero: one row for each account that ever was.
CREATE TABLE ledger_overdrafts (
    platform_id uuid        NOT NULL,
    account     text        NOT NULL,
    currency    text        NOT NULL,
    overdrawn   boolean     NOT NULL, -- as announced last
    since       timestamptz NOT NULL, -- when it was first seen below zero, the last time
    balance     numeric     NOT NULL, -- as announced last
    notified_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, account, currency)
);
GRANT SELECT, INSERT, UPDATE ON ledger_overdrafts TO causeway_service;
SELECT isolate_platforms('ledger_overdrafts');

-- What customers owe for collections that the payer's bank has taken back, and every change of it with its posting. A
-- receivable is changed only together with a row of receivable_changes.
CREATE TABLE receivables (
    platform_id    uuid        NOT NULL,
    id             uuid        NOT NULL,
    transaction_id uuid        NOT NULL,
    customer_id    uuid,       -- NULL for the platform
    account_id     uuid        NOT NULL,
    account_path   text        NOT NULL,
    partner        text        NOT NULL,
    reference      text        NOT NULL,
    currency       text        NOT NULL,
    amount         bigint      NOT NULL CONSTRAINT receivable_amount_positive CHECK (amount > 0),
    collected      bigint      NOT NULL CONSTRAINT receivable_collected_not_negative CHECK (collected >= 0),
    written_off    bigint      NOT NULL CONSTRAINT receivable_written_off_not_negative CHECK (written_off >= 0),
    state          text        NOT NULL,
    reason_code    text        NOT NULL CONSTRAINT receivable_reason_code_length CHECK (length(reason_code) BETWEEN 1 AND 40),
    partner_id     text        NOT NULL CONSTRAINT receivable_partner_id_length CHECK (length(partner_id) <= 140),
    returned_at    timestamptz NOT NULL,
    note           text        NOT NULL CONSTRAINT receivable_note_length CHECK (length(note) <= 500),
    token_id       uuid,       -- NULL for the operator
    actor          text        NOT NULL DEFAULT '',
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT receivable_transaction_unique UNIQUE (platform_id, transaction_id),
    CONSTRAINT receivable_owes_no_less_than_nothing CHECK (amount - collected >= written_off),
    CONSTRAINT receivable_state_of_amounts CHECK (
        state = 'OPEN' AND collected < amount AND written_off = 0
        OR state = 'SETTLED' AND collected = amount
        OR state = 'WRITTEN_OFF' AND written_off > 0 AND collected = amount - written_off),
    CONSTRAINT receivable_transaction_fkey FOREIGN KEY (platform_id, transaction_id) REFERENCES transactions (platform_id, id)
);
-- Later money of the accounts pays the open ones, oldest first.
CREATE INDEX receivables_open ON receivables (returned_at, id) WHERE state = 'OPEN';
-- A customer who owes cannot be deleted.
CREATE INDEX receivables_by_customer ON receivables (platform_id, customer_id, id);
-- Statements of partners name returns.
CREATE INDEX receivables_by_partner ON receivables (platform_id, partner, returned_at);
CREATE TRIGGER ledger_evidence AFTER INSERT ON receivables REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('receivable', 'id');
GRANT SELECT, INSERT, UPDATE (collected, written_off, state, updated_at) ON receivables TO causeway_service;
SELECT isolate_platforms('receivables');

CREATE TABLE receivable_changes (
    platform_id   uuid        NOT NULL,
    receivable_id uuid        NOT NULL,
    number        integer     NOT NULL CONSTRAINT receivable_change_number_positive CHECK (number > 0),
    kind          text        NOT NULL CONSTRAINT receivable_change_kind_known CHECK (kind IN ('RETURNED', 'COLLECTED', 'WRITTEN_OFF')),
    amount        bigint      NOT NULL CONSTRAINT receivable_change_amount_positive CHECK (amount > 0),
    posting_id    uuid        NOT NULL,
    effective_at  timestamptz NOT NULL, -- that of the posting is later if the month is closed
    changed_at    timestamptz NOT NULL,
    token_id      uuid,       -- NULL for the service and the operator
    actor         text        NOT NULL DEFAULT '',
    note          text        NOT NULL CONSTRAINT receivable_change_note_length CHECK (length(note) <= 500),
    proposal_id       uuid,   -- of a write-off with four eyes, as the two columns after it
    approver_token_id uuid    CONSTRAINT receivable_change_two_tokens CHECK (approver_token_id <> token_id),
    approver          text    NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, receivable_id, number),
    CONSTRAINT receivable_change_receivable_fkey FOREIGN KEY (platform_id, receivable_id) REFERENCES receivables (platform_id, id),
    CONSTRAINT receivable_change_posting_unique UNIQUE (platform_id, posting_id),
    CONSTRAINT receivable_change_posting_fkey FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON receivable_changes FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON receivable_changes REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('receivable-change', 'receivable_id', 'number');
GRANT SELECT, INSERT ON receivable_changes TO causeway_service;
SELECT isolate_platforms('receivable_changes');
