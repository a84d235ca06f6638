package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/period"
)

// RecordClosing implements ports.PeriodWriter. It reads what was posted since the month
// before was closed, so that the last month of many costs what the first did.
func (u *unit) RecordClosing(ctx context.Context, change period.Change, from period.Calendar) (period.Closing, error) {
	closing := period.Closing{Platform: change.Platform, Month: change.Month, At: change.At, By: change.By, Note: change.Note}
	for _, setting := range bulkReadSettings {
		u.queueExec(setting)
	}
	if err := u.flush(ctx); err != nil {
		return closing, err
	}
	begin, err := u.readLedgerPosition(ctx, &closing)
	if err != nil {
		return closing, err
	}
	of, month := pgID(change.Platform.UUID()), change.Month
	since := monthStart(month)
	if month == from.First {
		since = monthStart(period.Month{}) // everything before is what it opens with
	}
	u.queueExec(insertClosing, of, monthDate(month), pgTime(change.At), pgID(change.By.UUID()), change.Note,
		closing.Seq, closing.Digest, pgtype.Text{String: closing.Checkpoint, Valid: closing.Checkpoint != ""}, begin, pgTime(month.End()))
	u.queueExec(insertClosingLines, of, monthDate(month), pgTime(month.Start()), pgTime(month.End()), since, begin, closing.Seq, monthDate(month.Previous()))
	if err := u.flush(ctx); err != nil {
		return closing, fmt.Errorf("close %s: %w", month, err)
	}
	return closing, nil
}

// bulkReadSettings undoes, for this transaction, the settings of sessions that look rows up
// by their keys.
var bulkReadSettings = []string{
	"SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0", "SET LOCAL plan_cache_mode = force_custom_plan",
	"SET LOCAL enable_seqscan = on", "SET LOCAL enable_hashjoin = on", "SET LOCAL enable_mergejoin = on",
}

// readLedgerPosition reads with which posting and head the books stand, and the number of the
// posting with which the adding up begins.
func (u *unit) readLedgerPosition(ctx context.Context, into *period.Closing) (begin int64, err error) {
	of := pgID(into.Platform.UUID())
	err = u.query(ctx, `
		SELECT c.seq, coalesce(p.digest, (SELECT k.digest FROM ledger_closings k WHERE k.platform_id = c.platform_id AND k.seq = c.seq LIMIT 1))
		FROM ledger_clocks c
		LEFT JOIN ledger_postings p ON p.platform_id = c.platform_id AND p.seq = c.seq
		WHERE c.platform_id = $1`, []any{of}, func(rows pgx.Rows) error { return rows.Scan(&into.Seq, &into.Digest) })
	if err != nil {
		return 0, err
	}
	err = u.query(ctx, `SELECT next_month_seq FROM ledger_closings WHERE platform_id = $1 ORDER BY month DESC LIMIT 1`, []any{of},
		func(rows pgx.Rows) error { return rows.Scan(&begin) })
	if err != nil {
		return 0, err
	}
	into.Checkpoint, err = u.latestCheckpoint(ctx, into.Platform)
	return begin, err
}

// latestCheckpoint is the newest signed head of the platform's log; empty where there is none yet.
func (u *unit) latestCheckpoint(ctx context.Context, p ident.Platform) (note string, err error) {
	err = u.query(ctx, `SELECT signed_note FROM ledger_log_checkpoints WHERE platform_id = $1 ORDER BY size DESC LIMIT 1`, []any{pgID(p.UUID())},
		func(rows pgx.Rows) error { return rows.Scan(&note) })
	return note, err
}

// What follows reads along the primary keys of postings from the posting with which the month
// can begin.
const (
	insertClosing = `
INSERT INTO ledger_closings (platform_id, month, closed_at, token_id, note, seq, digest, log_checkpoint, next_month_seq)
SELECT $1, $2, $3, $4, $5, $6::bigint, $7, $8, coalesce((
    SELECT p.seq FROM ledger_postings p
    WHERE p.platform_id = $1 AND p.seq >= $9 AND p.seq <= $6::bigint AND p.effective_at >= $10
    ORDER BY p.seq LIMIT 1
), $6::bigint + 1)`

	insertClosingLines = `
WITH moved AS (
    SELECT x.account_id,
           coalesce(sum(x.debit - x.credit) FILTER (WHERE p.effective_at < $3), 0) AS before,
           coalesce(sum(x.debit) FILTER (WHERE p.effective_at >= $3), 0) AS debits,
           coalesce(sum(x.credit) FILTER (WHERE p.effective_at >= $3), 0) AS credits
    FROM ledger_postings p
    JOIN ledger_entries e ON e.platform_id = p.platform_id AND e.seq = p.seq AND e.recorded_at = p.recorded_at
    CROSS JOIN LATERAL (VALUES (e.debit_account_id, e.amount, 0::bigint), (e.credit_account_id, 0::bigint, e.amount)) x (account_id, debit, credit)
    WHERE p.platform_id = $1 AND p.seq >= $6 AND p.seq <= $7 AND p.effective_at < $4 AND p.effective_at >= $5
    GROUP BY x.account_id
), lines AS (
    SELECT a.id, CASE WHEN a.class IN ('asset', 'expense') THEN 1 ELSE -1 END AS sign,
           b.closing AS carried, coalesce(m.before, 0) AS before, coalesce(m.debits, 0) AS debits, coalesce(m.credits, 0) AS credits
    FROM ledger_accounts a
    LEFT JOIN ledger_closing_lines b ON b.platform_id = a.platform_id AND b.month = $8 AND b.account_id = a.id
    LEFT JOIN moved m ON m.account_id = a.id
    WHERE a.platform_id = $1 AND (b.account_id IS NOT NULL OR m.account_id IS NOT NULL)
)
INSERT INTO ledger_closing_lines (platform_id, month, account_id, opening, debits, credits, closing)
SELECT $1, $2, l.id, o.opening, l.debits, l.credits, o.opening + l.sign * (l.debits - l.credits)
FROM lines l
CROSS JOIN LATERAL (SELECT coalesce(l.carried, l.sign * l.before) AS opening) o`
)
