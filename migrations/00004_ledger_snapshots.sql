-- +goose Up

-- A balance snapshot ends a block of an account's entries: the balance and the total of
-- debits after posting number seq, and the earliest and latest effective time in the
-- block since the snapshot before. Every account posted to in a month has one at the
-- month's end, so that a balance needs the entries of one month at most.
CREATE TABLE ledger_balance_snapshots (
    platform_id           uuid        NOT NULL,
    account_id            bigint      NOT NULL,
    seq                   bigint      NOT NULL,
    balance               numeric     NOT NULL,
    earliest_effective_at timestamptz NOT NULL,
    latest_effective_at   timestamptz NOT NULL,
    debit_total           numeric     NOT NULL, -- with the balance it gives the total of credits
    PRIMARY KEY (platform_id, account_id, seq),
    CONSTRAINT ledger_balance_snapshot_account_fkey FOREIGN KEY (platform_id, account_id) REFERENCES ledger_accounts (platform_id, id)
);

-- How far the worker has come that creates snapshots.
CREATE TABLE ledger_snapshot_progress (
    platform_id            uuid        PRIMARY KEY,
    seq                    bigint      NOT NULL DEFAULT 0,           -- the last posting processed
    months_complete_before timestamptz NOT NULL DEFAULT '-infinity', -- months before it have all their snapshots
    last_account_id        bigint      NOT NULL DEFAULT 0            -- the last account processed in the month after them
);

GRANT SELECT, INSERT ON ledger_balance_snapshots TO causeway_service;
GRANT SELECT, INSERT, UPDATE ON ledger_snapshot_progress TO causeway_service;
