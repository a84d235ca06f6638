package books_test

import (
	"testing"

	"pgregory.net/rapid"

	"causeway/core/books"
)

func TestAllowanceRates_Parse(t *testing.T) {
	t.Parallel()
	// Four percentages with at most two decimals, up to 100; or nothing.
	for text, want := range map[string]books.AllowanceRates{"": {}, "1,5,25,100": {100, 500, 2500, 10000}, " 0.5, 5 ,12.25,100": {50, 500,
		1225, 10000},
		"0,0,0,0": {}} {
		if got, err := books.ParseAllowanceRates(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"1", "1,2,3", "1,2,3,4,5", "1,2,3,101", "-1,2,3,4", "1,2,3,x", "1,2,,4", "1.234,2,3,4", "1e1,2,3,4",
		"+1,2,3,4"} {
		if got, err := books.ParseAllowanceRates(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var rates books.AllowanceRates
		for i := range rates {
			rates[i] = rapid.IntRange(0, 100_00).Draw(t, "rate")
		}
		if got, err := books.ParseAllowanceRates(rates.String()); err != nil || got != rates {
			t.Errorf("%q: %v, %v; want %v", rates, got, err, rates)
		}
	})
	if _, err := books.DefaultSettings().With("receivablesAllowance=1,2,3"); err == nil {
		t.Error("three percentages are a setting")
	}
	settings, err := books.DefaultSettings().With("receivablesAllowance=1,2,3,4")
	if err != nil || settings.ReceivablesAllowance.String() != "1,2,3,4" || settings.Equal(books.DefaultSettings()) {
		t.Errorf("%+v, %v", settings, err)
	}
}
