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
	// Every digit of the minor unit is shown, and none is lost at either end.
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
	// The text, without its point, is the number of minor units again, and the
	// digits after the point are the currency's.
	rapid.Check(t, func(t *rapid.T) {
		amount := money.Amount{
			Minor:    rapid.Int64().Draw(t, "minor"),
			Currency: rapid.SampledFrom(money.Currencies()).Draw(t, "currency"),
		}

		digits, code, _ := strings.Cut(amount.String(), " ")
		whole, part, _ := strings.Cut(digits, ".")

		back, ok := new(big.Int).SetString(whole+part, 10)
		if !ok || back.Cmp(big.NewInt(amount.Minor)) != 0 || len(part) != amount.Currency.Decimals() || code != string(amount.Currency) {
			t.Fatalf("%d of %s reads %q", amount.Minor, amount.Currency, amount)
		}
	})
}

func TestAmount_AddAndSubAreExactOrOverflow(t *testing.T) {
	t.Parallel()
	// A sum or difference is the true one, or an overflow exactly when the true
	// one does not fit; amounts of one currency follow.
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
	// Dollars and euros have no sum, not even when one of them is nothing.
	dollars, euros := money.Amount{Minor: 1, Currency: "USD"}, money.Amount{Currency: "EUR"}
	if _, err := dollars.Add(euros); !errors.Is(err, money.ErrCurrencyMismatch) {
		t.Errorf("Add: %v, want ErrMismatch", err)
	}
	if _, err := dollars.Sub(euros); !errors.Is(err, money.ErrCurrencyMismatch) {
		t.Errorf("Sub: %v, want ErrMismatch", err)
	}
}

// anyInt64 draws numbers of all sizes, and often the very ends.
func anyInt64() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64(),
		rapid.Int64Range(-3, 3),
		rapid.Int64Range(math.MaxInt64-3, math.MaxInt64),
		rapid.Int64Range(math.MinInt64, math.MinInt64+3),
	)
}
