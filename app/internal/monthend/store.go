package monthend

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/price"
	"causeway/ledger"
)

// Tx is what this package does in a unit of work that holds LockPeriods.
type Tx interface {
	// PostedSince reports whether a posting on the accounts at a path, or below one that ends in a slash, effective before a time, was
	// recorded after the posting with a number.
	PostedSince(ctx context.Context, p ident.Platform, path string, seq int64, before time.Time) (bool, error)
	// PositionPostedSince reports the same of postings that change the position: see ports.MonthEndView.
	PositionPostedSince(ctx context.Context, p ident.Platform, functional money.Currency, seq int64, before time.Time) (bool, error)
}

// KeptRates stores the market rates of the past.
type KeptRates interface {
	// RatesAt returns the last rates kept up to and including a moment; the zero value if there
	// are none.
	RatesAt(ctx context.Context, moment time.Time) (price.KeptRates, error)
	// RatesBetween returns all rates that were kept after a moment up to and including another, by time.
	RatesBetween(ctx context.Context, after time.Time, upto time.Time) ([]price.KeptRates, error)
	// FirstRatesAt returns when rates were first kept, of those that are still stored; zero if
	// there are none.
	FirstRatesAt(ctx context.Context) (time.Time, error)
}

// MonthEndResults reads the results of runs. Error: ErrMonthEndMissing.
type MonthEndResults interface {
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
