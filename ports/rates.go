package ports

import (
	"context"
	"time"

	"causeway/core/money"
	"causeway/core/price"
)

// Rates returns market rates. Its calls change nothing and may be repeated.
type Rates interface {
	// Rate returns how many minor units of to one minor unit of from is worth. Faults:
	// INVALID_CURRENCY if there is no rate for the pair; QUOTE_REQUEST_FAILED if rates
	// are unavailable or too old for a quote.
	Rate(ctx context.Context, from, to money.Currency, now time.Time) (MarketRate, error)
}

// MarketRate is a rate, the time at which it was valid, which is never after now, and where it is
// from, such as "ECB".
type MarketRate struct {
	Rate   money.Rate
	At     time.Time
	Source string
}

// KeptRates stores the market rates of the past.
type KeptRates interface {
	// KeepRates stores the rates of a time. If rates of that time are stored, they stay.
	KeepRates(ctx context.Context, rates price.KeptRates) error
	// RatesAt returns the last rates kept up to and including a moment; the zero value if there
	// are none.
	RatesAt(ctx context.Context, moment time.Time) (price.KeptRates, error)
	// RatesBetween returns all rates that were kept after a moment up to and including another, by time.
	RatesBetween(ctx context.Context, after, upto time.Time) ([]price.KeptRates, error)
	// FirstRatesAt returns when rates were first kept, of those that are still stored; zero if
	// there are none.
	FirstRatesAt(ctx context.Context) (time.Time, error)
}
