package money

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxMinor is the largest amount of minor units a single movement of money may
// have. It leaves room for sums of a thousand such amounts in an int64.
const MaxMinor int64 = 9_000_000_000_000_000

// Amount is a sum of money: a number of minor units (cents, satoshi) of a
// currency. It may be negative. The zero Amount is nothing of no currency.
type Amount struct {
	Minor    int64
	Currency Currency
}

// Add is a + b. Errors: ErrMismatch, ErrOverflow.
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

// Sub is a - b. Errors: ErrMismatch, ErrOverflow.
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

// String is the amount in major units with all the currency's digits, and the
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

// AddMinor is a + b, or ErrOverflow.
func AddMinor(a, b int64) (int64, error) {
	if (b > 0 && a > math.MaxInt64-b) || (b < 0 && a < math.MinInt64-b) {
		return 0, fmt.Errorf("%w: %d + %d", ErrOverflow, a, b)
	}
	return a + b, nil
}

// SubMinor is a - b, or ErrOverflow.
func SubMinor(a, b int64) (int64, error) {
	if (b < 0 && a > math.MaxInt64+b) || (b > 0 && a < math.MinInt64+b) {
		return 0, fmt.Errorf("%w: %d - %d", ErrOverflow, a, b)
	}
	return a - b, nil
}

// magnitude is |n|, also for the smallest int64, which has no int64 opposite.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
