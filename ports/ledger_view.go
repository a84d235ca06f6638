package ports

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
)

// LedgerViews shows the books of one platform as they stood at one moment, to whoever
// reads many of them.
type LedgerViews interface {
	// View calls fn with what had been recorded by the end of a moment, up to now when
	// it is zero. Everything fn reads is of one snapshot, however long it takes, and
	// keeps nobody from posting. The view ends with the call.
	View(ctx context.Context, p ident.Platform, asOf time.Time, fn func(ctx context.Context, view LedgerView) error) error
}

// LedgerView streams the books in a bounded amount of memory. An error of a callback
// ends the stream and is returned. A callback of Entries must not ask the view again;
// one of Accounts may.
type LedgerView interface {
	// LastPosting returns the last posting of the view; zero when there is none.
	LastPosting() LedgerPosition
	// Accounts streams the accounts that had been posted to, by path and currency.
	Accounts(ctx context.Context, of LedgerFilter, each func(AccountTurnover) error) error
	// Entries streams entries in the order in which they were recorded.
	Entries(ctx context.Context, of LedgerFilter, each func(RecordedEntry) error) error
	// EntriesByEffectiveTime streams the entries of one account in the order of their effective
	// times, those of one moment as they were recorded.
	EntriesByEffectiveTime(ctx context.Context, account ledger.Account, interval period.Interval, each func(RecordedEntry) error) error
}

// LedgerPosition is a posting by its number and the time it was recorded. Later postings
// have higher numbers and later times, so what the books said up to here never changes.
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

// AccountTurnover is what a period did to an account. Amounts are minor units, debits
// less credits whatever the class.
type AccountTurnover struct {
	Account ledger.Account
	Class   ledger.Class
	// Opening is the balance before the period, Closing that at its end.
	Opening, Closing int64
	// Debits and Credits count the entries of the period on each side and add them up.
	Debits, Credits Tally
	// First and Last are the earliest and the latest effective time up to the end of
	// the period.
	First, Last time.Time
}

// Tally is a number of entries and their sum in minor units.
type Tally struct{ Count, Sum int64 }
