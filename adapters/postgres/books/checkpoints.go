package books

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// How checkpoints advance. A platform is looked at when it is dueAfter postings
// behind, at most window of them at once. An account gets a checkpoint when blockSize
// of its entries are in none: so a busy account gets one a window, and one that is
// seldom used does not get a row for every entry.
const (
	dueAfter  = 1_000
	window    = 10_000
	blockSize = 64
)

// Beginner opens transactions: a *pgxpool.Pool, a *pgx.Conn or a pgx.Tx.
type Beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// MoveCheckpoints moves the checkpoints of one platform forward by a bounded step, in
// a transaction of its own, and tells whether there was anything to do: call it until
// there is not. Any number of processes may; each takes another platform.
func (b *Books) MoveCheckpoints(ctx context.Context, db Beginner) (moved bool, err error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return false, fmt.Errorf("move checkpoints: %w", err)
	}
	defer func() {
		if rollback := tx.Rollback(ctx); rollback != nil && !errors.Is(rollback, pgx.ErrTxClosed) {
			err = errors.Join(err, rollback)
		}
	}()
	var platform [16]byte
	var from, upto int64
	err = planned(ctx, tx, nextWindow, []any{dueAfter, window}, func(rows pgx.Rows) error {
		moved = true
		return rows.Scan(&platform, &from, &upto)
	})
	if err != nil || !moved {
		return false, wrapped("move checkpoints", err)
	}
	// A step ends all of the block or none: what is committed up to upto is final,
	// because numbers follow the order of commits.
	for _, statement := range []string{closeBlocks, moveMark} {
		args := []any{platform, upto}
		if statement == closeBlocks {
			args = append(args, from, blockSize)
		}
		if err := planned(ctx, tx, statement, args, func(pgx.Rows) error { return nil }); err != nil {
			return false, wrapped("move checkpoints", err)
		}
	}
	return true, wrapped("move checkpoints", tx.Commit(ctx))
}

const (
	// Reads one row a platform.
	nextWindow = `
SELECT m.platform_id, m.seq, least(c.seq, m.seq + $2)
FROM ledger_checkpointed m JOIN ledger_clock c ON c.platform_id = m.platform_id
WHERE c.seq - m.seq >= $1
ORDER BY c.seq - m.seq DESC LIMIT 1
FOR UPDATE OF m SKIP LOCKED`

	moveMark = `UPDATE ledger_checkpointed SET seq = $2 WHERE platform_id = $1`

	// Sums the window up once an account (riding on ledger_entries_pkey and
	// ledger_posting_seq_unique), finds each account's last checkpoint
	// (ledger_checkpoints_pkey), and where there is enough for a block adds what came
	// between the two: fewer than a block's entries, or an earlier step had closed it
	// (ledger_entries_debit and _credit).
	closeBlocks = `
WITH recent AS MATERIALIZED (
    SELECT side.account_id, sum(side.amount) AS debits, sum(greatest(side.amount, 0)) AS gross, count(*) AS n, min(e.effective_at) AS earliest, max(e.effective_at) AS latest
    FROM (SELECT x.debit_account, x.credit_account, x.amount, (SELECT p.effective_at FROM ledger_postings p WHERE p.platform_id = $1 AND p.seq = x.seq) AS effective_at
          FROM ledger_entries x WHERE x.platform_id = $1 AND x.seq > $3 AND x.seq <= $2 OFFSET 0) e
    CROSS JOIN LATERAL (VALUES (e.debit_account, e.amount), (e.credit_account, -e.amount)) side (account_id, amount)
    GROUP BY side.account_id
), due AS MATERIALIZED (
    SELECT r.*, coalesce(k.seq, 0) AS since, coalesce(k.balance, 0) AS balance, k.debits AS debited
    FROM recent r
    LEFT JOIN LATERAL (
        SELECT k.seq, k.balance, k.debits FROM ledger_checkpoints k
        WHERE k.platform_id = $1 AND k.account_id = r.account_id ORDER BY k.seq DESC LIMIT 1
    ) k ON true
    WHERE r.n >= $4 OR r.n + (
        SELECT count(*) FROM (
            (SELECT FROM ledger_entries e WHERE e.platform_id = $1 AND e.debit_account = r.account_id AND e.seq > coalesce(k.seq, 0) AND e.seq <= $3 LIMIT $4)
            UNION ALL
            (SELECT FROM ledger_entries e WHERE e.platform_id = $1 AND e.credit_account = r.account_id AND e.seq > coalesce(k.seq, 0) AND e.seq <= $3 LIMIT $4)
        ) older
    ) >= $4
)
INSERT INTO ledger_checkpoints (platform_id, account_id, seq, balance, earliest, latest, debits)
SELECT $1, d.account_id, $2,
       d.balance + CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END * (d.debits + coalesce(o.debits, 0)),
       least(d.earliest, o.earliest), greatest(d.latest, o.latest),
       coalesce(d.debited, (SELECT sum(e.amount) FROM ledger_entries e
           WHERE e.platform_id = $1 AND e.debit_account = d.account_id AND e.seq <= d.since), 0) + d.gross + coalesce(o.gross, 0)
FROM due d
JOIN ledger_accounts a ON a.platform_id = $1 AND a.id = d.account_id
CROSS JOIN LATERAL (
    SELECT sum(x.amount) AS debits, sum(greatest(x.amount, 0)) AS gross, min(x.effective_at) AS earliest, max(x.effective_at) AS latest
    FROM (
        SELECT e.amount, (SELECT p.effective_at FROM ledger_postings p WHERE p.platform_id = $1 AND p.seq = e.seq)
        FROM ledger_entries e WHERE e.platform_id = $1 AND e.debit_account = d.account_id AND e.seq > d.since AND e.seq <= $3
        UNION ALL
        SELECT -e.amount, (SELECT p.effective_at FROM ledger_postings p WHERE p.platform_id = $1 AND p.seq = e.seq)
        FROM ledger_entries e WHERE e.platform_id = $1 AND e.credit_account = d.account_id AND e.seq > d.since AND e.seq <= $3
    ) x (amount, effective_at)
) o`
)

func wrapped(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
