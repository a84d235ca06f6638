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

func TestParseRate(t *testing.T) {
	t.Parallel()
	// A number is parsed exactly in any notation, and written in plain digits.
	for text, want := range map[string]string{
		"1": "1", "0.9231": "0.9231", "1000": "1000", "1e3": "1000", "1E+3": "1000", "12.5e-4": "0.00125",
		"1.500": "1.5", "100.000": "100", "0.00000001": "0.00000001", "0.10e1": "1",
		"9999999999999999999999999999999999":                               "9999999999999999999999999999999999",
		"18446744073709551616":                                             "18446744073709551616",
		"184467440737095516160000000000.0001":                              "184467440737095516160000000000.0001",
		"1.000000000000000000000000000000000000000000000000000000":         "1",
		"0.00000000000000000000000000000000000000000000000000000000000001": "0." + strings.Repeat("0", 61) + "1",
	} {
		got, err := money.ParseRate(text)
		if err != nil || got.String() != want {
			t.Errorf("ParseRate(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestParseRate_RejectsInvalid(t *testing.T) {
	t.Parallel()
	// Any text that is not a positive number, or does not fit exactly, is refused quickly
	// and without rounding.
	for _, text := range []string{
		"", " ", "1 ", " 1", "-1", "+1", "-0", "NaN", "sNaN", "qnan1", "Inf", "inf", "Infinity", "-inf", "0x10", "1_000", "1,5",
		"1.", ".5", "01", "1.2.3", "1e", "1e+", "e5", "1e100", "1e-99999999", "1e99999999", "½", "١", "1\x00",
		"1e34", "1e99", "1e-63", "1e-99", "10000000000000000000000000000000000", // more than 34 digits or 62 decimals
		"1.2345678901234567890123456789012345", strings.Repeat("9", 64), strings.Repeat("1", 65), "1." + strings.Repeat("0", 63),
		"0", "0.000", "0e5",
	} {
		if got, err := money.ParseRate(text); !errors.Is(err, money.ErrInvalidRate) || got != (money.Rate{}) {
			t.Errorf("ParseRate(%q) = %s, %v; want ErrInvalidRate", text, got, err)
		}
	}
}

func TestParseFraction(t *testing.T) {
	t.Parallel()
	// A fraction is from 0 to 1, both included.
	for text, want := range map[string]string{"0": "0", "0.000": "0", "0e9": "0", "0.003": "0.003", "1": "1", "1.0": "1"} {
		if got, err := money.ParseFraction(text); err != nil || got.String() != want {
			t.Errorf("ParseFraction(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"1.0000000001", "2", "-0.1", "", "NaN", "30%"} {
		if got, err := money.ParseFraction(text); !errors.Is(err, money.ErrInvalidRate) || got != (money.Rate{}) {
			t.Errorf("ParseFraction(%q) = %s, %v; want ErrInvalidRate", text, got, err)
		}
	}
}

func TestMustRate_PanicsOnInvalid(t *testing.T) {
	t.Parallel()
	// An invalid constant panics; a valid one is parsed.
	if got := money.MustRate("1.5").String() + " " + money.MustFraction("0").String(); got != "1.5 0" {
		t.Errorf("parsed as %s", got)
	}
	for name, must := range map[string]func(){
		"MustRate":     func() { money.MustRate("0") },
		"MustFraction": func() { money.MustFraction("1.1") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s accepted an invalid number", name)
				}
			}()
			must()
		}()
	}
}

func TestRate_StringRoundTrip(t *testing.T) {
	t.Parallel()
	// The text of a rate is its number, and is parsed as a Rate that is equal by ==.
	rapid.Check(t, func(t *rapid.T) {
		rate := anyRate().Draw(t, "rate")

		back, err := money.ParseRate(rate.String())
		if err != nil || back != rate || back.Cmp(rate) != 0 {
			t.Fatalf("%s is parsed as %s, %v", rate, back, err)
		}
		_, places, _ := strings.Cut(rate.String(), ".")
		if len(places) != rate.Places() || strings.HasSuffix(places, "0") {
			t.Fatalf("%s has %d decimals", rate, rate.Places())
		}
	})
}

func TestRate_FloorCeilCeilDivAreExact(t *testing.T) {
	t.Parallel()
	// Floor, Ceil and CeilDiv are exact results rounded once, and ErrOverflow exactly if
	// the result does not fit.
	rapid.Check(t, func(t *rapid.T) {
		rate := anyRate().Draw(t, "rate")
		minor := anyMinor().Draw(t, "minor")
		product := new(big.Rat).Mul(rat(rate), new(big.Rat).SetInt64(minor))
		quotient := new(big.Rat).Quo(new(big.Rat).SetInt64(minor), rat(rate))

		for _, c := range []struct {
			name  string
			apply func(int64) (int64, error)
			truth *big.Int
		}{
			{"Floor", rate.Floor, floor(product)},
			{"Ceil", rate.Ceil, ceil(product)},
			{"CeilDiv", rate.CeilDiv, ceil(quotient)},
		} {
			got, err := c.apply(minor)
			switch {
			case !c.truth.IsInt64():
				if !errors.Is(err, money.ErrOverflow) {
					t.Fatalf("(%s).%s(%d) = %d, %v; want ErrOverflow", rate, c.name, minor, got, err)
				}
			case err != nil || got != c.truth.Int64():
				t.Fatalf("(%s).%s(%d) = %d, %v; want %s", rate, c.name, minor, got, err, c.truth)
			}
		}
	})
}

func TestRate_FloorCeilCeilDivAgreeOnWholeResults(t *testing.T) {
	t.Parallel()
	// If the product is a whole number, all three functions return it. The amount is
	// divided by a power of ten, and the rate multiplied by it.
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(0, 15).Draw(t, "places")
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil).Int64()
		minor := rapid.Int64Range(1, 9_000).Draw(t, "units") * unit
		coefficient := rapid.Int64Range(1, 1_000_000).Draw(t, "coefficient")
		rate := mustRate(t, big.NewInt(coefficient), places)

		down, downErr := rate.Floor(minor)
		up, upErr := rate.Ceil(minor)
		if want := minor / unit * coefficient; downErr != nil || upErr != nil || down != want || up != want {
			t.Fatalf("%d × %s = %d or %d, want %d", minor, rate, down, up, want)
		}
		if back, err := rate.CeilDiv(down); err != nil || back != minor {
			t.Fatalf("%d / %s = %d, %v; want %d", down, rate, back, err, minor)
		}
	})
}

