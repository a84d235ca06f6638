package ledgerdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// How snapshots are created. A platform is due when it is snapshotLag postings behind, and
// at most snapshotWindow postings are processed at a time. An account gets a snapshot when
// minBlockEntries of its entries are in none. So a busy account gets one in each window,
// and a quiet account does not get a row for every entry. A window ends at the end of a
// month at the latest; then every account with entries in no snapshot gets one,
// monthEndBatchSize accounts at a time.
const (
	snapshotLag       = 1_000
	snapshotWindow    = 1_250
	minBlockEntries   = 64
	monthEndBatchSize = 2_000
)

// TxBeginner opens transactions: a *pgxpool.Pool, a *pgx.Conn or a pgx.Tx.
type TxBeginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// AdvanceBalanceSnapshots creates the snapshots of one bounded step of one platform, in a
// transaction of its own, and reports whether there was anything to do. The caller repeats
// it until it returns false. Any number of processes may call it at the same time; each
// works on another platform.
func (s *Store) AdvanceBalanceSnapshots(ctx context.Context, db TxBeginner) (advanced bool, err error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return false, fmt.Errorf("create balance snapshots: %w", err)
	}
	defer func() {
		if rollback := tx.Rollback(ctx); rollback != nil && !errors.Is(rollback, pgx.ErrTxClosed) {
			err = errors.Join(err, rollback)
		}
	}()
	var step snapshotStep
	err = queryFreshPlan(ctx, tx, selectNextStep, []any{snapshotLag}, func(rows pgx.Rows) (err error) {
		advanced = true
		return step.scan(rows)
	})
	if err != nil || !advanced {
		return false, wrapError("create balance snapshots", err)
	}
	if step.atMonthEnd() {
		err = step.writeMonthEnd(ctx, tx)
	} else {
		err = step.writeWindow(ctx, tx)
	}
	if err != nil {
		return false, wrapError("create balance snapshots", err)
	}
	return true, wrapError("create balance snapshots", tx.Commit(ctx))
}

// snapshotStep is the progress of a platform's snapshots.
type snapshotStep struct {
	platform   [16]byte
	seq        int64 // the last posting processed
	last       int64 // the last posting of the platform
	accountsTo int64 // the last account that has its snapshot at the end of the month
	completeTo pgtype.Timestamptz

	monthEnd    pgtype.Timestamptz // end of the first month that is over and incomplete; NULL if there is none
	monthEndSeq pgtype.Int8        // the last posting of that month
}

func (s *snapshotStep) scan(rows pgx.Rows) error {
	return rows.Scan(&s.platform, &s.seq, &s.last, &s.accountsTo, &s.completeTo, &s.monthEnd, &s.monthEndSeq)
}

// atMonthEnd reports whether all postings of the month are processed, so that the accounts
// get their snapshots at its end.
func (s *snapshotStep) atMonthEnd() bool { return s.monthEndSeq.Valid && s.monthEndSeq.Int64 <= s.seq }

// writeWindow processes the next window of postings. Postings up to a committed number are
// final, because numbers follow the order of commits. All entries in no snapshot are of the
// months after the last complete one.
func (s *snapshotStep) writeWindow(ctx context.Context, tx pgx.Tx) error {
	upto, until := min(s.last, s.seq+snapshotWindow), pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}
	if s.monthEndSeq.Valid && s.monthEndSeq.Int64 <= upto {
		upto, until = s.monthEndSeq.Int64, s.monthEnd
	}
	if err := execFreshPlan(ctx, tx, insertBlockSnapshots, s.platform, upto, s.seq, minBlockEntries, s.completeTo, until); err != nil {
		return err
	}
	return execFreshPlan(ctx, tx, updateSnapshotSeq, s.platform, upto)
}

// writeMonthEnd creates snapshots at the end of a month for the next accounts, or marks the
// month complete after the last account.
func (s *snapshotStep) writeMonthEnd(ctx context.Context, tx pgx.Tx) error {
	var lastAccount pgtype.Int8
	args := []any{s.platform, s.monthEndSeq.Int64, s.accountsTo, monthEndBatchSize, s.completeTo, s.monthEnd}
	if err := queryFreshPlan(ctx, tx, insertMonthEndSnapshots, args,
		func(rows pgx.Rows) error { return rows.Scan(&lastAccount) }); err != nil {
		return err
	}
	if lastAccount.Valid {
		return execFreshPlan(ctx, tx, updateSnapshotAccounts, s.platform, lastAccount.Int64)
	}
	return execFreshPlan(ctx, tx, updateSnapshotMonth, s.platform, s.monthEnd)
}

