package price

import (
	"time"

	"causeway/core/money"
)

// KeptRates are the market rates of a time, stored to value positions of that time. All are rates to
// the US dollar, so that one set gives the rate of every pair.
type KeptRates struct {
	// At is the time at which the rates were the current ones; zero if no rates were kept.
	At    time.Time
	InUSD map[money.Currency]KeptRate
}

// KeptRate is a rate in minor units, the time for which its source states it, and the source.
type KeptRate struct {
	Rate   money.Rate
	At     time.Time
	Source string
}

// keptRateDigits is the precision of a crossed rate.
const keptRateDigits = 12

// MaxKeptRateAge is how old kept rates may be at the moment of a position. Rates are kept every hour; a
// gap is a time in which the service did not run.
const MaxKeptRateAge = 24 * time.Hour

// CoverTime reports whether the rates are those of a moment.
func (k KeptRates) CoverTime(moment time.Time) bool {
	return !k.At.IsZero() && !k.At.After(moment) && moment.Sub(k.At) <= MaxKeptRateAge
}

// Rate returns the rate of a pair, crossed over the US dollar, with the older of the two times and both
// sources. It is false if no rate of one of the currencies was kept.
func (k KeptRates) Rate(from, to money.Currency) (KeptRate, bool) {
	if from == to {
		return KeptRate{Rate: money.MustRate("1"), At: k.At}, true
	}
	sold, soldKept := k.InUSD[from]
	if to == money.USD || !soldKept {
		return sold, soldKept
	}
	bought, boughtKept := k.InUSD[to]
	if !boughtKept {
		return KeptRate{}, false
	}
	rate, err := sold.Rate.Div(bought.Rate)
	if err != nil {
		return KeptRate{}, false // exceeds a rate
	}
	crossed := KeptRate{Rate: rate.TruncateSignificant(keptRateDigits), At: sold.At, Source: sold.Source}
	if bought.At.Before(crossed.At) {
		crossed.At = bought.At
	}
	if bought.Source != sold.Source && from != money.USD {
		crossed.Source += "+" + bought.Source
	}
	if from == money.USD {
		crossed.At, crossed.Source = bought.At, bought.Source
	}
	return crossed, true
}
