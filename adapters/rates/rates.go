// Package rates joins markets into one: what a published reference knows is priced
// by it, and the rest by a market that knows everything, crossed over the dollar.
//
// It asks the two and multiplies. It reads nothing itself, keeps nothing, and never
// prices on a rate that one of them refuses.
package rates

import (
	"context"
	"fmt"
	"slices"
	"time"

	"causeway/core/money"
	"causeway/ports"
)

// Reference is a market that knows some currencies, the dollar among them.
type Reference interface {
	ports.Rates
	Supports(money.Currency) bool
}

// Joined is a reference, completed by a market.
type Joined struct {
	reference    Reference
	market       ports.Rates
	dollarTokens []money.Currency
}

// Join completes a reference. The tokens count as one dollar each; the others are
// priced by the market.
func Join(reference Reference, market ports.Rates, dollars ...money.Currency) *Joined {
	return &Joined{reference: reference, market: market, dollarTokens: slices.Clone(dollars)}
}

// significant is how many digits a crossed rate is quoted with; lifetime is how long
// a rate that never moves is told to be of one moment.
const (
	significantDigits  = 12
	peggedRateInterval = 5 * time.Minute
)

var one = money.MustRate("1")

// Rate is the reference's where it knows both currencies, and else the way over the
// dollar. A crossed rate is as old as the older of its two.
func (j *Joined) Rate(ctx context.Context, from, to money.Currency, now time.Time) (ports.MarketRate, error) {
	if j.reference.Supports(from) && j.reference.Supports(to) {
		return j.reference.Rate(ctx, from, to, now)
	}
	if !j.hasReferencePrice(from) && !j.hasReferencePrice(to) {
		return j.market.Rate(ctx, from, to, now)
	}
	sold, err := j.dollarLeg(ctx, from, money.USD, from, now)
	if err != nil {
		return ports.MarketRate{}, err
	}
	bought, err := j.dollarLeg(ctx, money.USD, to, to, now)
	if err != nil {
		return ports.MarketRate{}, err
	}
	rate, err := sold.Rate.Mul(bought.Rate)
	if err != nil {
		return ports.MarketRate{}, fmt.Errorf("rate of %s in %s: %w", from, to, err)
	}
	at := sold.At
	if bought.At.Before(at) {
		at = bought.At
	}
	return ports.MarketRate{Rate: rate.TruncateSignificant(significantDigits), At: at}, nil
}

// hasReferencePrice tells whether a currency has a price that is not the market's.
func (j *Joined) hasReferencePrice(c money.Currency) bool {
	return j.reference.Supports(c) || slices.Contains(j.dollarTokens, c)
}

// dollarLeg is half of the way: one side is the dollar, and other the other side.
func (j *Joined) dollarLeg(ctx context.Context, from, to, other money.Currency, now time.Time) (ports.MarketRate, error) {
	switch {
	case other == money.USD, slices.Contains(j.dollarTokens, other):
		rate, err := money.RateFromMajor(one, from, to)
		return ports.MarketRate{Rate: rate, At: now.Truncate(peggedRateInterval)}, err
	case j.reference.Supports(other):
		return j.reference.Rate(ctx, from, to, now)
	default:
		return j.market.Rate(ctx, from, to, now)
	}
}
