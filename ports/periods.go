package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/period"
)

// PeriodWriter changes the months of a platform's books, and lets postings made by hand
// into those that are held.
type PeriodWriter interface {
	// LockPeriods reads where the months stand, to change it. Until the unit of work ends
	// nobody else changes them or authorises a posting; ordinary postings go on.
	LockPeriods(ctx context.Context, p ident.Platform) (period.Calendar, error)
	// LockPeriodsShared reads where the months stand and keeps it so until the unit of work
	// ends. Any number of units can at once.
	LockPeriodsShared(ctx context.Context, p ident.Platform) (period.Calendar, error)
	// Authorise names who stands behind postings that the unit of work is about to post:
	// they may be effective in held months, which are shared until it ends. An
	// authorisation without its posting fails the unit.
	Authorise(ctx context.Context, authorisations []period.Authorisation) error
	// ChangePeriods writes what was done to a month and where the months stand then. From
	// here to the commit nothing is posted on the platform, so it comes last.
	ChangePeriods(ctx context.Context, change period.Change, next period.Calendar) error
	// RecordClosing adds up the month of a locked platform, whose months are as given,
	// and keeps it: what is returned says with which posting and head. Postings go on
	// meanwhile; one that got into the month all the same makes the unit run again.
	RecordClosing(ctx context.Context, change period.Change, from period.Calendar) (period.Closing, error)
}

// PeriodReader reads the months of a platform's books.
type PeriodReader interface {
	// PeriodOverview reads everything about the months but trial balances.
	PeriodOverview(ctx context.Context, p ident.Platform) (PeriodOverview, error)
	// ClosingLines reads one page of the trial balance of a closed month, in the order in
	// which the accounts were made; an empty one for a month that is not closed.
	ClosingLines(ctx context.Context, p ident.Platform, m period.Month, f LineFilter) (LinePage, error)
	// ClosingTotals adds up the trial balance of a closed month by currency.
	ClosingTotals(ctx context.Context, p ident.Platform, m period.Month) ([]period.Total, error)
	// Authorisation reads who stands behind a posting; false for one nobody authorised.
	Authorisation(ctx context.Context, p ident.Platform, posting uuid.UUID) (period.Authorisation, bool, error)
}

// MonthArchiver takes months of the books out of them and puts them back. It works as who owns
// the tables.
type MonthArchiver interface {
	// LedgerMonths says which months are in the books.
	LedgerMonths(ctx context.Context) (LedgerMonths, error)
	// EndMonth has platforms that posted nothing after a month begin the present one, and
	// brings the month's end into the checkpoints.
	EndMonth(ctx context.Context, m period.Month, now time.Time) error
	// Blockers looks for what is still open in a month, platform by platform.
	Blockers(ctx context.Context, m period.Month) ([]MonthBlocker, error)
	// ArchiveMonth takes the month out. Its postings and entries stay in tables of their own.
	ArchiveMonth(ctx context.Context, m period.Month) error
	// RestoreMonth puts those tables back.
	RestoreMonth(ctx context.Context, m period.Month) error
}

// LedgerMonths are the oldest month in the books and the last that is detached, zero for none.
type LedgerMonths struct{ Oldest, LastArchived period.Month }

// MonthBlocker is what is still open in a month of a platform, and how much of it.
type MonthBlocker struct {
	Platform ident.Platform
	Blocker  period.Blocker
	Count    int64
}

// PeriodOverview is where the months of a platform stand, and what was done to them.
type PeriodOverview struct {
	Calendar period.Calendar
	// FirstPosted is the month of the platform's first posting; zero while there is none.
	FirstPosted period.Month
	// Closings are the closed months, in their order, and Changes everything that was
	// done, in the order in which it was.
	Closings []period.Closing
	Changes  []period.Change
}

// LineFilter says which part of a trial balance is wanted: at most Limit lines after the
// one with the number After; zero begins.
type LineFilter struct {
	After int64
	Limit int
}

// LinePage is a page of a trial balance. Last is the number of its last line.
type LinePage struct {
	Lines []period.Line
	Last  int64
	More  bool
}