// execFreshPlan is queryFreshPlan for statements without rows.
func execFreshPlan(ctx context.Context, q Querier, statement string, args ...any) error {
	return queryFreshPlan(ctx, q, statement, args, func(pgx.Rows) error { return nil })
}

const (
	// Reads one row a platform.
	selectNextStep = `
SELECT m.platform_id, m.seq, c.seq, m.last_account_id, m.months_complete_before, n.month::timestamp AT TIME ZONE 'UTC', n.first_seq - 1
FROM ledger_snapshot_progress m
JOIN ledger_clocks c ON c.platform_id = m.platform_id
LEFT JOIN LATERAL (
    SELECT n.month, n.first_seq FROM ledger_months n
    WHERE n.platform_id = m.platform_id AND n.month > (m.months_complete_before AT TIME ZONE 'UTC')::date AND n.first_seq > 1 ORDER BY n.month LIMIT 1
) n ON true
WHERE c.seq - m.seq >= $1 OR n.month IS NOT NULL
ORDER BY c.seq - m.seq DESC LIMIT 1
FOR UPDATE OF m SKIP LOCKED`

	updateSnapshotSeq      = `UPDATE ledger_snapshot_progress SET seq = $2 WHERE platform_id = $1`
	updateSnapshotAccounts = `UPDATE ledger_snapshot_progress SET last_account_id = $2 WHERE platform_id = $1`
	updateSnapshotMonth    = `UPDATE ledger_snapshot_progress SET months_complete_before = $2, last_account_id = 0 WHERE platform_id = $1`

	// Sums for each account of a step (ledger_accounts_pkey) the entries after its last
	// snapshot (ledger_balance_snapshots_pkey, ledger_entries_by_debit_account and
	// ledger_entries_by_credit_account).
	insertMonthEndSnapshots = `
WITH step AS MATERIALIZED (
    SELECT a.id, CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END AS sign
    FROM ledger_accounts a WHERE a.platform_id = $1 AND a.id > $3 ORDER BY a.id LIMIT $4
), inserted AS (
    INSERT INTO ledger_balance_snapshots (platform_id, account_id, seq, balance, earliest_effective_at, latest_effective_at, debit_total)
    SELECT $1, s.id, $2, coalesce(k.balance, 0) + s.sign * x.debits, x.earliest, x.latest, coalesce(k.debit_total, 0) + x.gross
    FROM step s
    LEFT JOIN LATERAL (
        SELECT k.seq, k.balance, k.debit_total FROM ledger_balance_snapshots k
        WHERE k.platform_id = $1 AND k.account_id = s.id ORDER BY k.seq DESC LIMIT 1
    ) k ON true
    CROSS JOIN LATERAL (
        SELECT sum(y.amount) AS debits, sum(greatest(y.amount, 0)) AS gross, min(p.effective_at) AS earliest, max(p.effective_at) AS latest
        FROM (
            SELECT e.seq, e.recorded_at, e.amount FROM ledger_entries e
            WHERE e.platform_id = $1 AND e.debit_account_id = s.id AND e.seq > greatest(k.seq, 0) AND e.seq <= $2 AND e.recorded_at >= $5 AND e.recorded_at < $6
            UNION ALL
            SELECT e.seq, e.recorded_at, -e.amount FROM ledger_entries e
            WHERE e.platform_id = $1 AND e.credit_account_id = s.id AND e.seq > greatest(k.seq, 0) AND e.seq <= $2 AND e.recorded_at >= $5 AND e.recorded_at < $6
        ) y
        JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = y.seq AND p.recorded_at = y.recorded_at AND p.recorded_at >= $5 AND p.recorded_at < $6
    ) x
    WHERE x.debits IS NOT NULL
)
SELECT max(s.id) FROM step s`

	// Sums the window for each account (primary keys of entries and postings) and finds each
	// account's last snapshot (ledger_balance_snapshots_pkey). If there are enough entries
	// for a block, it adds the entries between the two; they are fewer than a block, or an
	// earlier step would have ended one (ledger_entries_by_debit_account and
	// ledger_entries_by_credit_account).
	insertBlockSnapshots = `
WITH recent AS MATERIALIZED (
    SELECT side.account_id, sum(side.amount) AS debits, sum(greatest(side.amount, 0)) AS gross, count(*) AS n, min(e.effective_at) AS earliest, max(e.effective_at) AS latest
    FROM (SELECT x.debit_account_id, x.credit_account_id, x.amount, (SELECT p.effective_at FROM ledger_postings p
              WHERE p.platform_id = $1 AND p.seq = x.seq AND p.recorded_at = x.recorded_at AND p.recorded_at >= $5 AND p.recorded_at < $6) AS effective_at
          FROM ledger_entries x WHERE x.platform_id = $1 AND x.seq > $3 AND x.seq <= $2 AND x.recorded_at >= $5 AND x.recorded_at < $6 OFFSET 0) e
    CROSS JOIN LATERAL (VALUES (e.debit_account_id, e.amount), (e.credit_account_id, -e.amount)) side (account_id, amount)
    GROUP BY side.account_id
), due AS MATERIALIZED (
    SELECT r.*, coalesce(k.seq, 0) AS since, coalesce(k.balance, 0) AS balance, coalesce(k.debit_total, 0) AS debited
    FROM recent r
    LEFT JOIN LATERAL (
        SELECT k.seq, k.balance, k.debit_total FROM ledger_balance_snapshots k
        WHERE k.platform_id = $1 AND k.account_id = r.account_id ORDER BY k.seq DESC LIMIT 1
    ) k ON true
    WHERE r.n >= $4 OR r.n + (
        SELECT count(*) FROM (
            (SELECT FROM ledger_entries e WHERE e.platform_id = $1 AND e.debit_account_id = r.account_id AND e.seq > greatest(k.seq, 0) AND e.seq <= $3
                AND e.recorded_at >= $5 AND e.recorded_at < $6 LIMIT $4)
            UNION ALL
            (SELECT FROM ledger_entries e WHERE e.platform_id = $1 AND e.credit_account_id = r.account_id AND e.seq > greatest(k.seq, 0) AND e.seq <= $3
                AND e.recorded_at >= $5 AND e.recorded_at < $6 LIMIT $4)
        ) older
    ) >= $4
)
INSERT INTO ledger_balance_snapshots (platform_id, account_id, seq, balance, earliest_effective_at, latest_effective_at, debit_total)
SELECT $1, d.account_id, $2,
       d.balance + CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END * (d.debits + coalesce(o.debits, 0)),
       least(d.earliest, o.earliest), greatest(d.latest, o.latest),
       d.debited + d.gross + coalesce(o.gross, 0)
FROM due d
JOIN ledger_accounts a ON a.platform_id = $1 AND a.id = d.account_id
CROSS JOIN LATERAL (
    SELECT sum(x.amount) AS debits, sum(greatest(x.amount, 0)) AS gross, min(x.effective_at) AS earliest, max(x.effective_at) AS latest
    FROM (
        SELECT e.amount, (SELECT p.effective_at FROM ledger_postings p
            WHERE p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at AND p.recorded_at >= $5 AND p.recorded_at < $6)
        FROM ledger_entries e WHERE e.platform_id = $1 AND e.debit_account_id = d.account_id AND e.seq > d.since AND e.seq <= $3 AND e.recorded_at >= $5 AND e.recorded_at < $6
        UNION ALL
        SELECT -e.amount, (SELECT p.effective_at FROM ledger_postings p
            WHERE p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at AND p.recorded_at >= $5 AND p.recorded_at < $6)
        FROM ledger_entries e WHERE e.platform_id = $1 AND e.credit_account_id = d.account_id AND e.seq > d.since AND e.seq <= $3 AND e.recorded_at >= $5 AND e.recorded_at < $6
    ) x (amount, effective_at)
) o`
)

func wrapError(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
