package money

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// MaxMinor is the largest amount of one movement of money, in minor units. The sum of a
// thousand such amounts fits into an int64.
const MaxMinor int64 = 9_000_000_000_000_000

// Amount is a number of minor units (cents, satoshi) of a currency. It may be negative.
// The zero Amount is zero without a currency.
type Amount struct {
	Minor    int64
	Currency Currency
}

// Add returns a + b. Errors: ErrCurrencyMismatch, ErrOverflow.
func (a Amount) Add(b Amount) (Amount, error) {
	if a.Currency != b.Currency {
		return Amount{}, fmt.Errorf("%w: %q and %q", ErrCurrencyMismatch, a.Currency, b.Currency)
	}
	minor, err := AddMinor(a.Minor, b.Minor)
	if err != nil {
		return Amount{}, err
	}
	return Amount{minor, a.Currency}, nil
}

// Sub returns a - b. Errors: ErrCurrencyMismatch, ErrOverflow.
func (a Amount) Sub(b Amount) (Amount, error) {
	if a.Currency != b.Currency {
		return Amount{}, fmt.Errorf("%w: %q and %q", ErrCurrencyMismatch, a.Currency, b.Currency)
	}
	minor, err := SubMinor(a.Minor, b.Minor)
	if err != nil {
		return Amount{}, err
	}
	return Amount{minor, a.Currency}, nil
}

// String returns the amount in major units, with all decimals of the currency, and the
// code: "100.50 USD", "-0.00001000 BTC", "250 JPY".
func (a Amount) String() string {
	places := a.Currency.Decimals()
	digits := strconv.FormatUint(magnitude(a.Minor), 10)
	if missing := places + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}

	var text strings.Builder
	if a.Minor < 0 {
		text.WriteByte('-')
	}
	text.WriteString(digits[:len(digits)-places])
	if places > 0 {
		text.WriteByte('.')
		text.WriteString(digits[len(digits)-places:])
	}
	text.WriteByte(' ')
	text.WriteString(string(a.Currency))
	return text.String()
}

// AddMinor returns a + b, or ErrOverflow.
func AddMinor(a, b int64) (int64, error) {
	if (b > 0 && a > math.MaxInt64-b) || (b < 0 && a < math.MinInt64-b) {
		return 0, fmt.Errorf("%w: %d + %d", ErrOverflow, a, b)
	}
	return a + b, nil
}

// SubMinor returns a - b, or ErrOverflow.
func SubMinor(a, b int64) (int64, error) {
	if (b < 0 && a > math.MaxInt64+b) || (b > 0 && a < math.MinInt64+b) {
		return 0, fmt.Errorf("%w: %d - %d", ErrOverflow, a, b)
	}
	return a - b, nil
}

// magnitude returns |n|, also for the smallest int64, whose negation is no int64.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// Total is a sum of amounts in minor units: an integer of any size. Sums over a whole
// ledger may not fit into an int64, but always into a Total. The zero Total is 0. A Total
// is immutable.
type Total struct{ sum *big.Int }

// TotalOf returns minor as a Total.
func TotalOf(minor int64) Total { return Total{big.NewInt(minor)} }

// ParseTotal parses an integer in decimal digits, with a minus sign if it is below zero.
// Any other text is ErrOverflow.
func ParseTotal(text string) (Total, error) {
	sum, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return Total{}, fmt.Errorf("%w: %.40q is not an integer", ErrOverflow, text)
	}
	return Total{sum}, nil
}

// Add returns t + other.
func (t Total) Add(other Total) Total { return Total{new(big.Int).Add(t.big(), other.big())} }

// Sub returns t - other.
func (t Total) Sub(other Total) Total { return Total{new(big.Int).Sub(t.big(), other.big())} }

// Neg returns -t.
func (t Total) Neg() Total { return Total{new(big.Int).Neg(t.big())} }

// Sign returns -1, 0 or 1.
func (t Total) Sign() int { return t.big().Sign() }

// Equal reports whether t and other are the same number.
func (t Total) Equal(other Total) bool { return t.big().Cmp(other.big()) == 0 }

// Minor returns the number as an int64, or false if it does not fit.
func (t Total) Minor() (int64, bool) { return t.big().Int64(), t.big().IsInt64() }

// String returns the number in decimal digits.
func (t Total) String() string { return t.big().String() }

// Major returns the number in major units of a currency with all decimals: "-100.50".
func (t Total) Major(c Currency) string {
	text, decimals := new(big.Int).Abs(t.big()).String(), c.Decimals()
	if decimals > 0 {
		if missing := decimals + 1 - len(text); missing > 0 {
			text = strings.Repeat("0", missing) + text
		}
		text = text[:len(text)-decimals] + "." + text[len(text)-decimals:]
	}
	if t.Sign() < 0 {
		return "-" + text
	}
	return text
}

func (t Total) big() *big.Int {
	if t.sum == nil {
		return new(big.Int)
	}
	return t.sum
}
