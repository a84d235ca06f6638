package money

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Floor returns minor × rate, computed exactly and then rounded down to a whole unit.
// Errors: ErrNegativeAmount, ErrOverflow.
func (r Rate) Floor(minor int64) (int64, error) {
	whole, _, err := r.apply(minor)
	return whole, err
}

// Ceil returns minor × rate, computed exactly and then rounded up to a whole unit.
// Errors: ErrNegativeAmount, ErrOverflow.
func (r Rate) Ceil(minor int64) (int64, error) {
	whole, exact, err := r.apply(minor)
	if err != nil || exact {
		return whole, err
	}
	return AddMinor(whole, 1)
}

// CeilDiv returns minor / rate, computed exactly and then rounded up to a whole unit: the
// smallest amount that the rate converts to minor or more. Errors: ErrNegativeAmount,
// ErrOverflow, and ErrInvalidRate for a rate of zero.
func (r Rate) CeilDiv(minor int64) (int64, error) {
	if minor < 0 {
		return 0, fmt.Errorf("%w: %d", ErrNegativeAmount, minor)
	}
	if r.IsZero() {
		return 0, fmt.Errorf("%w: division by zero", ErrInvalidRate)
	}
	if r.hi != 0 || int(r.scale) >= len(pow10) {
		return r.ceilDivLong(minor)
	}

	hi, lo := bits.Mul64(uint64(minor), pow10[r.scale])
	if hi >= r.lo {
		return 0, fmt.Errorf("%w: %d / %s", ErrOverflow, minor, r)
	}
	whole, rest := bits.Div64(hi, lo, r.lo)
	if whole > math.MaxInt64 {
		return 0, fmt.Errorf("%w: %d / %s", ErrOverflow, minor, r)
	}
	if rest == 0 {
		return int64(whole), nil
	}
	return AddMinor(int64(whole), 1)
}

// apply returns minor × rate rounded down, and whether that is exact.
func (r Rate) apply(minor int64) (whole int64, exact bool, err error) {
	if minor < 0 {
		return 0, false, fmt.Errorf("%w: %d", ErrNegativeAmount, minor)
	}

	// The product has at most three words: 63 bits times 113.
	carry, w0 := bits.Mul64(r.lo, uint64(minor))
	w2, w1 := bits.Mul64(r.hi, uint64(minor))
	w1, carry = bits.Add64(w1, carry, 0)
	w2 += carry

	// Dividing and rounding down in steps has the same result as one division, and it is
	// exact if no step has a remainder.
	exact = true
	for scale := int(r.scale); scale > 0; {
		step := min(scale, len(pow10)-1)
		scale -= step

		var rest uint64
		w2, rest = w2/pow10[step], w2%pow10[step]
		w1, rest = bits.Div64(rest, w1, pow10[step])
		w0, rest = bits.Div64(rest, w0, pow10[step])
		exact = exact && rest == 0
	}
	if w2 != 0 || w1 != 0 || w0 > math.MaxInt64 {
		return 0, false, fmt.Errorf("%w: %d × %s", ErrOverflow, minor, r)
	}
	return int64(w0), exact, nil
}

// ceilDivLong implements CeilDiv for rates that do not fit into one word.
func (r Rate) ceilDivLong(minor int64) (int64, error) {
	dividend := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(r.scale)), nil)
	dividend.Mul(dividend, big.NewInt(minor))
	whole, rest := dividend.QuoRem(dividend, r.coefficient(), new(big.Int))
	if !whole.IsInt64() {
		return 0, fmt.Errorf("%w: %d / %s", ErrOverflow, minor, r)
	}
	if rest.Sign() == 0 {
		return whole.Int64(), nil
	}
	return AddMinor(whole.Int64(), 1)
}

// coefficient returns the number without its decimal point.
func (r Rate) coefficient() *big.Int {
	n := new(big.Int).SetUint64(r.hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(r.lo))
}
