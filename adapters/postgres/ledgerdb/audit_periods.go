package ledgerdb

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

const (
	auditMonths = `SELECT nullif(closed_before, '-infinity'), nullif(soft_closed_before, '-infinity') FROM ledger_clocks WHERE platform_id = $1`

	// Each posting is compared with the last closing before it, whose month is the latest:
	// one pass along the primary keys, whatever the number of months.
	auditClosings = `
SELECT k.month, k.closed_at, k.seq, k.digest, d.digest, i.many, coalesce(i.first, 0)
FROM (
    SELECT k.*, lead(k.seq, 1, 9223372036854775807) OVER (ORDER BY k.month) AS upto, (k.month + interval '1 month') AT TIME ZONE 'UTC' AS ends
    FROM ledger_closings k
    WHERE k.platform_id = $1
) k
LEFT JOIN ledger_postings d ON d.platform_id = $1 AND d.seq = k.seq
CROSS JOIN LATERAL (
    SELECT count(*) AS many, min(p.seq) AS first FROM ledger_postings p
    WHERE p.platform_id = $1 AND p.seq > k.seq AND p.seq <= k.upto AND p.effective_at < k.ends
) i
ORDER BY k.month`

	auditMonthLines = `
SELECT coalesce(t.account_id, l.account_id), coalesce(t.month, l.month), a.path, a.currency, a.class,
       coalesce(t.debits, 0)::text, coalesce(t.credits, 0)::text, l.account_id IS NOT NULL, l.opening::text, l.debits::text, l.credits::text, l.closing::text
FROM (
    SELECT x.account_id, greatest(date_trunc('month', p.effective_at AT TIME ZONE 'UTC')::date, $2::date) AS month,
           sum(x.debit) AS debits, sum(x.credit) AS credits
    FROM ledger_postings p
    JOIN ledger_entries e ON e.platform_id = p.platform_id AND e.seq = p.seq AND e.recorded_at = p.recorded_at
    CROSS JOIN LATERAL (VALUES (e.debit_account_id, e.amount, 0::bigint), (e.credit_account_id, 0::bigint, e.amount)) x (account_id, debit, credit)
    WHERE p.platform_id = $1 AND p.effective_at < $3
    GROUP BY 1, 2
) t
FULL JOIN (SELECT * FROM ledger_closing_lines WHERE platform_id = $1) l ON l.account_id = t.account_id AND l.month = t.month
LEFT JOIN ledger_accounts a ON a.platform_id = $1 AND a.id = CASE WHEN t.account_id IS NOT NULL THEN t.account_id ELSE l.account_id END
ORDER BY 1, 2`
)

// Months implements ports.AuditView.
func (v *auditView) Months(ctx context.Context, p ident.Platform) (m ports.AuditMonths, err error) {
	err = queryFreshPlan(ctx, v.tx, auditMonths, []any{p}, func(rows pgx.Rows) error {
		var closed, open time.Time
		if err := rows.Scan(&closed, &open); err != nil {
			return err
		}
		if !closed.IsZero() {
			m.FirstUnclosed = period.MonthOf(closed)
		}
		if !open.IsZero() {
			m.FirstOpen = period.MonthOf(open)
		}
		return nil
	})
	if err != nil {
		return m, wrapError("audit months", err)
	}
	err = queryFreshPlan(ctx, v.tx, auditClosings, []any{p}, func(rows pgx.Rows) error {
		c := ports.AuditClosing{Closing: period.Closing{Platform: p}}
		err := rows.Scan(&c.Month, &c.At, &c.Seq, &c.Digest, &c.TrueDigest, &c.LatePostings, &c.FirstLatePosting)
		m.Closings = append(m.Closings, c)
		return err
	})
	return m, wrapError("audit months", err)
}

// Uses ledger_closings_pkey.
const auditClosingCheckpoints = `SELECT month, log_checkpoint FROM ledger_closings WHERE platform_id = $1 AND log_checkpoint IS NOT NULL ORDER BY month`

// ClosingCheckpoints implements ports.AuditView.
func (v *auditView) ClosingCheckpoints(ctx context.Context, p ident.Platform) (closings []period.Closing, err error) {
	err = queryFreshPlan(ctx, v.tx, auditClosingCheckpoints, []any{p}, func(rows pgx.Rows) error {
		c := period.Closing{Platform: p}
		err := rows.Scan(&c.Month, &c.Checkpoint)
		closings = append(closings, c)
		return err
	})
	return closings, wrapError("audit months", err)
}

