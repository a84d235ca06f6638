package money_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
)

func TestRate_MulDivInvRoundTo34Digits(t *testing.T) {
	t.Parallel()
	// Mul, Div and Inv return the exact result rounded half to even to 34 digits, or ErrInvalidRate if it does not fit.
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyRate().Draw(t, "a"), anyRate().Draw(t, "b")

		for _, c := range []struct {
			name  string
			make  func() (money.Rate, error)
			truth *big.Rat
		}{
			{"Mul", func() (money.Rate, error) { return a.Mul(b) }, new(big.Rat).Mul(rat(a), rat(b))},
			{"Div", func() (money.Rate, error) { return a.Div(b) }, new(big.Rat).Quo(rat(a), rat(b))},
			{"Inv", a.Inv, new(big.Rat).Inv(rat(a))},
		} {
			want, fits := roundedTo34(c.truth)
			got, err := c.make()
			switch {
			case !fits:
				if !errors.Is(err, money.ErrInvalidRate) {
					t.Fatalf("%s of %s and %s = %s, %v; want ErrInvalidRate", c.name, a, b, got, err)
				}
			case err != nil || got.String() != want:
				t.Fatalf("%s of %s and %s = %s, %v; want %s", c.name, a, b, got, err, want)
			}
		}
	})
}

func TestRate_CmpMatchesNumericOrder(t *testing.T) {
	t.Parallel()
	// Cmp orders rates as numbers, and == holds exactly for equal numbers.
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyRate().Draw(t, "a"), anyRate().Draw(t, "b")
		if want := rat(a).Cmp(rat(b)); a.Cmp(b) != want || b.Cmp(a) != -want || (a == b) != (want == 0) {
			t.Fatalf("%s against %s: %d, want %d", a, b, a.Cmp(b), want)
		}
	})
	if zero := (money.Rate{}); zero.Cmp(money.MustRate("1e-62")) != -1 || zero.Cmp(zero) != 0 || !zero.IsZero() ||
		money.MustRate("1").IsZero() {
		t.Error("zero is not the smallest")
	}
}

func TestRate_ArithmeticWithZero(t *testing.T) {
	t.Parallel()
	// Zero times any rate is zero; division by zero is an error.
	zero, two := money.Rate{}, money.MustRate("2")
	if got, err := zero.Mul(two); got != zero || err != nil {
		t.Errorf("0 × 2 = %s, %v", got, err)
	}
	if got, err := zero.Div(two); got != zero || err != nil {
		t.Errorf("0 / 2 = %s, %v", got, err)
	}
	if got, err := two.Div(zero); !errors.Is(err, money.ErrInvalidRate) {
		t.Errorf("2 / 0 = %s, %v; want ErrInvalidRate", got, err)
	}
	if got, err := zero.Inv(); !errors.Is(err, money.ErrInvalidRate) {
		t.Errorf("1 / 0 = %s, %v; want ErrInvalidRate", got, err)
	}
}

func TestRate_Complement(t *testing.T) {
	t.Parallel()
	// The complement is exact.
	for text, want := range map[string]string{
		"0": "1", "1": "0", "0.003": "0.997", "0.5": "0.5",
		"0.0000000000000000000000000000000001": "0.9999999999999999999999999999999999",
		"0.9999999999999999999999999999999999": "0.0000000000000000000000000000000001",
	} {
		if got, err := money.MustFraction(text).Complement(); err != nil || got.String() != want {
			t.Errorf("1 - %s = %s, %v; want %s", text, got, err, want)
		}
	}

	// The complement of a rate above one is negative, and 35 nines do not fit.
	for _, text := range []string{"1.01", "2", "9999999999999999999999999999999999", "1e-35"} {
		if got, err := money.MustRate(text).Complement(); !errors.Is(err, money.ErrInvalidRate) {
			t.Errorf("1 - %s = %s, %v; want ErrInvalidRate", text, got, err)
		}
	}
}

func TestRateFromMajor(t *testing.T) {
	t.Parallel()
	// A rate between dollars and bitcoin becomes one between cents and satoshi, by the
	// difference of their decimals.
	for _, c := range []struct {
		major    string
		from, to money.Currency
		want     string
	}{
		{"0.00001", "USD", "BTC", "10"},      // 100,000 dollars a bitcoin: 10 satoshi a cent
		{"100000", "BTC", "USD", "0.1"},      // and back
		{"0.9231", "USD", "EUR", "0.9231"},   // two decimals on both sides
		{"1", "USDC", "USD", "0.0001"},       // six to two
		{"25400.5", "USD", "VND", "254.005"}, // two to none
		{"0.0000394", "VND", "USD", "0.00394"},
		{"3.25", "KWD", "USD", "0.325"},
		{"1300.7", "USD", "XOF", "13.007"},
		{"2540000000", "BTC", "VND", "25.4"},
		{"0.0067", "JPY", "USD", "0.67"},
		{"150", "USD", "JPY", "1.5"},
	} {
		if got, err := money.RateFromMajor(money.MustRate(c.major), c.from, c.to); err != nil || got.String() != c.want {
			t.Errorf("%s %s a %s is %s in minor units, %v; want %s", c.major, c.to, c.from, got, err, c.want)
		}
	}

	// Unknown currencies, and results that do not fit, are refused.
	if _, err := money.RateFromMajor(money.MustRate("1"), "XXX", "USD"); !errors.Is(err, money.ErrUnknownCurrency) {
		t.Errorf("from an unknown currency: %v, want ErrUnknownCurrency", err)
	}
	if _, err := money.RateFromMajor(money.MustRate("1"), "USD", "usd"); !errors.Is(err, money.ErrUnknownCurrency) {
		t.Errorf("to an unknown currency: %v, want ErrUnknownCurrency", err)
	}
	for _, c := range []struct {
		major    string
		from, to money.Currency
	}{{"1e33", "USD", "BTC"}, {"1e-62", "BTC", "USD"}} {
		if got, err := money.RateFromMajor(money.MustRate(c.major), c.from, c.to); !errors.Is(err, money.ErrInvalidRate) {
			t.Errorf("%s from %s to %s = %s, %v; want ErrInvalidRate", c.major, c.from, c.to, got, err)
		}
	}
}

