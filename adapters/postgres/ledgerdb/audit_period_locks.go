package ledgerdb

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

const (
	auditMonthChanges = `SELECT month, action, changed_at FROM ledger_period_changes WHERE platform_id = $1 ORDER BY id`

	// Each posting was recorded between two changes: all questions together read the
	// postings once, by the primary keys.
	auditUnauthorised = `
SELECT count(*), coalesce(min(p.seq), 0) FROM ledger_postings p
WHERE p.platform_id = $1 AND p.seq > ledger_seq_at($1, $2) AND p.seq <= ledger_seq_at($1, $3) AND p.effective_at >= $4 AND p.effective_at < $6
  AND (p.effective_at < $5 OR NOT EXISTS (SELECT FROM ledger_authorisations a WHERE a.platform_id = $1 AND a.posting_id = p.id))`
)

// MonthChanges is as ports.AuditView says.
func (v *auditView) MonthChanges(ctx context.Context, p ident.Platform) (changes []period.Change, err error) {
	err = queryFreshPlan(ctx, v.tx, auditMonthChanges, []any{pgUUID(p.UUID())}, func(rows pgx.Rows) error {
		c := period.Change{Platform: p}
		var month pgtype.Date
		var at pgtype.Timestamptz
		if err := rows.Scan(&month, &c.Action, &at); err != nil {
			return err
		}
		c.Month, c.At = period.MonthOf(month.Time), utc(at)
		changes = append(changes, c)
		return nil
	})
	return changes, wrapError("audit months", err)
}

// Unauthorised is as ports.AuditView says.
func (v *auditView) Unauthorised(ctx context.Context, p ident.Platform, c ports.AuditCalendar) (many, first int64, err error) {
	args := []any{pgUUID(p.UUID()), c.Recorded.BeforeFrom(), timeOrInfinity(c.Recorded.Last(), pgtype.Infinity), timeOrInfinity(c.After, pgtype.NegativeInfinity), c.AuthorisedFrom, c.OpenFrom}
	err = queryFreshPlan(ctx, v.tx, auditUnauthorised, args, func(rows pgx.Rows) error { return rows.Scan(&many, &first) })
	return many, first, wrapError("audit months", err)
}
