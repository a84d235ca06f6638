-- +goose Up
-- What customers owe for collections that the payer's bank has taken back, and every change of it with its
-- posting. A receivable is changed only together with a row of receivable_changes.
SET LOCAL lock_timeout = '1s';

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

GRANT SELECT, INSERT ON receivables, receivable_changes TO causeway_service;
GRANT UPDATE (collected, written_off, state, updated_at) ON receivables TO causeway_service;

SELECT isolate_platforms('receivables');
SELECT isolate_platforms('receivable_changes');
