package money_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
)

func TestAmount_String(t *testing.T) {
	t.Parallel()
	// Every decimal of the currency is written, for the smallest and largest amounts too.
	for _, c := range []struct {
		amount money.Amount
		want   string
	}{
		{money.Amount{Minor: 10050, Currency: "USD"}, "100.50 USD"},
		{money.Amount{Minor: 5, Currency: "USD"}, "0.05 USD"},
		{money.Amount{Minor: 0, Currency: "USD"}, "0.00 USD"},
		{money.Amount{Minor: -5, Currency: "USD"}, "-0.05 USD"},
		{money.Amount{Minor: -12345, Currency: "KWD"}, "-12.345 KWD"},
		{money.Amount{Minor: 250, Currency: "JPY"}, "250 JPY"},
		{money.Amount{Minor: 0, Currency: "JPY"}, "0 JPY"},
		{money.Amount{Minor: 100000, Currency: "BTC"}, "0.00100000 BTC"},
		{money.Amount{Minor: 1_000_000, Currency: "USDC"}, "1.000000 USDC"},
		{money.Amount{Minor: math.MaxInt64, Currency: "BTC"}, "92233720368.54775807 BTC"},
		{money.Amount{Minor: math.MinInt64, Currency: "USD"}, "-92233720368547758.08 USD"},
	} {
		if got := c.amount.String(); got != c.want {
			t.Errorf("%d of %s is %q, want %q", c.amount.Minor, c.amount.Currency, got, c.want)
		}
	}
}

func TestAmount_StringRoundTrip(t *testing.T) {
	t.Parallel()
	// The text without its decimal point is the number of minor units, and it has as many
	// decimals as the currency.
	rapid.Check(t, func(t *rapid.T) {
		amount := money.Amount{
			Minor:    rapid.Int64().Draw(t, "minor"),
			Currency: rapid.SampledFrom(money.Currencies()).Draw(t, "currency"),
		}

		digits, code, _ := strings.Cut(amount.String(), " ")
		whole, part, _ := strings.Cut(digits, ".")

		back, ok := new(big.Int).SetString(whole+part, 10)
		if !ok || back.Cmp(big.NewInt(amount.Minor)) != 0 || len(part) != amount.Currency.Decimals() || code != string(amount.Currency) {
			t.Fatalf("%d of %s is written as %q", amount.Minor, amount.Currency, amount)
		}
	})
}

func TestAmount_AddAndSubAreExactOrOverflow(t *testing.T) {
	t.Parallel()
	// A sum or difference is exact, and ErrOverflow exactly if the exact one does not fit;
	// the same holds for amounts of one currency.
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyInt64().Draw(t, "a"), anyInt64().Draw(t, "b")
		x, y := money.Amount{Minor: a, Currency: "EUR"}, money.Amount{Minor: b, Currency: "EUR"}

		for _, c := range []struct {
			name   string
			truth  *big.Int
			minor  func(a, b int64) (int64, error)
			amount func(money.Amount) (money.Amount, error)
		}{
			{"sum", new(big.Int).Add(big.NewInt(a), big.NewInt(b)), money.AddMinor, x.Add},
			{"difference", new(big.Int).Sub(big.NewInt(a), big.NewInt(b)), money.SubMinor, x.Sub},
		} {
			minor, minorErr := c.minor(a, b)
			amount, amountErr := c.amount(y)
			if !c.truth.IsInt64() {
				if !errors.Is(minorErr, money.ErrOverflow) || !errors.Is(amountErr, money.ErrOverflow) {
					t.Fatalf("%s of %d and %d: %v and %v, want ErrOverflow", c.name, a, b, minorErr, amountErr)
				}
				continue
			}
			if minorErr != nil || minor != c.truth.Int64() {
				t.Fatalf("%s of %d and %d = %d, %v; want %s", c.name, a, b, minor, minorErr, c.truth)
			}
			if want := (money.Amount{Minor: c.truth.Int64(), Currency: "EUR"}); amountErr != nil || amount != want {
				t.Fatalf("%s of %s and %s = %s, %v; want %s", c.name, x, y, amount, amountErr, want)
			}
		}
	})
}

func TestAmount_AddRejectsCurrencyMismatch(t *testing.T) {
	t.Parallel()
	// Dollars and euros have no sum, not even if one of them is zero.
	dollars, euros := money.Amount{Minor: 1, Currency: "USD"}, money.Amount{Currency: "EUR"}
	if _, err := dollars.Add(euros); !errors.Is(err, money.ErrCurrencyMismatch) {
		t.Errorf("Add: %v, want ErrCurrencyMismatch", err)
	}
	if _, err := dollars.Sub(euros); !errors.Is(err, money.ErrCurrencyMismatch) {
		t.Errorf("Sub: %v, want ErrCurrencyMismatch", err)
	}
}

// anyInt64 draws numbers of all sizes, and often the extremes.
func anyInt64() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64(),
		rapid.Int64Range(-3, 3),
		rapid.Int64Range(math.MaxInt64-3, math.MaxInt64),
		rapid.Int64Range(math.MinInt64, math.MinInt64+3),
	)
}

func TestTotal_NeverOverflows(t *testing.T) {
	t.Parallel()
	// Sums of any amounts are exact, and their operands do not change.
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
			t.Fatalf("parsed as %s, %v", read, err)
		}
	})
}

func TestTotal_MinorRejectsValuesBeyondInt64(t *testing.T) {
	t.Parallel()
	// A sum too large for an amount does not fit, and a text that is no number is refused.
	large := money.TotalOf(math.MaxInt64).Add(money.TotalOf(1))
	if minor, fits := large.Minor(); fits {
		t.Errorf("%s fits as %d", large, minor)
	}
	if minor, fits := large.Sub(money.TotalOf(1)).Minor(); !fits || minor != math.MaxInt64 {
		t.Errorf("%d, %t", minor, fits)
	}
	for _, text := range []string{"", "1.5", "NaN", "Infinity", "1e3"} {
		if got, err := money.ParseTotal(text); err == nil {
			t.Errorf("%q was parsed as %s", text, got)
		}
	}
}
