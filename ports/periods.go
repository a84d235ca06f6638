package ports

import (
	"causeway/core/ident"
	"causeway/core/period"
)

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
