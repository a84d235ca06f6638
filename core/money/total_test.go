package money_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
)

func TestTotal_NeverOverflows(t *testing.T) {
	t.Parallel()
	// Sums of any amounts are what arithmetic without limits says, and what they were
	// made from stays as it was.
	rapid.Check(t, func(t *rapid.T) {
		exact := new(big.Int)
		var total money.Total
		for _, minor := range rapid.SliceOf(rapid.Int64()).Draw(t, "amounts") {
			before := total.String()
			sum := total.Add(money.TotalOf(minor))
			if total.String() != before {
				t.Fatalf("adding %d changed %s to %s", minor, before, total)
			}
			if !sum.Sub(total).Equal(money.TotalOf(minor)) || !sum.Neg().Neg().Equal(sum) {
				t.Fatalf("%s and %d do not add up", total, minor)
			}
			total = sum
			exact.Add(exact, big.NewInt(minor))
		}
		if total.String() != exact.String() || total.Sign() != exact.Sign() {
			t.Fatalf("got %s, want %s", total, exact)
		}
		read, err := money.ParseTotal(total.String())
		if err != nil || !read.Equal(total) {
			t.Fatalf("read back as %s, %v", read, err)
		}
	})
}

func TestTotal_MinorRejectsValuesBeyondInt64(t *testing.T) {
	t.Parallel()
	// A sum too large for an amount says so, and a text that is no number is refused.
	large := money.TotalOf(math.MaxInt64).Add(money.TotalOf(1))
	if minor, fits := large.Minor(); fits {
		t.Errorf("%s fits as %d", large, minor)
	}
	if minor, fits := large.Sub(money.TotalOf(1)).Minor(); !fits || minor != math.MaxInt64 {
		t.Errorf("%d, %t", minor, fits)
	}
	for _, text := range []string{"", "1.5", "NaN", "Infinity", "1e3"} {
		if got, err := money.ParseTotal(text); err == nil {
			t.Errorf("%q was read as %s", text, got)
		}
	}
}
