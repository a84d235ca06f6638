package ports

import (
	"context"
	"errors"
	"time"

	"causeway/core/exchange"
	"causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
)

// ErrMonthEndMissing is the error for a run, or a result of one, that is not stored although another row names it.
var ErrMonthEndMissing = errors.New("is not stored")

// MonthEndResults reads the results of runs. Error: ErrMonthEndMissing.
type MonthEndResults interface {
	// MonthEndRuns returns the last run of a kind for each month that has one, in order.
	MonthEndRuns(ctx context.Context, p ident.Platform, kind ledger.Kind) ([]monthend.Run, error)
	// MonthEndRunOf returns the run of a kind that a reference names.
	MonthEndRunOf(ctx context.Context, p ident.Platform, kind ledger.Kind, ref monthend.Ref) (monthend.Run, error)
	// ExchangeResult returns the result of a run of a revaluation.
	ExchangeResult(ctx context.Context, run monthend.Run) (monthend.ExchangeResult, error)
	// PaymentsInTransit calls each for every payment in transit of a run that deferred fees, by payment and
	// currency.
	PaymentsInTransit(ctx context.Context, run monthend.Run, each func(monthend.InTransit) error) error
	// Allowances returns the allowances of a run, by currency.
	Allowances(ctx context.Context, run monthend.Run) ([]monthend.Allowance, error)
}

// MonthEndAudit reads runs of all platforms and what they were computed from, to check them.
type MonthEndAudit interface {
	MonthEndResults
	KeptRates
	// MonthEndPlatforms returns the platforms that have runs.
	MonthEndPlatforms(ctx context.Context) ([]ident.Platform, error)
	LedgerReader() LedgerReader
	MonthEndViews() MonthEndViews
	ReceivablesAt(ctx context.Context, p ident.Platform, before time.Time, upto int64,
		each func(currency money.Currency, owed int64, returnedAt time.Time) error) error
}

// PositionPosting is a posting that changed the foreign exchange position.
type PositionPosting struct {
	ledger.Posting // without its entries
	Seq            int64
	// Reversed is the kind of the posting that it reverses, if neither belongs to a payment; empty for all others.
	Reversed ledger.Kind
	// Legs are its entries on fx/position: above zero for a credit, which buys, below for a debit. Own are those on
	// exchange.OwnAccounts in foreign currencies, with their paths only, but for entries between two of these.
	Legs []exchange.Leg
	Own  []exchange.OwnLeg
}

// MonthEndViews opens consistent views of what month-end postings are computed from.
type MonthEndViews interface {
	// MonthEndView calls fn with a view of the postings that are recorded now and have numbers up to upto. See
	// LedgerViews.
	MonthEndView(ctx context.Context, p ident.Platform, upto int64, fn func(ctx context.Context, view MonthEndView) error) error
}

// MonthEndView streams a part of a ledger in a bounded amount of memory. The position is that on fx/position in every
// currency, and on exchange.OwnAccounts in currencies other than the functional one.
type MonthEndView interface {
	// LastPosting returns the position of the last posting of the view; zero if none.
	LastPosting() LedgerPosition
	// Positions returns the position at a time, by effective time. It does not regard the last posting of the view.
	Positions(ctx context.Context, functional money.Currency, at time.Time) (exchange.Positions, error)
	// PositionPostings streams the postings that changed the position, by effective time and number. The
	// interval has two bounds.
	PositionPostings(ctx context.Context, functional money.Currency, i period.Interval, each func(PositionPosting) error) error
	// LatePositionPostings streams the postings that changed the position, are effective before a time, and were
	// recorded after it, with numbers above after, by effective time and number.
	LatePositionPostings(ctx context.Context, functional money.Currency, after int64, before time.Time, each func(PositionPosting) error) error
	// TransitChanges streams what the postings of payments that are effective in an interval moved into
	// transit/payouts, less what they moved out of it, if that is not zero. Without a start, the interval begins
	// with the first posting that is not archived: no payment of an archived month is in transit.
	TransitChanges(ctx context.Context, i period.Interval, each func(key monthend.TransitKey, amount int64) error) error
	// LateTransitChanges streams the same of postings that are effective before a time and were recorded after it, with
	// numbers above after.
	LateTransitChanges(ctx context.Context, after int64, before time.Time, each func(key monthend.TransitKey, amount int64) error) error
	// CashMovements calls each with what entries that are effective in an interval moved between cash and other accounts, by
	// the other account, or group of accounts, and currency; more than once for the same. With a group, it is only about that one, by
	// account. The interval has two bounds.
	CashMovements(ctx context.Context, i period.Interval, group string, each func(financials.Movement) error) error
	// Fees returns the fees that payments have paid by postings effective before a time, by payment and
	// currency.
	Fees(ctx context.Context, payments []ident.Transaction, before time.Time) (map[monthend.TransitKey]int64, error)
}
