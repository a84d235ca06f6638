package prices_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"causeway/app/internal/prices"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ports"
	"causeway/ports/portstest"
)

// fakeMarket has one rate for every pair, or none.
type fakeMarket struct {
	rate money.Rate
	err  error
}

func (m fakeMarket) Rate(context.Context, money.Currency, money.Currency, time.Time) (ports.MarketRate, error) {
	return ports.MarketRate{Rate: m.rate}, m.err
}

func TestPrices_ConvertRoundsUp(t *testing.T) {
	t.Parallel()
	// What a limit is compared with is never less than the amount is worth.
	for name, c := range map[string]struct {
		rate        string
		minor, want int64
		to          money.Currency
	}{
		"exact":         {"1.5", 100, 150, "USD"},
		"a fraction":    {"1.0001", 100, 101, "USD"},
		"tiny":          {"0.000001", 1, 1, "USD"},
		"nothing":       {"1.5", 0, 0, "USD"},
		"same currency": {"1.5", 100, 100, "EUR"},
	} {
		p := prices.New(nil, fakeMarket{rate: money.MustRate(c.rate)}, portstest.NewFakeClock(time.Unix(0, 0)))
		got, err := p.Convert(t.Context(), money.Amount{Minor: c.minor, Currency: "EUR"}, c.to)
		if err != nil || got != (money.Amount{Minor: c.want, Currency: c.to}) {
			t.Errorf("%s: %v, %v, want %d", name, got, err, c.want)
		}
	}
}

func TestPrices_ConvertOverflow(t *testing.T) {
	t.Parallel()
	// An amount that does not fit is an error, and no smaller amount.
	p := prices.New(nil, fakeMarket{rate: money.MustRate("1000000")}, portstest.NewFakeClock(time.Unix(0, 0)))
	if got, err := p.Convert(t.Context(), money.Amount{Minor: money.MaxMinor, Currency: "EUR"}, "USD"); !errors.Is(err, money.ErrOverflow) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestPrices_ConvertWithoutRate(t *testing.T) {
	t.Parallel()
	// A rate that is missing, for whatever reason, is a temporary fault; a failure of the program stays one.
	failure := errors.New("a failure")
	for cause, want := range map[error]error{
		fault.New(fault.QuoteRequestFailed, "too old"): fault.New(fault.ServiceUnavailable, ""),
		fault.New(fault.InvalidCurrency, "no market"):  fault.New(fault.ServiceUnavailable, ""),
		failure: failure,
	} {
		p := prices.New(nil, fakeMarket{err: cause}, portstest.NewFakeClock(time.Unix(0, 0)))
		if got, err := p.Convert(t.Context(), money.Amount{Minor: 1, Currency: "EUR"}, "USD"); !errors.Is(err, want) {
			t.Errorf("%v: %v, %v, want %v", cause, got, err, want)
		}
	}
}
