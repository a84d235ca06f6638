package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/period"
)

// RecordClosing implements accounting.Tx. It reads the postings since the previous
// month was closed, so that its cost does not grow with the number of months.
func (u *Unit) RecordClosing(ctx context.Context, change period.Change, from period.Calendar) (period.Closing, error) {
	closing := period.Closing{Platform: change.Platform, Month: change.Month, At: change.At, By: change.By, Note: change.Note}
	for _, setting := range bulkReadSettings {
		u.queueExec(setting)
	}
	if err := u.flush(ctx); err != nil {
		return closing, err
	}
	firstSeq, err := u.readLedgerPosition(ctx, &closing)
	if err != nil {
		return closing, err
	}
	platform, month := change.Platform, change.Month
	effectiveFrom := monthStart(month)
	if month == from.First {
		effectiveFrom = monthStart(period.Month{}) // the opening balance includes all earlier postings
	}
	u.queueExec(insertClosing, platform, month, change.At, change.By.Token, change.Note,
		closing.Seq, closing.Digest, schema.Optional(&closing.Checkpoint), firstSeq, month.End())
	u.queueExec(insertClosingLines, platform, month, month.Start(), month.End(), effectiveFrom, firstSeq, closing.Seq, month.Previous())
	if err := u.flush(ctx); err != nil {
		return closing, fmt.Errorf("close %s: %w", month, err)
	}
	return closing, nil
}

// bulkReadSettings restores the planner's defaults for this transaction, which reads many rows.
var bulkReadSettings = []string{
	"SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 60000",
	"SET LOCAL plan_cache_mode = force_custom_plan",
	"SET LOCAL enable_seqscan = on", "SET LOCAL enable_hashjoin = on", "SET LOCAL enable_mergejoin = on",
}

// readLedgerPosition reads the last posting and the newest log checkpoint, and returns the
// number of the first posting to include in the totals.
func (u *Unit) readLedgerPosition(ctx context.Context, closing *period.Closing) (firstSeq int64, err error) {
	platform := closing.Platform
	err = u.query(ctx, `
		SELECT c.seq, coalesce(p.digest, (SELECT k.digest FROM ledger_closings k WHERE k.platform_id = c.platform_id AND k.seq = c.seq LIMIT 1))
		FROM ledger_clocks c
		LEFT JOIN ledger_postings p ON p.platform_id = c.platform_id AND p.seq = c.seq
		WHERE c.platform_id = $1`, []any{platform}, func(rows pgx.Rows) error { return rows.Scan(&closing.Seq, &closing.Digest) })
	if err != nil {
		return 0, err
	}
	err = u.query(ctx, `SELECT next_month_seq FROM ledger_closings WHERE platform_id = $1 ORDER BY month DESC LIMIT 1`, []any{platform},
		func(rows pgx.Rows) error { return rows.Scan(&firstSeq) })
	if err != nil {
		return 0, err
	}
	closing.Checkpoint, err = u.latestCheckpoint(ctx, closing.Platform)
	return firstSeq, err
}

// latestCheckpoint returns the newest signed checkpoint of the platform's log; empty if there is
// none.
func (u *Unit) latestCheckpoint(ctx context.Context, p ident.Platform) (note string, err error) {
	err = u.query(ctx, `SELECT signed_note FROM ledger_log_checkpoints WHERE platform_id = $1 ORDER BY size DESC LIMIT 1`, []any{p},
		func(rows pgx.Rows) error { return rows.Scan(&note) })
	return note, err
}

// These statements read postings by primary key from the first one that can belong to the
// month.
const (
	insertClosing = `
INSERT INTO ledger_closings (platform_id, month, closed_at, token_id, note, seq, digest, log_checkpoint, next_month_seq)
SELECT $1, $2, $3, $4, $5, $6::bigint, $7, $8, coalesce((
    SELECT p.seq FROM ledger_postings p
    WHERE p.platform_id = $1 AND p.seq >= $9 AND p.seq <= $6::bigint AND p.effective_at >= $10
    ORDER BY p.seq LIMIT 1
), $6::bigint + 1)`

	insertClosingLines = `
WITH changes AS (
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
    LEFT JOIN changes m ON m.account_id = a.id
    WHERE a.platform_id = $1 AND (b.account_id IS NOT NULL OR m.account_id IS NOT NULL)
)
INSERT INTO ledger_closing_lines (platform_id, month, account_id, opening, debits, credits, closing)
SELECT $1, $2, l.id, o.opening, l.debits, l.credits, o.opening + l.sign * (l.debits - l.credits)
FROM lines l
CROSS JOIN LATERAL (SELECT coalesce(l.carried, l.sign * l.before) AS opening) o`
)
