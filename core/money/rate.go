package money

import (
	"fmt"
	"strconv"
)

// Rate is an exact positive decimal: minor units received for one minor unit
// sent, or a fraction such as a fee's. It has at most 34 significant digits,
// at most 62 places after the point and lies below 10^34.
//
// A Rate is a plain value without references: copy it, compare it with ==, use
// it as a key. The zero Rate is 0, which is a fraction but no exchange rate.
type Rate struct {
	// The number is (hi·2^64 + lo) / 10^scale. The scale is the smallest that
	// holds it, so that one number has one representation.
	hi, lo uint64
	scale  uint8
}

const (
	maxDigits = 34 // significant digits, as in IEEE 754 decimal128
	maxPlaces = 62 // with "0." in front that makes maxText characters
	maxText   = 64
)

// one is the rate that changes nothing.
var one = Rate{lo: 1}

// IsZero tells whether the rate is 0.
func (r Rate) IsZero() bool { return r == Rate{} }

// Places is the number of digits after the point.
func (r Rate) Places() int { return int(r.scale) }

// String is the number in plain digits, without exponent or trailing zeros:
// "0.003", "1000", "0". ParseFraction or ParseRate reads it back as the same Rate.
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

// newRate makes the canonical Rate of (hi·2^64 + lo) / 10^scale; the scale may
// be negative. ErrRate if the number has no Rate.
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
