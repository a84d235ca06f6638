package money

import (
	"fmt"
	"math/big"
)

// Total is a sum of amounts in minor units: a whole number of any size, above or below
// zero. Sums over a whole ledger may not fit where a single amount does; a Total always
// holds them. The zero Total is 0. A Total never changes: sums are new ones.
type Total struct{ sum *big.Int }

// TotalOf is a number of minor units as a Total.
func TotalOf(minor int64) Total { return Total{big.NewInt(minor)} }

// ParseTotal reads a whole number in decimal digits, with a minus in front when it is
// below zero. Error: ErrOverflow for what is none.
func ParseTotal(text string) (Total, error) {
	sum, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return Total{}, fmt.Errorf("%w: %.40q is no whole number", ErrOverflow, text)
	}
	return Total{sum}, nil
}

// Add is t + other.
func (t Total) Add(other Total) Total { return Total{new(big.Int).Add(t.big(), other.big())} }

// Sub is t - other.
func (t Total) Sub(other Total) Total { return Total{new(big.Int).Sub(t.big(), other.big())} }

// Neg is -t.
func (t Total) Neg() Total { return Total{new(big.Int).Neg(t.big())} }

// Sign is -1, 0 or 1.
func (t Total) Sign() int { return t.big().Sign() }

// Equal tells whether both are the same number.
func (t Total) Equal(other Total) bool { return t.big().Cmp(other.big()) == 0 }

// Minor is the number as an amount; false when it does not fit.
func (t Total) Minor() (int64, bool) { return t.big().Int64(), t.big().IsInt64() }

// String is the number in decimal digits.
func (t Total) String() string { return t.big().String() }

func (t Total) big() *big.Int {
	if t.sum == nil {
		return new(big.Int)
	}
	return t.sum
}
