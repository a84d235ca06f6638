package money_test

import (
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
)

func TestRate_TruncateSignificant(t *testing.T) {
	t.Parallel()
	// Digits are counted from the first that is not zero, and whole digits are kept.
	for _, c := range []struct {
		rate   string
		digits int
		want   string
	}{
		{"0.000012345678", 4, "0.00001234"},
		{"1.99999", 3, "1.99"},
		{"123456.789", 4, "123456"},
		{"123456.789", 7, "123456.7"},
		{"1.5", 12, "1.5"},
		{"1.0001", 2, "1"},
		{"1234567890123456789012345678.901234", 29, "1234567890123456789012345678.9"},
	} {
		if got := money.MustRate(c.rate).TruncateSignificant(c.digits); got.String() != c.want {
			t.Errorf("%s to %d digits is %s, want %s", c.rate, c.digits, got, c.want)
		}
	}
}

func TestRate_TruncateSignificantRoundsDown(t *testing.T) {
	t.Parallel()
	// The result is never above the rate, never further below than one unit of its last
	// digit, and cutting again changes nothing.
	rapid.Check(t, func(t *rapid.T) {
		rate := anyRate().Draw(t, "rate")
		digits := rapid.IntRange(1, 34).Draw(t, "digits")

		short := rate.TruncateSignificant(digits)

		if short.Cmp(rate) > 0 || short.IsZero() || short.TruncateSignificant(digits) != short {
			t.Fatalf("%s to %d digits is %s", rate, digits, short)
		}
		if short == rate {
			return
		}
		lost, err := short.Div(rate)
		if err != nil {
			t.Fatal(err)
		}
		if kept := money.MustRate("0.9"); digits > 1 && lost.Cmp(kept) < 0 {
			t.Fatalf("%s to %d digits is %s: a tenth is gone", rate, digits, short)
		}
	})
}
