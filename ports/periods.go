package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/period"
)

// PeriodWriter changes the months of a platform's ledger, and authorises postings that are
// effective in soft-closed months.
type PeriodWriter interface {
	// LockPeriods returns the calendar of a platform, locked for an update: until the unit
	// of work ends no other one changes it or authorises a posting. Ordinary postings are
	// not blocked.
	LockPeriods(ctx context.Context, p ident.Platform) (period.Calendar, error)
	// LockPeriodsShared returns the calendar of a platform and locks it against updates;
	// any number of units of work can hold this lock at the same time.
	LockPeriodsShared(ctx context.Context, p ident.Platform) (period.Calendar, error)
	// Authorise stores authorisations of postings that this unit of work is about to
	// write: they may be effective in soft-closed months. It locks the calendar as
	// LockPeriodsShared does. An authorisation without its posting fails the commit.
	Authorise(ctx context.Context, authorisations []period.Authorisation) error
	// ChangePeriods stores a change of a month and the calendar after it. It blocks all
	// postings of the platform until the commit, so it is the last call.
	ChangePeriods(ctx context.Context, change period.Change, next period.Calendar) error
	// RecordClosing computes and stores the closing of a month of a platform that
	// LockPeriods locked; from is the calendar before it. Postings are not blocked; if one
	// is written to the month at the same time, the unit of work is run again.
	RecordClosing(ctx context.Context, change period.Change, from period.Calendar) (period.Closing, error)
}

// PeriodReader reads the months of a platform's ledger.
type PeriodReader interface {
	// PeriodOverview returns everything about the months but their trial balances.
	PeriodOverview(ctx context.Context, p ident.Platform) (PeriodOverview, error)
	// ClosingLines returns a page of the trial balance of a closed month, in the order in
	// which the accounts were created; an empty page for a month that is not closed.
	ClosingLines(ctx context.Context, p ident.Platform, m period.Month, f LineFilter) (LinePage, error)
	// ClosingTotals returns the sums of the trial balance of a closed month, by currency.
	ClosingTotals(ctx context.Context, p ident.Platform, m period.Month) ([]period.Total, error)
	// Authorisation returns the authorisation of a posting, or false if it has none.
	Authorisation(ctx context.Context, p ident.Platform, posting uuid.UUID) (period.Authorisation, bool, error)
}

// PeriodOverview holds the months of a platform and their history.
type PeriodOverview struct {
	Calendar period.Calendar
	// FirstPosted is the first month with a posting of the platform, by effective time; zero if there
	// is none.
	FirstPosted period.Month
	// Closings are the closed months, in order.
	Closings []period.Closing
	// Changes are all changes, oldest first.
	Changes []period.Change
}

// LineFilter selects lines of a trial balance: at most Limit after the line with the number
// After, or from the first if it is zero.
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

// MonthArchiver archives and restores months of the ledger, of all platforms at once. It
// needs the rights of the owner of the tables.
type MonthArchiver interface {
	// LedgerMonths returns which months are in the ledger.
	LedgerMonths(ctx context.Context) (LedgerMonths, error)
	// EndMonth starts the present month for platforms without postings after a month, and
	// takes the balance snapshots of the month's end.
	EndMonth(ctx context.Context, m period.Month, now time.Time) error
	// Blockers returns what prevents archiving a month, by platform.
	Blockers(ctx context.Context, m period.Month) ([]MonthBlocker, error)
	// ArchiveMonth moves the postings and entries of a month to tables of their own.
	ArchiveMonth(ctx context.Context, m period.Month) error
	// RestoreMonth moves them back.
	RestoreMonth(ctx context.Context, m period.Month) error
}

// LedgerMonths holds the oldest month in the ledger and the last archived one; zero for
// none.
type LedgerMonths struct{ Oldest, LastArchived period.Month }

// MonthBlocker is something that prevents archiving a month of a platform, and how often it
// occurs.
type MonthBlocker struct {
	Platform ident.Platform
	Blocker  period.Blocker
	Count    int64
}
