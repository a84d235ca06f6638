package price_test

import (
	"testing"
	"time"

	"causeway/core/money"
	"causeway/core/price"
)

func TestKeptRates_Cross(t *testing.T) {
	t.Parallel()
	// A pair is crossed over the dollar, with the older time and both sources.
	at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	kept := price.KeptRates{At: at, InUSD: map[money.Currency]price.KeptRate{
		"USD": {Rate: money.MustRate("1"), At: at, Source: "FIXED"},
		"EUR": {Rate: money.MustRate("1.25"), At: at.Add(-20 * time.Hour), Source: "ECB"},
		"BTC": {Rate: money.MustRate("0.05"), At: at.Add(-time.Minute), Source: "SIMULATED"},
	}}
	for pair, want := range map[[2]money.Currency]struct {
		rate, source string
		age          time.Duration
	}{
		{"EUR", "USD"}: {"1.25", "ECB", 20 * time.Hour},
		{"USD", "EUR"}: {"0.8", "ECB", 20 * time.Hour},
		{"BTC", "EUR"}: {"0.04", "SIMULATED+ECB", 20 * time.Hour},
		{"EUR", "EUR"}: {"1", "", 0},
		{"USD", "USD"}: {"1", "", 0},
	} {
		got, ok := kept.Rate(pair[0], pair[1])
		if !ok || got.Rate.Cmp(money.MustRate(want.rate)) != 0 || got.Source != want.source || at.Sub(got.At) != want.age {
			t.Errorf("%v: %+v, %t; want %+v", pair, got, ok, want)
		}
	}
	for _, pair := range [][2]money.Currency{{"JPY", "USD"}, {"USD", "JPY"}, {"JPY", "EUR"}, {"EUR", "JPY"}} {
		if got, ok := kept.Rate(pair[0], pair[1]); ok {
			t.Errorf("%v without a kept rate: %+v", pair, got)
		}
	}
}

func TestKeptRates_CoverTime(t *testing.T) {
	t.Parallel()
	// Rates are those of the day after they were kept; none were kept for an earlier time.
	at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		kept   time.Time
		moment time.Time
		want   bool
	}{
		"none":              {time.Time{}, at, false},
		"at once":           {at, at, true},
		"before":            {at, at.Add(-time.Microsecond), false},
		"a day later":       {at, at.Add(24 * time.Hour), true},
		"more than one day": {at, at.Add(24*time.Hour + time.Microsecond), false},
	} {
		if got := (price.KeptRates{At: c.kept}).CoverTime(c.moment); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
