package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/core/reconcile"
)

// selectExplanation adds up what explains the difference between a partner's balance at the end of a
// day ($4) and the ledger's, as of a run ($6) or its import. Uses reconciliation_breaks_by_account,
// reconciliation_lines_by_value_date, reconciliation_lines_by_reconciliation, those by match and primary keys.
//
// The amount of the entry of a break is that of its line less the difference; a posting or a correction
// whose month is archived took effect long ago. Days of a match differ by 5 at most, and the day of a line is its
// booking day or, at most 31 days from that, its value date (reconcile.Line.ComparedDays). So a line that was booked
// until the day is matched with a later entry only if one of these is later than 5 days before, and
// the other way round. Its lines and entries have one sum: those until the day differ by as much as
// those after it.
const selectExplanation = `
	WITH breaks AS (
		SELECT r.break_id IS NULL AS is_open,
			CASE WHEN l.booking_date <= $4 THEN l.amount ELSE 0 END
			- CASE WHEN b.seq IS NOT NULL AND (p.seq IS NULL OR p.effective_at < $5) THEN CASE WHEN l.id IS NULL THEN 0 ELSE l.amount END - b.difference ELSE 0 END
			- CASE WHEN r.method = 'POSTING' AND (c.seq IS NULL OR c.effective_at < $5) THEN b.difference ELSE 0 END AS amount
		FROM reconciliation_breaks b
		LEFT JOIN reconciliation_resolutions r ON r.platform_id = b.platform_id AND r.break_id = b.id
		LEFT JOIN reconciliation_lines l ON l.platform_id = b.platform_id AND l.id = b.line_id
		LEFT JOIN ledger_postings p ON p.platform_id = b.platform_id AND p.seq = b.seq
		LEFT JOIN ledger_posting_ids i ON i.platform_id = r.platform_id AND i.id = r.posting_id
		LEFT JOIN ledger_postings c ON c.platform_id = i.platform_id AND c.seq = i.seq AND c.recorded_at = i.recorded_at
		WHERE b.platform_id = $1 AND b.account = $2 AND b.currency = $3 AND (r.break_id IS NULL OR r.method IN ('NOTE', 'POSTING'))
	), lines AS (
		SELECT l.id, l.booking_date, l.value_date FROM reconciliation_lines l
		WHERE l.platform_id = $1 AND l.account = $2 AND l.currency = $3 AND l.value_date BETWEEN $4::date - 36 AND $4::date + 36
		UNION ALL
		SELECT l.id, l.booking_date, l.value_date
		FROM (
			SELECT r.id FROM reconciliations r
			WHERE r.platform_id = $1 AND r.account = $2 AND r.currency = $3 AND r.first_day <= $4::date + 5 AND r.last_day > $4::date - 5
			UNION SELECT $6
		) r
		JOIN reconciliation_lines l ON l.platform_id = $1 AND l.reconciliation_id = r.id
		WHERE l.booking_date BETWEEN $4::date - 5 AND $4::date + 5 AND l.value_date NOT BETWEEN $4::date - 36 AND $4::date + 36
	), matches AS (
		SELECT DISTINCT m.id
		FROM lines l
		JOIN reconciliation_matched_lines ml ON ml.platform_id = $1 AND ml.line_id = l.id
		JOIN reconciliation_matches m ON m.platform_id = $1 AND m.id = ml.match_id
		WHERE (l.booking_date <= $4 AND greatest(l.booking_date, l.value_date) > $4::date - 5
				OR l.booking_date > $4 AND least(l.booking_date, l.value_date) <= $4::date + 5)
			AND (m.day_difference > 0 OR (l.value_date > $4) <> (l.booking_date > $4))
	), later AS (
		SELECT
			(SELECT sum(CASE WHEN e.debit_account_id = a.id THEN e.amount ELSE -e.amount END)
			FROM matches m
			JOIN reconciliation_matched_entries me ON me.platform_id = $1 AND me.match_id = m.id
			JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = me.seq AND p.effective_at >= $5
			JOIN ledger_entries e ON e.platform_id = $1 AND e.seq = me.seq AND e.entry_no = me.entry_no AND e.recorded_at = p.recorded_at
			JOIN ledger_accounts a ON a.platform_id = $1 AND a.path = $2 AND a.currency = $3) AS entries,
			(SELECT sum(l.amount)
			FROM matches m
			JOIN reconciliation_matched_lines ml ON ml.platform_id = $1 AND ml.match_id = m.id
			JOIN reconciliation_lines l ON l.platform_id = $1 AND l.id = ml.line_id AND l.booking_date > $4) AS lines
	)
	SELECT
		(SELECT coalesce(sum(amount) FILTER (WHERE is_open), 0)::bigint FROM breaks),
		(SELECT coalesce(entries, 0) - coalesce(lines, 0) FROM later)::bigint,
		(SELECT coalesce(sum(amount) FILTER (WHERE NOT is_open), 0)::bigint FROM breaks)`

func explanationArguments(run reconcile.Run) []any {
	a := run.Account
	return []any{a.Platform, a.Path, a.Currency, run.To.Start(), (run.To + 1).Start(), run.ID}
}

func scanExplanation(b *reconcile.BalanceComparison) func(pgx.Rows) error {
	return func(rows pgx.Rows) error { return rows.Scan(&b.OpenBreaks, &b.OtherDay, &b.Resolved) }
}

// ExplainBalance reads with what the unit of work has written.
func (u *Unit) ExplainBalance(ctx context.Context, run reconcile.Run) (b reconcile.BalanceComparison, err error) {
	err = u.query(ctx, selectExplanation, explanationArguments(run), scanExplanation(&b))
	return b, err
}

// ExplainBalance reads what is committed.
func (db *DB) ExplainBalance(ctx context.Context, run reconcile.Run) (b reconcile.BalanceComparison, err error) {
	err = db.queryRows(ctx, selectExplanation, explanationArguments(run), scanExplanation(&b))
	return b, err
}
