-- +goose Up

-- What was debited to an account up to a checkpoint; with the balance that gives the
-- credits too. NULL where an older release wrote the checkpoint: then it is not used
-- for turnovers.
ALTER TABLE ledger_checkpoints ADD COLUMN debits numeric;
-- +goose StatementBegin
WITH blocks AS (
    SELECT k.platform_id, k.account_id, k.seq, (
        SELECT coalesce(sum(e.amount), 0) FROM ledger_entries e
        WHERE e.platform_id = k.platform_id AND e.debit_account = k.account_id AND e.seq > k.after AND e.seq <= k.seq) AS debits
    FROM (SELECT platform_id, account_id, seq, lag(seq, 1, 0::bigint) OVER (PARTITION BY platform_id, account_id ORDER BY seq) AS after
          FROM ledger_checkpoints) k
), sums AS (
    SELECT platform_id, account_id, seq, sum(debits) OVER (PARTITION BY platform_id, account_id ORDER BY seq) AS debits FROM blocks
)
UPDATE ledger_checkpoints k SET debits = s.debits
FROM sums s WHERE s.platform_id = k.platform_id AND s.account_id = k.account_id AND s.seq = k.seq;
-- +goose StatementEnd

-- Accounts are listed and searched in the order of their bytes, whatever the order of
-- texts in the database. Its condition always holds: a look-up by number, which says
-- nothing of the path, cannot fall for it.
CREATE INDEX ledger_accounts_in_order ON ledger_accounts (platform_id, path COLLATE "C", currency COLLATE "C") WHERE path IS NOT NULL;

-- Postings of the kinds that every payment has are found by going back a little, and
-- cost nothing here. The others may be far apart.
CREATE INDEX ledger_postings_of_rare_kind ON ledger_postings (platform_id, kind, seq)
    WHERE kind NOT IN ('jit_received', 'converted', 'delivered', 'deposit', 'transfer_in', 'transfer_out');
-- The memo of a payment's postings is its reference, by which the payment is found.
CREATE INDEX ledger_postings_by_memo ON ledger_postings (platform_id, memo, seq)
    WHERE transaction_id IS NULL OR kind = 'unmatched_assigned';
-- Postings that took effect long before they were recorded, or after: few, and asked
-- for whenever somebody asks by effective time. All others are found around that time.
CREATE INDEX ledger_postings_astray ON ledger_postings (platform_id, recorded_at, effective_at)
    WHERE recorded_at - effective_at > interval '10 seconds' OR recorded_at - effective_at < interval '-10 seconds';

-- What people decided about money whose owner nobody knew: once for each posting that
-- put it there. Rows never change.
CREATE TABLE unmatched_assignments (
    platform_id    uuid        NOT NULL,
    posting_id     uuid        NOT NULL,
    receipt_id     uuid        NOT NULL,
    transaction_id uuid,       -- none: it goes back to its payer
    account_id     uuid,       -- none: it pays a quote, or goes back
    note           text        NOT NULL,
    token_id       uuid        NOT NULL, -- who decided
    assigned_at    timestamptz NOT NULL,
    CONSTRAINT unmatched_assigned_once PRIMARY KEY (platform_id, posting_id),
    CONSTRAINT unmatched_assigned_to_an_account_as_a_deposit CHECK (account_id IS NULL OR transaction_id IS NOT NULL)
);
CREATE INDEX unmatched_assignments_of_transaction ON unmatched_assignments (platform_id, transaction_id) WHERE transaction_id IS NOT NULL;

-- What rails answered about a payment, or about money sent back, where that is not to
-- be read from the postings it led to: all but that it is done. Rows never change.
CREATE TABLE rail_answers (
    platform_id uuid        NOT NULL,
    subject     uuid        NOT NULL,
    answered_at timestamptz NOT NULL,
    asked       text        NOT NULL,
    verdict     text        NOT NULL,
    reason      text        NOT NULL,
    accepted    boolean     NOT NULL,
    again_at    timestamptz
);
CREATE INDEX rail_answers_of_subject ON rail_answers (platform_id, subject, answered_at);

GRANT SELECT, INSERT ON unmatched_assignments, rail_answers TO causeway_service;

-- +goose Down
DROP TABLE rail_answers, unmatched_assignments;
DROP INDEX ledger_postings_astray, ledger_postings_by_memo, ledger_postings_of_rare_kind, ledger_accounts_in_order;
ALTER TABLE ledger_checkpoints DROP COLUMN debits;
