package price

import (
	"errors"

	"causeway/core/money"
)

// ReceivingRange returns the smallest and the largest amount that can be received if from
// minSending to maxSending may be sent: Receiving of both has a Sending in that range. It
// returns an error of ErrOutOfRange if nothing can be received.
func ReceivingRange(minSending, maxSending int64, market money.Rate, fee Fee) (minimum, maximum int64, err error) {
	if maximum, err = MaxReceiving(maxSending, market, fee); err != nil {
		return 0, 0, err
	}
	minimum = 1
	smallest, err := Sending(minSending, market, fee)
	switch {
	case err == nil:
		minimum = smallest.Receiving
	case !errors.Is(err, ErrNothingLeft) && !errors.Is(err, ErrBuysNothing):
		return 0, 0, err
	}
	// The amount that minSending yields may cost less, if there was a remainder.
	for minimum <= maximum {
		p, err := Receiving(minimum, market, fee)
		if err != nil {
			return 0, 0, err
		}
		if p.Sending >= minSending {
			return minimum, maximum, nil
		}
		minimum++
	}
	return 0, 0, ErrTooSmall
}

// MaxReceiving returns the largest amount that can be received for a sending amount.
func MaxReceiving(sending int64, market money.Rate, fee Fee) (int64, error) {
	p, err := Sending(sending, market, fee)
	if errors.Is(err, ErrBuysTooMuch) {
		return money.MaxMinor, nil
	}
	return p.Receiving, err
}