// MonthLines implements ports.AuditView. The database sorts on disk what does not fit into
// its memory.
func (v *auditView) MonthLines(ctx context.Context, p ident.Platform, m ports.AuditMonths, each func(ports.AuditMonthLine) error) error {
	before := pgtype.Date{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	end := pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	if n := len(m.Closings); n > 0 {
		before = pgtype.Date{Time: m.Closings[0].Month.Previous().Start(), Valid: true}
		end = pgtype.Timestamptz{Time: m.Closings[n-1].Month.End(), Valid: true}
	}
	err := queryFreshPlan(ctx, v.tx, auditMonthLines, []any{p, before, end}, func(rows pgx.Rows) error {
		line, err := scanMonthLine(rows, p)
		if err != nil {
			return err
		}
		return each(line)
	})
	return wrapError("audit months", err)
}

func scanMonthLine(rows pgx.Rows, p ident.Platform) (line ports.AuditMonthLine, err error) {
	line.Account.Platform = p
	err = rows.Scan(&line.Number, &line.Month, schema.Optional(&line.Account.Path), schema.Optional(&line.Account.Currency),
		schema.Optional(&line.Class), &line.TrueDebits, &line.TrueCredits,
		&line.Stored, &line.Line.Opening, &line.Line.Debits, &line.Line.Credits, &line.Line.Closing)
	line.Line.Account, line.Line.Class = line.Account, line.Class
	return line, err
}

const (
	auditMonthChanges = `SELECT month, action, changed_at FROM ledger_period_changes WHERE platform_id = $1 ORDER BY id`

	// Each posting was recorded between two changes, so the calls for all changes together
	// read the postings once, by the primary keys.
	auditUnauthorised = `
SELECT count(*), coalesce(min(p.seq), 0) FROM ledger_postings p
WHERE p.platform_id = $1 AND p.seq > ledger_seq_at($1, $2) AND p.seq <= ledger_seq_at($1, $3) AND p.effective_at >= $4 AND p.effective_at < $6
  AND (p.effective_at < $5 OR NOT EXISTS (SELECT FROM ledger_authorisations a WHERE a.platform_id = $1 AND a.posting_id = p.id))`
)

// MonthChanges implements ports.AuditView.
func (v *auditView) MonthChanges(ctx context.Context, p ident.Platform) (changes []period.Change, err error) {
	err = queryFreshPlan(ctx, v.tx, auditMonthChanges, []any{p}, func(rows pgx.Rows) error {
		c := period.Change{Platform: p}
		err := rows.Scan(&c.Month, &c.Action, &c.At)
		changes = append(changes, c)
		return err
	})
	return changes, wrapError("audit months", err)
}

// Unauthorised implements ports.AuditView.
func (v *auditView) Unauthorised(ctx context.Context, p ident.Platform, c ports.AuditCalendar) (count, first int64, err error) {
	args := []any{p, c.Recorded.BeforeFrom(), timeOrInfinity(c.Recorded.Last(), pgtype.Infinity),
		timeOrInfinity(c.After, pgtype.NegativeInfinity), c.AuthorisedFrom, c.OpenFrom}
	err = queryFreshPlan(ctx, v.tx, auditUnauthorised, args, func(rows pgx.Rows) error { return rows.Scan(&count, &first) })
	return count, first, wrapError("audit months", err)
}

// Uses ledger_postings_by_rare_kind and the primary key of ledger_authorisations.
const auditAdjustments = `
SELECT p.seq, p.id, p.kind, p.memo, a.note
FROM ledger_postings p
LEFT JOIN ledger_authorisations a ON a.platform_id = p.platform_id AND a.posting_id = p.id
WHERE p.platform_id = $1 AND p.kind IN ('adjustment', 'opening_balances') AND ` + RareKindsCondition + ` AND p.seq > $2
ORDER BY p.seq LIMIT $3`

// Adjustments implements ports.AuditView.
func (v *auditView) Adjustments(ctx context.Context, p ident.Platform, each func(ports.AuditAdjustment) error) error {
	for after := int64(math.MinInt64); ; {
		var batch []ports.AuditAdjustment
		err := queryFreshPlan(ctx, v.tx, auditAdjustments, []any{p, after, auditBatchSize}, func(rows pgx.Rows) error {
			var a ports.AuditAdjustment
			var note *string
			err := rows.Scan(&a.Seq, &a.Posting, &a.Kind, &a.Memo, &note)
			if a.Authorised = note != nil; a.Authorised {
				a.Authorisation.Note = *note
			}
			batch = append(batch, a)
			return err
		})
		if err != nil {
			return wrapError("audit adjustments", err)
		}
		for _, a := range batch {
			if err := each(a); err != nil {
				return err
			}
		}
		if len(batch) < auditBatchSize {
			return nil
		}
		after = batch[len(batch)-1].Seq
	}
}
