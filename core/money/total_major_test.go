package money_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
)

func TestTotal_Major(t *testing.T) {
	t.Parallel()
	// Totals of any size have all decimals of their currency.
	for _, c := range []struct {
		total    string
		currency money.Currency
		want     string
	}{
		{"0", money.USD, "0.00"}, {"-1", money.USD, "-0.01"}, {"10050", money.USD, "100.50"}, {"-100", money.USD, "-1.00"}, {"7", "JPY", "7"},
		{"-7", "JPY", "-7"},
		{"5", money.BTC, "0.00000005"}, {"123456789012345678901234567890", money.EUR, "1234567890123456789012345678.90"},
	} {
		total, err := money.ParseTotal(c.total)
		if got := total.Major(c.currency); err != nil || got != c.want {
			t.Errorf("%s %s is %s, want %s (%v)", c.total, c.currency, got, c.want, err)
		}
	}
}

func TestTotal_MajorAsAmount(t *testing.T) {
	t.Parallel()
	// What fits into an amount is formatted like an amount.
	rapid.Check(t, func(t *rapid.T) {
		minor, currency := rapid.Int64().Draw(t, "minor"), rapid.SampledFrom(money.Currencies()).Draw(t, "currency")
		want, _, _ := strings.Cut(money.Amount{Minor: minor, Currency: currency}.String(), " ")
		if got := money.TotalOf(minor).Major(currency); got != want {
			t.Fatalf("%d %s is %s, want %s", minor, currency, got, want)
		}
	})
}
