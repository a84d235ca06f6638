package iso20022

import (
	"fmt"
	"math/big"
	"strings"

	"causeway/core/money"
)

// maxDigits is how many digits the amounts and sums of a message have at most.
const maxDigits = 18

// controlSum is a sum of amounts whatever their currencies, as ISO 20022 wants it: 1 USD and 100 JPY are 101.
type controlSum struct {
	minor    big.Int // in units of 10^-decimals
	decimals int
}

func (s *controlSum) add(total money.Total, currency money.Currency) error {
	minor, ok := new(big.Int).SetString(total.String(), 10)
	if !ok {
		return fmt.Errorf("the sum %s is not an integer", total)
	}
	decimals := currency.Decimals()
	if decimals > s.decimals {
		s.minor.Mul(&s.minor, powerOfTen(decimals-s.decimals))
		s.decimals = decimals
	}
	s.minor.Add(&s.minor, minor.Mul(minor, powerOfTen(s.decimals-decimals)))
	return nil
}

// text returns the sum in major units.
func (s *controlSum) text() (string, error) {
	digits := s.minor.String()
	if len(digits) > maxDigits {
		return "", fmt.Errorf("the sum of the transfers has more than %d digits: write several files", maxDigits)
	}
	if missing := s.decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	if s.decimals == 0 {
		return digits, nil
	}
	return digits[:len(digits)-s.decimals] + "." + digits[len(digits)-s.decimals:], nil
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