func TestSimplestRate(t *testing.T) {
	t.Parallel()
	// Examples by hand: the rate with the fewest decimals that yields the amount.
	for _, c := range []struct {
		sent, received int64
		want           string
	}{
		{1, 1, "1"}, {1, money.MaxMinor, "9000000000000000"}, {money.MaxMinor, 1, "0.0000000000000002"},
		{7, 30, "4.3"},        // 4 yields 28, 5 yields 35, 4.3 yields 30.1
		{10000, 100000, "10"}, // exactly
		{10000, 100005, "10.0005"},
		{3, 10, "3.4"}, // 3.4 yields 10.2
		{2, 3, "1.5"},
	} {
		if got, err := money.SimplestRate(c.sent, c.received); err != nil || got.String() != c.want {
			t.Errorf("%d for %d: %s, %v; want %s", c.received, c.sent, got, err, c.want)
		}
	}
	for _, c := range [][2]int64{{0, 1}, {1, 0}, {-1, 1}, {1, -1}, {money.MaxMinor + 1, 1}, {1, money.MaxMinor + 1}} {
		if got, err := money.SimplestRate(c[0], c[1]); !errors.Is(err, money.ErrOverflow) {
			t.Errorf("%d for %d: %s, %v; want ErrOverflow", c[1], c[0], got, err)
		}
	}
}

func TestSimplestRate_NoCoarserRateFits(t *testing.T) {
	t.Parallel()
	// The rate yields the amount, and no rate with one decimal less does.
	amounts := rapid.OneOf(rapid.Int64Range(1, 1000), rapid.Int64Range(1, money.MaxMinor), rapid.Int64Range(money.MaxMinor-3, money.MaxMinor))
	rapid.Check(t, func(t *rapid.T) {
		sent, received := amounts.Draw(t, "sent"), amounts.Draw(t, "received")

		rate, err := money.SimplestRate(sent, received)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := rate.Floor(sent); err != nil || got != received {
			t.Fatalf("%d at %s yields %d, %v; want %d", sent, rate, got, err, received)
		}
		if rate.Places() == 0 {
			return
		}

		// Rates with one decimal less in [received/sent, (received+1)/sent).
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(rate.Places()-1)), nil)
		lowest := ceil(new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(received), unit), big.NewInt(sent)))
		yield := new(big.Rat).SetFrac(new(big.Int).Mul(lowest, big.NewInt(sent)), unit)
		if yield.Cmp(new(big.Rat).SetInt64(received+1)) < 0 {
			t.Fatalf("%s for %d to %d is not the simplest: %s / %s would do", rate, sent, received, lowest, unit)
		}
	})
}

func FuzzParseRate(f *testing.F) {
	for _, text := range []string{"1", "0.003", "1e-5", "1e99999999", "NaN", "-1", "00", "1.", "9999999999999999999999999999999999",
		"1.5E+10"} {
		f.Add(text)
	}
	// A parsed rate equals the number that an independent parser returns, and its text is
	// parsed as the same rate.
	f.Fuzz(func(t *testing.T, text string) {
		rate, err := money.ParseRate(text)
		if err != nil {
			if !errors.Is(err, money.ErrInvalidRate) || rate != (money.Rate{}) {
				t.Fatalf("%q: %s, %v", text, rate, err)
			}
			return
		}
		truth, ok := new(big.Rat).SetString(text)
		if !ok || truth.Cmp(rat(rate)) != 0 || truth.Sign() <= 0 {
			t.Fatalf("%q is parsed as %s", text, rate)
		}
		if back, err := money.ParseRate(rate.String()); err != nil || back != rate {
			t.Fatalf("the text of %q is parsed as %s, %v", rate, back, err)
		}
	})
}

// roundedTo34 returns r in plain digits, rounded half to even to 34 digits, and
// reports whether the result is within the bounds of a Rate.
func roundedTo34(r *big.Rat) (text string, fits bool) {
	ten, limit := big.NewInt(10), new(big.Int).Exp(big.NewInt(10), big.NewInt(34), nil)
	places, scaled := 0, new(big.Rat).Set(r)
	for scaled.Cmp(new(big.Rat).SetInt(new(big.Int).Quo(limit, ten))) < 0 {
		scaled.Mul(scaled, new(big.Rat).SetInt(ten))
		places++
	}
	for scaled.Cmp(new(big.Rat).SetInt(limit)) >= 0 {
		scaled.Quo(scaled, new(big.Rat).SetInt(ten))
		places--
	}

	coefficient := floor(scaled)
	rest := new(big.Rat).Sub(scaled, new(big.Rat).SetInt(coefficient))
	if half := rest.Cmp(big.NewRat(1, 2)); half > 0 || (half == 0 && coefficient.Bit(0) == 1) {
		coefficient.Add(coefficient, big.NewInt(1))
	}
	value := new(big.Rat).SetInt(coefficient)
	shift := new(big.Rat).SetInt(new(big.Int).Exp(ten, big.NewInt(int64(max(places, -places))), nil))
	if places >= 0 {
		value.Quo(value, shift)
	} else {
		value.Mul(value, shift)
	}

	text = value.FloatString(200)
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	whole, part, _ := strings.Cut(text, ".")
	return text, len(part) <= 62 && len(whole) <= 34
}
