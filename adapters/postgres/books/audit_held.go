package books

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

	// What is effective in a month that is over was recorded after it: long after, and then
	// it is found along ledger_postings_astray, or within seconds of its end, and then it
	// is among the few postings between two numbers, by the primary keys.
	auditHeld = `
SELECT count(*), coalesce(min(c.seq), 0) FROM (
    SELECT p.seq, p.id, p.effective_at FROM ledger_postings p
    WHERE p.platform_id = $1 AND p.recorded_at > $2 AND p.recorded_at <= $3 AND p.effective_at >= $4 AND p.effective_at < $6
        AND p.recorded_at - p.effective_at > interval '10 seconds' AND ` + astray + `
    UNION ALL
    SELECT p.seq, p.id, p.effective_at FROM ledger_postings p
    WHERE p.platform_id = $1 AND p.seq > ledger_seq_at($1, $2) AND p.seq <= ledger_seq_at($1, least($3, $6 + interval '10 seconds'))
        AND p.recorded_at > $2 AND p.recorded_at <= least($3, $6 + interval '10 seconds') AND p.effective_at >= $4 AND p.effective_at < $6
        AND p.recorded_at - p.effective_at <= interval '10 seconds'
) c
WHERE c.effective_at < $5 OR NOT EXISTS (SELECT FROM ledger_authorisations a WHERE a.platform_id = $1 AND a.posting_id = c.id)`
)

// MonthChanges is as ports.AuditView says.
func (v *auditView) MonthChanges(ctx context.Context, p ident.Platform) (changes []period.Change, err error) {
	err = planned(ctx, v.tx, auditMonthChanges, []any{dbID(p.UUID())}, func(rows pgx.Rows) error {
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
	return changes, wrapped("audit months", err)
}

// Unauthorised is as ports.AuditView says.
func (v *auditView) Unauthorised(ctx context.Context, p ident.Platform, h ports.AuditHeld) (many, first int64, err error) {
	args := []any{dbID(p.UUID()), h.From, atOr(h.To, pgtype.Infinity), atOr(h.After, pgtype.NegativeInfinity), h.Closed, h.Open}
	err = planned(ctx, v.tx, auditHeld, args, func(rows pgx.Rows) error { return rows.Scan(&many, &first) })
	return many, first, wrapped("audit months", err)
}
