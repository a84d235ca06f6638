package ports

import (
	"context"
	"time"

	"causeway/core/money"
)

// Rates is the market.
type Rates interface {
	// Rate returns the price of from in to: minor units of to for one minor unit of
	// from, and the moment it was valid. It is an error when the market does not
	// know the pair or its rate is too old to quote on.
	Rate(ctx context.Context, from, to money.Currency, now time.Time) (MarketRate, error)
}

// MarketRate is a rate and when it was made.
type MarketRate struct {
	Rate money.Rate
	At   time.Time
}
