package ledgerdb

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// Each goes through one of the tables once, and looks up in the other by its key.
const (
	auditUnindexedPostings = `
SELECT count(*), count(*) FILTER (WHERE lost), coalesce(min(seq) FILTER (WHERE lost), 0) FROM (
    SELECT p.seq, (x.seq, x.recorded_at, x.reverses) IS DISTINCT FROM (p.seq, p.recorded_at, p.reverses) AS lost
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

// IndexMismatches is as ports.AuditView says.
func (v *auditView) IndexMismatches(ctx context.Context, p ident.Platform) (places ports.AuditIndexMismatches, err error) {
	of := []any{pgUUID(p.UUID())}
	var ends pgtype.Timestamptz
	for _, ask := range []struct {
		statement string
		into      []any
	}{
		{auditUnindexedPostings, []any{&places.Postings, &places.UnindexedPostings.Count, &places.UnindexedPostings.First}},
		{auditDanglingIDs, []any{&places.DanglingIDs.Count, &places.DanglingIDs.First}},
		{auditRecordedTimeMismatches, []any{&places.RecordedTimeMismatches.Count, &places.RecordedTimeMismatches.First}},
		{auditBackdatedMismatches, []any{&places.BackdatedMismatches.Count, &places.BackdatedMismatches.First}},
		{auditMonthEnds, []any{&ends}},
	} {
		if err := queryFreshPlan(ctx, v.tx, ask.statement, of, func(rows pgx.Rows) error { return rows.Scan(ask.into...) }); err != nil {
			return places, wrapError("audit places", err)
		}
	}
	places.MonthEnd = utc(ends)
	err = queryFreshPlan(ctx, v.tx, auditMonthRanges, of, func(rows pgx.Rows) error {
		var month pgtype.Date
		var m ports.AuditMonthRange
		err := rows.Scan(&month, &m.First, &m.Lowest, &m.Highest)
		m.Month = period.MonthOf(month.Time)
		places.Months = append(places.Months, m)
		return err
	})
	return places, wrapError("audit places", err)
}
