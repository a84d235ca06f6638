package money

import (
	"fmt"
	"math/bits"
)

// RateFromMajor turns a rate between major units (bitcoins for a dollar) into the
// rate between minor units (satoshi for a cent). It only moves the point.
// Errors: ErrCurrency, ErrRate if the result has no Rate.
func RateFromMajor(major Rate, from, to Currency) (Rate, error) {
	for _, currency := range []Currency{from, to} {
		if !currency.Known() {
			return Rate{}, fmt.Errorf("%w: %.8q", ErrUnknownCurrency, string(currency))
		}
	}
	return newRate(major.hi, major.lo, int(major.scale)+from.Decimals()-to.Decimals())
}

// SimplestRate is the rate with the fewest places after the point at which sent
// units buy exactly received units: received ≤ sent × rate < received + 1. Of
// several with as few places it is the lowest.
// Errors: ErrOverflow unless both amounts are between 1 and MaxMinor.
func SimplestRate(sent, received int64) (Rate, error) {
	if sent < 1 || sent > MaxMinor || received < 1 || received > MaxMinor {
		return Rate{}, fmt.Errorf("%w: %d for %d", ErrOverflow, received, sent)
	}

	// With as many places as sent has digits one fits, as its last place then
	// moves the product by less than a unit; so the loop ends at 16, and the
	// quotient stays below 10 × MaxMinor, well within a word.
	for places := 0; ; places++ {
		hi, lo := bits.Mul64(uint64(received), pow10[places])
		quotient, rest := bits.Div64(hi, lo, uint64(sent))
		if rest != 0 {
			quotient++ // the lowest of these places that yields received
		}
		productHi, productLo := bits.Mul64(quotient, uint64(sent))
		aboveHi, aboveLo := bits.Mul64(uint64(received)+1, pow10[places])
		if lessWide(productHi, productLo, aboveHi, aboveLo) {
			return newRate(0, quotient, places)
		}
	}
}

// Complement is 1 - r, exactly: what a fee of the fraction r leaves.
// ErrRate if r is above 1 or has more than 34 places.
func (r Rate) Complement() (Rate, error) {
	if r.scale > maxDigits {
		return Rate{}, fmt.Errorf("%w: 1 - %s has too many digits", ErrInvalidRate, r)
	}
	oneHi, oneLo := powerOfTen(int(r.scale))
	if lessWide(oneHi, oneLo, r.hi, r.lo) {
		return Rate{}, fmt.Errorf("%w: %s is above 1", ErrInvalidRate, r)
	}
	lo, borrow := bits.Sub64(oneLo, r.lo, 0)
	hi, _ := bits.Sub64(oneHi, r.hi, borrow)
	return newRate(hi, lo, int(r.scale))
}
