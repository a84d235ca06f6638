package money_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
)

func TestExact_EqualsRationalNumbers(t *testing.T) {
	t.Parallel()
	// Sums of products are those of rational numbers, and are parsed as what they are printed as. They are rounded to the
	// nearest unit, and to the even one of two.
	rapid.Check(t, func(t *rapid.T) {
		var sum money.Exact
		want := new(big.Rat)
		for range rapid.IntRange(0, 5).Draw(t, "products") {
			rate := money.MustRate(rapid.SampledFrom([]string{"0.5", "0.25", "1", "3", "17.3", "0.9174311926605504587155963302752294", "1e-62",
				"1.5e-30"}).Draw(t, "rate"))
			minor := rapid.OneOf(rapid.Int64Range(-9, 9), rapid.Int64Range(-money.MaxMinor, money.MaxMinor)).Draw(t, "minor")
			sum = sum.Add(rate.Times(minor))
			exact, _ := new(big.Rat).SetString(rate.String())
			want.Add(want, exact.Mul(exact, new(big.Rat).SetInt64(minor)))
		}

		parsed, err := money.ParseExact(sum.String())
		if got, _ := new(big.Rat).SetString(sum.String()); err != nil || !parsed.Equal(sum) || got.Cmp(want) != 0 {
			t.Fatalf("%s (%v), want %s", sum, err, want.RatString())
		}
		rounded, err := sum.Round()
		rest := new(big.Rat).Sub(want, new(big.Rat).SetInt64(rounded))
		if c := rest.Abs(rest).Cmp(big.NewRat(1, 2)); err != nil || c > 0 || c == 0 && rounded%2 != 0 {
			t.Fatalf("%s is rounded to %d (%v)", sum, rounded, err)
		}
		if left := sum.Sub(money.ExactOf(rounded)); left.IsZero() != (rest.Sign() == 0) {
			t.Fatalf("%s remains", left)
		}
	})
}

func TestExact_Refusals(t *testing.T) {
	t.Parallel()
	// A number that does not fit into an amount is not rounded to one, and only what is printed is parsed.
	if _, err := money.ExactOf(math.MaxInt64).Add(money.ExactOf(1)).Round(); !errors.Is(err, money.ErrOverflow) {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"", "-", ".5", "1.", "01", "1.50", "-0", "+1", "1e3", "0.-5", "1_0", "0.x"} {
		if got, err := money.ParseExact(text); !errors.Is(err, money.ErrInvalidRate) {
			t.Errorf("%q is parsed as %s (%v)", text, got, err)
		}
	}
}
