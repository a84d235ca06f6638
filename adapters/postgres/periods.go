package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/period"
)

// Advisory locks of a platform: one for changes of its periods, shared by authorisations of
// postings, and one for its clock, which every posting takes.
const (
	lockPeriods       = `SELECT pg_advisory_xact_lock(uuid_hash_extended($1::uuid, 1))`
	lockPeriodsShared = `SELECT pg_advisory_xact_lock_shared(uuid_hash_extended($1::uuid, 1))`
	lockClock         = `SELECT pg_advisory_xact_lock(uuid_hash_extended($1::uuid, 0))`
)

// LockPeriods implements accounting.Tx.
func (u *Unit) LockPeriods(ctx context.Context, p ident.Platform) (period.Calendar, error) {
	return u.lockAndReadCalendar(ctx, lockPeriods, p)
}

// LockPeriodsShared implements accounting.Tx.
func (u *Unit) LockPeriodsShared(ctx context.Context, p ident.Platform) (period.Calendar, error) {
	return u.lockAndReadCalendar(ctx, lockPeriodsShared, p)
}

// lockAndReadCalendar takes a lock and then reads, in a statement that sees what was committed
// before the lock was granted.
func (u *Unit) lockAndReadCalendar(ctx context.Context, lock string, p ident.Platform) (c period.Calendar, err error) {
	u.queueExec(lock, p)
	if err := u.flush(ctx); err != nil {
		return c, err
	}
	err = u.query(ctx, readCalendar, []any{p}, func(rows pgx.Rows) (err error) {
		c, err = scanCalendar(rows)
		return err
	})
	return c, err
}

var keyOfAuthorisation = []string{"platform_id", "posting_id"}

var authorisations = schema.New("ledger_authorisations", keyOfAuthorisation, func(a *period.Authorisation) schema.Columns {
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &a.Platform}, {Name: "posting_id", Field: &a.Posting}, {Name: "note", Field: &a.Note},
		{Name: "authorised_at", Field: &a.At},
	}, schema.AuthorColumns(&a.By), schema.ApprovalColumns(&a.Approval))
})

var insertAuthorisation = authorisations.Insert("ON CONFLICT (platform_id, posting_id) DO NOTHING")

// Authorise implements accounting.Tx.
func (u *Unit) Authorise(ctx context.Context, authorisations []period.Authorisation) error {
	if len(authorisations) == 0 {
		return nil
	}
	for _, a := range authorisations {
		u.queueExec(lockPeriodsShared, a.Platform)
		if err := write(ctx, u, insertAuthorisation, a); err != nil {
			return err
		}
	}
	return u.flush(ctx)
}

// ChangePeriods implements accounting.Tx.
func (u *Unit) ChangePeriods(ctx context.Context, change period.Change, next period.Calendar) error {
	platform := change.Platform
	u.queueExec(lockClock, platform)
	// A platform without postings has no row yet.
	u.queueExec(`INSERT INTO ledger_clocks (platform_id) VALUES ($1) ON CONFLICT DO NOTHING`, platform)
	u.queueExec(`INSERT INTO ledger_snapshot_progress (platform_id) VALUES ($1) ON CONFLICT DO NOTHING`, platform)
	// The change gets a recorded time of its own: every posting recorded earlier was posted
	// before it.
	u.queueExec(
		`UPDATE ledger_clocks SET closed_before = $2, soft_closed_before = $3, recorded_at = greatest($4, recorded_at + interval '1 microsecond')
		WHERE platform_id = $1`, platform, monthStart(next.FirstUnclosed), monthStart(next.FirstOpen), change.At)
	u.queueExec(
		`INSERT INTO ledger_period_changes (platform_id, month, action, changed_at, token_id, actor, note, proposal_id, approver_token_id, approver, person_id)
		SELECT $1, $2, $3, c.recorded_at, $4, $5, $6, $7, $8, $9, $10 FROM ledger_clocks c WHERE c.platform_id = $1`,
		platform, change.Month, change.Action, change.By.Token, change.By.Actor, change.Note,
		change.Approval.Proposal, change.Approval.By.Token, change.Approval.By.Actor, change.By.Person)
	if err := u.flush(ctx); err != nil {
		return err
	}
	if change.Action != period.Close {
		return nil
	}
	return u.checkNoLatePostings(ctx, change)
}

// selectLatePosting finds a posting into a month after its trial balance was computed. Uses
// the primary keys of postings.
const selectLatePosting = `
SELECT p.id FROM ledger_postings p
JOIN ledger_closings c ON c.platform_id = p.platform_id AND c.month = $2
WHERE p.platform_id = $1 AND p.seq > c.seq AND p.effective_at < $3
LIMIT 1`

// checkNoLatePostings returns a retryable error if the trial balance lacks postings of the
// month. The lock of the clock prevents further ones.
func (u *Unit) checkNoLatePostings(ctx context.Context, change period.Change) error {
	late := false
	err := u.query(ctx, selectLatePosting, []any{change.Platform, change.Month, change.Month.End()}, func(pgx.Rows) error {
		late = true
		return nil
	})
	if err == nil && late {
		err = fmt.Errorf("a posting into %s was committed while the month was being closed: %w", change.Month, &pgconn.PgError{Code: "40001"})
	}
	return err
}

const readCalendar = `
SELECT nullif(c.closed_before, '-infinity'), nullif(c.soft_closed_before, '-infinity'),
       (SELECT k.month FROM ledger_closings k WHERE k.platform_id = c.platform_id ORDER BY k.month LIMIT 1)
FROM ledger_clocks c WHERE c.platform_id = $1`

func scanCalendar(rows pgx.Rows) (c period.Calendar, err error) {
	var closed, open time.Time
	if err := rows.Scan(&closed, &open, &c.First); err != nil || open.IsZero() {
		return period.Calendar{}, err
	}
	c.FirstUnclosed, c.FirstOpen = period.MonthOf(closed), period.MonthOf(open)
	if c.First.IsZero() {
		c.First = c.FirstUnclosed
	}
	return c, nil
}

// monthStart returns the start of a month, or -infinity for the zero month.
func monthStart(m period.Month) pgtype.Timestamptz {
	if m.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: m.Start(), Valid: true}
}
