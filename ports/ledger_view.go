package ports

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
)

// LedgerViews opens consistent views of one platform's ledger, for exports and statements.
type LedgerViews interface {
	// View calls fn with a view of what had been recorded by the end of a moment, or by
	// now if it is zero. All reads of the view agree, however long fn runs, and never block
	// postings. No read holds a connection while a callback runs. Fault: MONTH_ARCHIVED, also
	// from the reads of a view if a month is archived meanwhile.
	View(ctx context.Context, p ident.Platform, asOf time.Time, fn func(ctx context.Context, view LedgerView) error) error
}

// LedgerView streams a ledger in a bounded amount of memory. An error of a callback ends
// the stream and is returned. A callback may use the view.
type LedgerView interface {
	// LastPosting returns the position of the last posting of the view; zero if none.
	LastPosting() LedgerPosition
	// Accounts streams the accounts that had been posted to, by path and currency.
	Accounts(ctx context.Context, filter LedgerFilter, each func(AccountTurnover) error) error
	// Entries streams entries in the order in which they were recorded.
	Entries(ctx context.Context, filter LedgerFilter, each func(RecordedEntry) error) error
	// EntriesByEffectiveTime streams the entries of accounts, one account after the other in the order given: by
	// effective time, and those with the same effective time in the order in which they were recorded.
	EntriesByEffectiveTime(ctx context.Context, accounts []ledger.Account, interval period.Interval,
		each func(ledger.Account, RecordedEntry) error) error
	// Days streams the days in UTC, from a time on, that have entries of one account by effective
	// time, with the turnover of each in the interval. The time is not after the start of the
	// interval; both are zero or neither.
	Days(ctx context.Context, account ledger.Account, since time.Time, interval period.Interval, each func(DayTurnover) error) error
}

// LedgerPosition is the number and the recorded time of a posting. Later postings have
// higher numbers and later times, so the ledger up to a position never changes.
type LedgerPosition struct {
	Seq      int64
	Recorded time.Time
}

// LedgerFilter selects a part of the ledger: an interval of effective time and, if set,
// one path or one currency.
type LedgerFilter struct {
	period.Interval
	Path     string
	Currency money.Currency
}

// AccountTurnover is the turnover of an account in an interval. Opening and Closing are
// debits less credits, whatever the class, in minor units.
type AccountTurnover struct {
	Account ledger.Account
	Class   ledger.Class
	// Opening is the balance at the beginning of the interval, Closing at its end.
	Opening, Closing int64
	// Debits and Credits count and sum the entries of the interval on each side.
	Debits, Credits Tally
	// First and Last are the earliest and the latest effective time up to the end of the
	// interval.
	First, Last time.Time
}

// Tally is a number of entries and their sum in minor units.
type Tally struct{ Count, Sum int64 }

// DayTurnover is the turnover of an account on a day that begins at Day, and the effective time of the
// last entry in it.
type DayTurnover struct {
	Day             time.Time
	Debits, Credits Tally
	Last            time.Time
}
