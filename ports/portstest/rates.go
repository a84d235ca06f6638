package portstest

import (
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ports"
)

// Rates tests an adapter that has rates for the given pairs.
func Rates(t *testing.T, rates ports.Rates, pairs [][2]money.Currency, now time.Time) {
	t.Helper()
	for _, pair := range pairs {
		t.Run(string(pair[0]+" in "+pair[1]), func(t *testing.T) {
			// A rate is positive, not in the future, the same in a repeated call, and times
			// the reverse rate it is one, except for rounding.
			got, err := rates.Rate(t.Context(), pair[0], pair[1], now)
			if err != nil {
				t.Fatal(err)
			}
			if got.Rate.IsZero() || got.At.After(now) || got.Source == "" {
				t.Fatalf("rate %s of %s from %q", got.Rate, got.At, got.Source)
			}
			if again, err := rates.Rate(t.Context(), pair[0], pair[1], now); err != nil || again != got {
				t.Fatalf("first %v, then %v (%v)", got, again, err)
			}
			back, err := rates.Rate(t.Context(), pair[1], pair[0], now)
			if err != nil {
				t.Fatal(err)
			}
			round, err := got.Rate.Mul(back.Rate)
			if err != nil {
				t.Fatal(err)
			}
			if round.Cmp(money.MustRate("0.99999")) < 0 || round.Cmp(money.MustRate("1.00001")) > 0 {
				t.Fatalf("%s times the reverse rate %s is %s, want about 1", got.Rate, back.Rate, round)
			}
		})
	}
	t.Run("unknown currencies are refused", func(t *testing.T) {
		if _, err := rates.Rate(t.Context(), "XXX", "USD", now); !fault.Is(err, fault.InvalidCurrency) {
			t.Fatalf("got %v, want INVALID_CURRENCY", err)
		}
	})
}
