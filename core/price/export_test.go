package price

import "causeway/core/money"

// AmountFor returns the fee on a total: Fixed plus Percent of the total rounded up, but
// never more than the total. Errors: ErrTooSmall, ErrTooLarge, ErrInvalidFee.
func (f Fee) AmountFor(total int64) (int64, error) {
	if total < 1 {
		return 0, ErrTooSmall
	}
	if total > money.MaxMinor {
		return 0, ErrTooLarge
	}
	if err := f.check(); err != nil {
		return 0, err
	}
	fixed, variable, err := f.split(total)
	return fixed + variable, err
}
