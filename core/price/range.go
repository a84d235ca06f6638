package price

import (
	"errors"

	"causeway/core/money"
)

// ReceivingRange returns what can be received when from least to most can be sent, in minor units of
// the receiving currency: asked for as the receiving amount, both ends cost what may be
// sent. The error is of ErrOutOfRange when nothing can be received at all.
func ReceivingRange(least, most int64, market money.Rate, fee Fee) (minimum, maximum int64, err error) {
	if maximum, err = MaxReceiving(most, market, fee); err != nil {
		return 0, 0, err
	}
	minimum = 1
	smallest, err := Sending(least, market, fee)
	switch {
	case err == nil:
		minimum = smallest.Receiving
	case !errors.Is(err, ErrNothingLeft) && !errors.Is(err, ErrBuysNothing):
		return 0, 0, err
	}
	// What the least buys can be had for a little less, where it left something over.
	for minimum <= maximum {
		asked, err := Receiving(minimum, market, fee)
		if err != nil {
			return 0, 0, err
		}
		if asked.Sending >= least {
			return minimum, maximum, nil
		}
		minimum++
	}
	return 0, 0, ErrTooSmall
}

// MaxReceiving returns the most that can be received for at most a sending amount.
func MaxReceiving(sending int64, market money.Rate, fee Fee) (int64, error) {
	p, err := Sending(sending, market, fee)
	if errors.Is(err, ErrBuysTooMuch) {
		return money.MaxMinor, nil
	}
	return p.Receiving, err
}
