package money

// TruncateSignificant is the rate cut to its first digits, as a market quotes it. What is
// cut off is lost downwards, so the result is never above r; a rate that has no
// more digits comes back as it is. digits is from 1 to 34.
func (r Rate) TruncateSignificant(digits int) Rate {
	hi, lo, scale := r.hi, r.lo, int(r.scale)
	for surplus := len(appendWide(nil, hi, lo)) - digits; surplus > 0 && scale > 0; surplus-- {
		hi, lo, _ = divWide(hi, lo, 10)
		scale--
	}
	short, err := newRate(hi, lo, scale)
	if err != nil {
		return r // never: it has fewer digits and places than r
	}
	return short
}