func TestRate_CeilDivIsSmallestSufficientAmount(t *testing.T) {
	t.Parallel()
	// CeilDiv returns the smallest amount that yields the wanted one: one unit less does
	// not yield it.
	rapid.Check(t, func(t *rapid.T) {
		rate := anyRate().Draw(t, "rate")
		want := rapid.Int64Range(1, money.MaxMinor).Draw(t, "want")
		need, err := rate.CeilDiv(want)
		if err != nil {
			t.Skip("does not fit")
		}

		if got, err := rate.Floor(need); err == nil && got < want {
			t.Fatalf("%d at %s yields %d, want at least %d", need, rate, got, want)
		}
		if got, err := rate.Floor(need - 1); err != nil || got >= want {
			t.Fatalf("%d at %s yields %d (%v), but CeilDiv returned %d", need-1, rate, got, err, need)
		}
	})
}

func TestRate_RejectsNegativeAmountsAndDivisionByZero(t *testing.T) {
	t.Parallel()
	// Amounts below zero and division by zero are errors; an amount of zero is not.
	half := money.MustRate("0.5")
	for name, apply := range map[string]func(int64) (int64, error){"Floor": half.Floor, "Ceil": half.Ceil, "CeilDiv": half.CeilDiv} {
		for _, minor := range []int64{-1, math.MinInt64} {
			if got, err := apply(minor); !errors.Is(err, money.ErrNegativeAmount) {
				t.Errorf("%s(%d) = %d, %v; want ErrNegativeAmount", name, minor, got, err)
			}
		}
		if got, err := apply(0); got != 0 || err != nil {
			t.Errorf("%s(0) = %d, %v", name, got, err)
		}
	}
	if got, err := (money.Rate{}).CeilDiv(1); !errors.Is(err, money.ErrInvalidRate) {
		t.Errorf("1 / 0 = %d, %v; want ErrInvalidRate", got, err)
	}
	if got, err := (money.Rate{}).Ceil(math.MaxInt64); got != 0 || err != nil {
		t.Errorf("MaxInt64 × 0 = %d, %v", got, err)
	}
}

// anyRate draws positive rates of all sizes and lengths: common ones, short ones, and
// ones with the maximum of digits.
func anyRate() *rapid.Generator[money.Rate] {
	return rapid.Custom(func(t *rapid.T) money.Rate {
		digits := rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(1, 34)).Draw(t, "digits")
		places := rapid.OneOf(rapid.IntRange(0, 8), rapid.IntRange(0, 62)).Draw(t, "places")
		text := []byte{byte('0' + rapid.IntRange(1, 9).Draw(t, "first"))}
		for range digits - 1 {
			text = append(text, byte('0'+rapid.IntRange(0, 9).Draw(t, "digit")))
		}
		coefficient, _ := new(big.Int).SetString(string(text), 10)
		return mustRate(t, coefficient, places)
	})
}

// anyMinor draws amounts of all sizes, and often the extremes.
func anyMinor() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(0, 100_000),
		rapid.Int64Range(0, money.MaxMinor),
		rapid.Int64Range(0, math.MaxInt64),
		rapid.Int64Range(math.MaxInt64-3, math.MaxInt64),
	)
}

// mustRate returns coefficient / 10^places, parsed from text.
func mustRate(t *rapid.T, coefficient *big.Int, places int) money.Rate {
	text := coefficient.String()
	if missing := places + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	if places > 0 {
		text = text[:len(text)-places] + "." + text[len(text)-places:]
	}
	rate, err := money.ParseRate(text)
	if err != nil {
		t.Fatalf("ParseRate(%q): %v", text, err)
	}
	return rate
}

func rat(rate money.Rate) *big.Rat {
	r, ok := new(big.Rat).SetString(rate.String())
	if !ok {
		panic("not a number: " + rate.String())
	}
	return r
}

func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

func ceil(r *big.Rat) *big.Int {
	n := new(big.Int).Add(r.Num(), r.Denom())
	return n.Sub(n, big.NewInt(1)).Div(n, r.Denom())
}

func TestRate_TruncateSignificant(t *testing.T) {
	t.Parallel()
	// Digits count from the first that is not zero, and digits before the decimal point
	// are never removed.
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
	// The result is never above the rate, less than one unit of its last digit below it,
	// and unchanged if truncated again.
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
			t.Fatalf("%s to %d digits is %s: more than a unit less", rate, digits, short)
		}
	})
}
