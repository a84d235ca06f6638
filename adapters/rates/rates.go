// Package rates combines a source of reference rates with a market: the reference prices the
// currencies it supports, the market prices the others, and pairs across both are crossed over
// the US dollar.
//
// It keeps no state, and returns an error if one of the two does.
package rates

import (
	"context"
	"fmt"
	"slices"
	"time"

	"causeway/core/money"
	"causeway/ports"
)

// Reference is a source of rates for some currencies, including USD.
type Reference interface {
	ports.Rates
	Supports(money.Currency) bool
}

// Joined combines a reference with a market.
type Joined struct {
	reference    Reference
	market       ports.Rates
	dollarTokens []money.Currency
}

// Join combines a reference with a market. Each of the given tokens counts as one US dollar.
func Join(reference Reference, market ports.Rates, dollarTokens ...money.Currency) *Joined {
	return &Joined{reference: reference, market: market, dollarTokens: slices.Clone(dollarTokens)}
}

// significantDigits is the precision of a crossed rate. The time of a constant rate is rounded
// down to peggedRateInterval.
const (
	significantDigits  = 12
	peggedRateInterval = 5 * time.Minute
)

// FixedSource names the rate of the dollar, and of tokens that count as one, to the dollar.
const FixedSource = "FIXED"

var one = money.MustRate("1")

// Rate returns the reference's rate if it supports both currencies, the market's rate if it
// supports neither, and otherwise a rate crossed over USD with the older of the two times.
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
	oldest := sold.At
	if bought.At.Before(oldest) {
		oldest = bought.At
	}
	return ports.MarketRate{Rate: rate.TruncateSignificant(significantDigits), At: oldest, Source: joinSources(sold.Source, bought.Source)},
		nil
}

// joinSources names the sources of a crossed rate. A fixed rate is named only if both are.
func joinSources(sold, bought string) string {
	switch {
	case sold == bought || bought == FixedSource:
		return sold
	case sold == FixedSource:
		return bought
	default:
		return sold + "+" + bought
	}
}

// hasReferencePrice reports whether a currency is priced without the market.
func (j *Joined) hasReferencePrice(c money.Currency) bool {
	return j.reference.Supports(c) || slices.Contains(j.dollarTokens, c)
}

// dollarLeg returns the rate between USD and the other currency. One of from and to is USD.
func (j *Joined) dollarLeg(ctx context.Context, from, to, other money.Currency, now time.Time) (ports.MarketRate, error) {
	switch {
	case other == money.USD, slices.Contains(j.dollarTokens, other):
		rate, err := money.RateFromMajor(one, from, to)
		return ports.MarketRate{Rate: rate, At: now.Truncate(peggedRateInterval), Source: FixedSource}, err
	case j.reference.Supports(other):
		return j.reference.Rate(ctx, from, to, now)
	default:
		return j.market.Rate(ctx, from, to, now)
	}
}
