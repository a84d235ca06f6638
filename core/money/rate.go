package money

import (
	"fmt"
	"math/bits"
	"strconv"
)

// Rate is an exact decimal of zero or more: minor units received for one minor unit sent,
// or a fraction such as a fee. It has at most 34 significant digits and 62 decimals, and is
// below 10^34.
//
// A Rate is a plain value: it can be copied, compared with == and used as a key. The zero
// Rate is 0, which is a fraction but not an exchange rate.
type Rate struct {
	// The number is (hi·2^64 + lo) / 10^scale, with the smallest possible scale, so that
	// each number has one representation.
	hi, lo uint64
	scale  uint8
}

const (
	maxDigits = 34 // significant digits, as in IEEE 754 decimal128
	maxPlaces = 62 // with "0." that is maxText characters
	maxText   = 64
)

// one is the rate 1.
var one = Rate{lo: 1}

// IsZero reports whether the rate is 0.
func (r Rate) IsZero() bool { return r == Rate{} }

// Places returns the number of decimals.
func (r Rate) Places() int { return int(r.scale) }

// String returns the number in plain digits, without exponent or trailing zeros: "0.003",
// "1000", "0". ParseRate or ParseFraction parses it as the same Rate.
func (r Rate) String() string {
	var space [maxText + 2]byte
	digits := appendWide(space[:0], r.hi, r.lo)
	if r.scale == 0 {
		return string(digits)
	}

	point := len(digits) - int(r.scale)
	text := make([]byte, 0, maxText)
	if point <= 0 {
		text = append(text, "0."...)
		for ; point < 0; point++ {
			text = append(text, '0')
		}
		return string(append(text, digits...))
	}
	text = append(text, digits[:point]...)
	text = append(text, '.')
	return string(append(text, digits[point:]...))
}

// newRate returns the Rate (hi·2^64 + lo) / 10^scale, where the scale may be negative, or
// ErrInvalidRate if the number does not fit.
func newRate(hi, lo uint64, scale int) (Rate, error) {
	if hi == 0 && lo == 0 {
		return Rate{}, nil
	}
	for scale > 0 {
		qhi, qlo, rest := divWide(hi, lo, 10)
		if rest != 0 {
			break
		}
		hi, lo, scale = qhi, qlo, scale-1
	}
	for ; scale < 0; scale++ {
		if !belowLimit(hi, lo) {
			break
		}
		hi, lo = mulWide(hi, lo, 10)
	}
	if !belowLimit(hi, lo) || scale < 0 {
		return Rate{}, fmt.Errorf("%w: more than %d digits", ErrInvalidRate, maxDigits)
	}
	if scale > maxPlaces {
		return Rate{}, fmt.Errorf("%w: more than %d places after the point", ErrInvalidRate, maxPlaces)
	}
	return Rate{hi, lo, uint8(scale)}, nil
}

// appendWide appends the decimal digits of hi·2^64 + lo, which is below 10^38.
func appendWide(text []byte, hi, lo uint64) []byte {
	if hi == 0 {
		return strconv.AppendUint(text, lo, 10)
	}
	_, upper, lower := divWide(hi, lo, pow10[19])
	text = strconv.AppendUint(text, upper, 10)
	for digits := len(strconv.AppendUint(nil, lower, 10)); digits < 19; digits++ {
		text = append(text, '0')
	}
	return strconv.AppendUint(text, lower, 10)
}

// RateFromMajor converts a rate between major units (bitcoin for a dollar) to the rate
// between minor units (satoshi for a cent); it only moves the decimal point. Errors:
// ErrUnknownCurrency, and ErrInvalidRate if the result does not fit.
func RateFromMajor(major Rate, from, to Currency) (Rate, error) {
	for _, currency := range []Currency{from, to} {
		if !currency.Known() {
			return Rate{}, fmt.Errorf("%w: %.8q", ErrUnknownCurrency, string(currency))
		}
	}
	return newRate(major.hi, major.lo, int(major.scale)+from.Decimals()-to.Decimals())
}

// RateToMajor converts a rate between minor units to the rate between major units, as RateFromMajor
// converts it back. Errors: as RateFromMajor.
func RateToMajor(minor Rate, from, to Currency) (Rate, error) { return RateFromMajor(minor, to, from) }

// SimplestRate returns the rate with the fewest decimals at which sent units buy exactly
// received units: received ≤ sent × rate < received + 1. If there are several, it returns
// the lowest. Both amounts must be between 1 and MaxMinor, else it returns ErrOverflow.
func SimplestRate(sent, received int64) (Rate, error) {
	if sent < 1 || sent > MaxMinor || received < 1 || received > MaxMinor {
		return Rate{}, fmt.Errorf("%w: %d for %d", ErrOverflow, received, sent)
	}

	// With as many decimals as sent has digits there is such a rate, because its last
	// digit then changes the product by less than one unit. So the loop ends at 16, and
	// the quotient is below 10 × MaxMinor, which fits into a word.
	for places := 0; ; places++ {
		hi, lo := bits.Mul64(uint64(received), pow10[places])
		quotient, rest := bits.Div64(hi, lo, uint64(sent))
		if rest != 0 {
			quotient++ // the lowest with this number of decimals that yields received
		}
		productHi, productLo := bits.Mul64(quotient, uint64(sent))
		aboveHi, aboveLo := bits.Mul64(uint64(received)+1, pow10[places])
		if lessWide(productHi, productLo, aboveHi, aboveLo) {
			return newRate(0, quotient, places)
		}
	}
}

// Complement returns 1 - r exactly: what is left after a fee of the fraction r. It returns
// ErrInvalidRate if r is above 1 or has more than 34 decimals.
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

// TruncateSignificant returns the rate rounded down to a number of significant digits, from
// 1 to 34, as markets quote rates. A rate with no more digits than that is unchanged.
func (r Rate) TruncateSignificant(digits int) Rate {
	hi, lo, scale := r.hi, r.lo, int(r.scale)
	for surplus := len(appendWide(nil, hi, lo)) - digits; surplus > 0 && scale > 0; surplus-- {
		hi, lo, _ = divWide(hi, lo, 10)
		scale--
	}
	short, err := newRate(hi, lo, scale)
	if err != nil {
		return r // impossible: it has fewer digits and decimals than r
	}
	return short
}
