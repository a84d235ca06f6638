package ports

import (
	"context"
	"time"

	"causeway/core/money"
)

// Rates returns market rates. Its calls change nothing and may be repeated.
type Rates interface {
	// Rate returns how many minor units of to one minor unit of from is worth. Faults:
	// INVALID_CURRENCY if there is no rate for the pair; QUOTE_REQUEST_FAILED if rates
	// are unavailable or too old for a quote.
	Rate(ctx context.Context, from, to money.Currency, now time.Time) (MarketRate, error)
}

// MarketRate is a rate and the time at which it was valid, which is never after now.
type MarketRate struct {
	Rate money.Rate
	At   time.Time
}
