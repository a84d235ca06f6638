package ledgerdb

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/ports"
)

// Each statement reads one table once and looks up rows of the other by key.
const (
	auditUnindexedPostings = `
SELECT count(*), count(*) FILTER (WHERE differs), coalesce(min(seq) FILTER (WHERE differs), 0) FROM (
    SELECT p.seq, (x.seq, x.recorded_at, x.reverses) IS DISTINCT FROM (p.seq, p.recorded_at, p.reverses) AS differs
    FROM ledger_postings p LEFT JOIN ledger_posting_ids x ON x.platform_id = p.platform_id AND x.id = p.id
    WHERE p.platform_id = $1
) all_postings`
	auditDanglingIDs = `
SELECT count(*), coalesce(min(x.seq), 0) FROM ledger_posting_ids x
WHERE x.platform_id = $1 AND NOT EXISTS (
    SELECT FROM ledger_postings p WHERE p.platform_id = $1 AND p.seq = x.seq AND p.recorded_at = x.recorded_at AND p.id = x.id)`
	auditRecordedTimeMismatches = `
SELECT count(*), coalesce(min(e.seq), 0) FROM ledger_entries e
WHERE e.platform_id = $1 AND NOT EXISTS (
    SELECT FROM ledger_postings p WHERE p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at)`
	auditBackdatedMismatches = `
SELECT count(DISTINCT coalesce(p.seq, y.seq)), coalesce(min(coalesce(p.seq, y.seq)), 0)
FROM (
    SELECT e.seq, e.entry_no, p.recorded_at, p.effective_at, e.debit_account_id, e.credit_account_id, e.amount
    FROM ledger_postings p JOIN ledger_entries e ON e.platform_id = $1 AND e.seq = p.seq AND e.recorded_at = p.recorded_at
    WHERE p.platform_id = $1 AND ` + backdatedCondition + `
) p
FULL JOIN (SELECT * FROM ledger_backdated_entries WHERE platform_id = $1) y
    ON y.seq = p.seq AND y.entry_no = p.entry_no AND y.recorded_at = p.recorded_at AND y.effective_at = p.effective_at
    AND y.debit_account_id = p.debit_account_id AND y.credit_account_id = p.credit_account_id AND y.amount = p.amount
WHERE p.seq IS NULL OR y.seq IS NULL`
	auditMonthRanges = `
SELECT coalesce(p.month, m.month), coalesce(m.first_seq, 0), coalesce(p.lowest, 0), coalesce(p.highest, 0)
FROM (
    SELECT date_trunc('month', recorded_at AT TIME ZONE 'UTC')::date AS month, min(seq) AS lowest, max(seq) AS highest
    FROM ledger_postings WHERE platform_id = $1 GROUP BY 1
) p
FULL JOIN (SELECT month, first_seq FROM ledger_months WHERE platform_id = $1) m ON m.month = p.month
ORDER BY 1`
	auditMonthEnds = `SELECT nullif(month_end, '-infinity') FROM ledger_clocks WHERE platform_id = $1`
)

// IndexMismatches implements ports.AuditView.
func (v *auditView) IndexMismatches(ctx context.Context, p ident.Platform) (found ports.AuditIndexMismatches, err error) {
	args := []any{p}
	for _, query := range []struct {
		statement string
		into      []any
	}{
		{auditUnindexedPostings, []any{&found.Postings, &found.UnindexedPostings.Count, &found.UnindexedPostings.First}},
		{auditDanglingIDs, []any{&found.DanglingIDs.Count, &found.DanglingIDs.First}},
		{auditRecordedTimeMismatches, []any{&found.RecordedTimeMismatches.Count, &found.RecordedTimeMismatches.First}},
		{auditBackdatedMismatches, []any{&found.BackdatedMismatches.Count, &found.BackdatedMismatches.First}},
		{auditMonthEnds, []any{&found.MonthEnd}},
	} {
		if err := queryFreshPlan(ctx, v.tx, query.statement, args, func(rows pgx.Rows) error { return rows.Scan(query.into...) }); err != nil {
			return found, wrapError("audit indexes", err)
		}
	}
	err = queryFreshPlan(ctx, v.tx, auditMonthRanges, args, func(rows pgx.Rows) error {
		var m ports.AuditMonthRange
		err := rows.Scan(&m.Month, &m.First, &m.Lowest, &m.Highest)
		found.Months = append(found.Months, m)
		return err
	})
	return found, wrapError("audit indexes", err)
}
