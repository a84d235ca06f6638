package money

import "math/bits"

// Numbers of two words, hi·2^64 + lo, hold 34 digits without an allocation: rates are
// applied on every payment.

// pow10 holds the powers of ten that fit into one word, 10^0 to 10^19.
var pow10 = func() (powers [20]uint64) {
	powers[0] = 1
	for i := 1; i < len(powers); i++ {
		powers[i] = powers[i-1] * 10
	}
	return powers
}()

// limitHi and limitLo are 10^34; the coefficient of a Rate is below it.
var limitHi, limitLo = powerOfTen(maxDigits)

// belowLimit reports whether the number has at most 34 digits.
func belowLimit(hi, lo uint64) bool {
	return hi < limitHi || (hi == limitHi && lo < limitLo)
}

// powerOfTen returns 10^n for n up to 38.
func powerOfTen(n int) (hi, lo uint64) {
	if n < len(pow10) {
		return 0, pow10[n]
	}
	return bits.Mul64(pow10[19], pow10[n-19])
}

// mulWide returns x·m, which must fit into two words.
func mulWide(hi, lo, m uint64) (uint64, uint64) {
	carry, low := bits.Mul64(lo, m)
	return hi*m + carry, low
}

// divWide returns x / d and the remainder.
func divWide(hi, lo, d uint64) (qhi, qlo, rest uint64) {
	qhi, rest = hi/d, hi%d
	qlo, rest = bits.Div64(rest, lo, d)
	return qhi, qlo, rest
}

// lessWide reports whether a < b.
func lessWide(ahi, alo, bhi, blo uint64) bool {
	return ahi < bhi || (ahi == bhi && alo < blo)
}
