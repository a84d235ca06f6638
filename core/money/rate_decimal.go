package money

import (
	"encoding/binary"
	"fmt"
	"regexp"

	"github.com/ericlagergren/decimal"
)

// The decimal library parses, multiplies and divides. Its numbers are used in this file
// only, because they are mutable and may be NaN or infinite.

// numberRegexp matches a number as in JSON, without a sign and with an exponent of at most
// two digits: the library hangs on a huge exponent, and accepts words such as "inf".
var numberRegexp = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$`)

// ParseRate parses a positive number of at most 64 characters: digits, optionally with a
// decimal point and an exponent. It never rounds: zero, and a number that does not fit
// exactly, are ErrInvalidRate.
func ParseRate(text string) (Rate, error) {
	rate, err := parse(text)
	if err == nil && rate.IsZero() {
		err = fmt.Errorf("%w: zero", ErrInvalidRate)
	}
	if err != nil {
		return Rate{}, err
	}
	return rate, nil
}

// ParseFraction parses a number from 0 to 1, both included, as ParseRate does.
func ParseFraction(text string) (Rate, error) {
	fraction, err := parse(text)
	if err == nil && fraction.Cmp(one) > 0 {
		err = fmt.Errorf("%w: %s is above 1", ErrInvalidRate, fraction)
	}
	if err != nil {
		return Rate{}, err
	}
	return fraction, nil
}

// MustRate is ParseRate for constants; it panics on an error.
func MustRate(text string) Rate {
	rate, err := ParseRate(text)
	if err != nil {
		panic(err)
	}
	return rate
}

// MustFraction is ParseFraction for constants; it panics on an error.
func MustFraction(text string) Rate {
	fraction, err := ParseFraction(text)
	if err != nil {
		panic(err)
	}
	return fraction
}

// Mul returns r × by, rounded half to even to 34 digits, or ErrInvalidRate if the result
// does not fit.
func (r Rate) Mul(by Rate) (Rate, error) {
	z := newDecimal128()
	return fromDecimal(z.Mul(r.decimal(), by.decimal()))
}

// BasisPoints returns a number of basis points, zero or more, as a fraction: 25 are 0.0025.
func BasisPoints(n int64) (Rate, error) {
	return fromDecimal(decimal.WithContext(decimal.ContextUnlimited).SetMantScale(n, 4).Reduce())
}

// Plus returns r + other exactly, or ErrInvalidRate if the result does not fit.
func (r Rate) Plus(other Rate) (Rate, error) {
	z := decimal.WithContext(decimal.ContextUnlimited)
	return fromDecimal(z.Add(r.decimal(), other.decimal()).Reduce())
}

// Div returns r / by, rounded half to even to 34 digits, or ErrInvalidRate if by is zero or
// the result does not fit.
func (r Rate) Div(by Rate) (Rate, error) {
	if by.IsZero() {
		return Rate{}, fmt.Errorf("%w: division by zero", ErrInvalidRate)
	}
	z := newDecimal128()
	return fromDecimal(z.Quo(r.decimal(), by.decimal()))
}

// Inv returns 1 / r, rounded half to even to 34 digits, or ErrInvalidRate if r is zero.
func (r Rate) Inv() (Rate, error) { return one.Div(r) }

// Cmp returns -1, 0 or 1 if r is below, equal to or above other.
func (r Rate) Cmp(other Rate) int { return r.decimal().Cmp(other.decimal()) }

func parse(text string) (Rate, error) {
	if len(text) > maxText {
		return Rate{}, fmt.Errorf("%w: longer than %d characters", ErrInvalidRate, maxText)
	}
	if !numberRegexp.MatchString(text) {
		return Rate{}, fmt.Errorf("%w: %q is not a plain positive number", ErrInvalidRate, text)
	}
	z, ok := decimal.WithContext(decimal.ContextUnlimited).SetString(text)
	if !ok {
		return Rate{}, fmt.Errorf("%w: %q", ErrInvalidRate, text)
	}
	return fromDecimal(z.Reduce())
}

// newDecimal128 returns a number whose operations round half to even to 34 digits.
func newDecimal128() *decimal.Big {
	context := decimal.Context128
	context.RoundingMode = decimal.ToNearestEven
	return decimal.WithContext(context)
}

func (r Rate) decimal() *decimal.Big {
	return decimal.WithContext(decimal.ContextUnlimited).SetBigMantScale(r.coefficient(), int(r.scale))
}

// fromDecimal converts a result of the library, or returns ErrInvalidRate.
func fromDecimal(z *decimal.Big) (Rate, error) {
	if err := z.Context.Err(); err != nil {
		return Rate{}, fmt.Errorf("%w: %w", ErrInvalidRate, err)
	}
	if !z.IsFinite() || z.Signbit() {
		return Rate{}, fmt.Errorf("%w: %s", ErrInvalidRate, z)
	}
	scale := z.Scale()
	coefficient := z.SetScale(0).Int(nil)
	var words [16]byte
	if coefficient.BitLen() > 8*len(words) {
		return Rate{}, fmt.Errorf("%w: more than %d digits", ErrInvalidRate, maxDigits)
	}
	coefficient.FillBytes(words[:])
	return newRate(binary.BigEndian.Uint64(words[:8]), binary.BigEndian.Uint64(words[8:]), scale)
}
