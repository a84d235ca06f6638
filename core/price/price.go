package price

import (
	"errors"
	"fmt"

	"causeway/core/money"
)

// Price is the price of a conversion, exact to the minor unit. In every Price
//
//	Receiving            = floor((Sending - Fees) × Rate)
//	Sending              = Fees + RoundingSending + ConvertedSending()
//	Fees                 = FixedFee + VariableFee
//	ConvertedReceiving() = Receiving + RoundingReceiving
//	                     = floor(ConvertedSending() × Market)
//
// where ConvertedSending() is added to the service's position in the sending currency, and
// ConvertedReceiving() is taken from its position in the receiving currency.
type Price struct {
	// Sending is the total that the payer pays, Fees included; 1 to money.MaxMinor.
	Sending int64
	// Fees is the part of Sending that is not converted.
	Fees int64
	// FixedFee and VariableFee are the two parts of Fees.
	FixedFee, VariableFee int64
	// Receiving is the amount received; 1 to money.MaxMinor.
	Receiving int64
	// Rate is the quoted rate: receiving units for one sending unit. It is Market, unless
	// Market would yield more than the wanted amount.
	Rate money.Rate
	// Market is the rate of the service's own conversion; never below Rate.
	Market money.Rate
	// RoundingSending is the remainder of the sending units that is too small for one more
	// receiving unit; the service keeps it.
	RoundingSending int64
	// RoundingReceiving is what Market yields beyond Receiving, because the smallest
	// sufficient sending amount yields more than wanted; the service keeps it.
	RoundingReceiving int64
}

// ErrOutOfRange is wrapped by every error that another amount would avoid.
var ErrOutOfRange = errors.New("amount out of range")

// The reasons why an amount is out of range.
var (
	ErrTooSmall     = fmt.Errorf("%w: below 1", ErrOutOfRange)
	ErrTooLarge     = fmt.Errorf("%w: above %d", ErrOutOfRange, money.MaxMinor)
	ErrNothingLeft  = fmt.Errorf("%w: nothing is left after fees", ErrOutOfRange)
	ErrBuysNothing  = fmt.Errorf("%w: what is left after fees buys nothing", ErrOutOfRange)
	ErrBuysTooMuch  = fmt.Errorf("%w: buys more than %d", ErrOutOfRange, money.MaxMinor)
	ErrCostsTooMuch = fmt.Errorf("%w: costs more than %d", ErrOutOfRange, money.MaxMinor)
)

// Sending returns the price of a conversion in which the payer pays exactly total, fees
// included. Errors: those of ErrOutOfRange; ErrInvalidFee; money.ErrInvalidRate for a rate
// of zero.
func Sending(total int64, market money.Rate, fee Fee) (Price, error) {
	if err := check(total, market, fee); err != nil {
		return Price{}, err
	}
	p, err := atMarket(total, market, fee)
	if err != nil {
		return Price{}, err
	}
	if p.Receiving > money.MaxMinor {
		return Price{}, ErrBuysTooMuch
	}
	return p, nil
}

// Receiving returns the price of a conversion in which exactly want is received. The payer
// pays the smallest total that yields at least want at the market rate. Errors: those of
// ErrOutOfRange; ErrInvalidFee; money.ErrInvalidRate for a rate of zero.
func Receiving(want int64, market money.Rate, fee Fee) (Price, error) {
	if err := check(want, market, fee); err != nil {
		return Price{}, err
	}
	net, err := market.CeilDiv(want)
	if err != nil {
		return Price{}, fmt.Errorf("%w (%w)", ErrCostsTooMuch, err)
	}
	total, err := fee.grossUp(net)
	if err != nil {
		return Price{}, err
	}
	p, err := atMarket(total, market, fee)
	if err != nil || p.Receiving == want {
		return p, err
	}

	// One sending unit yields several receiving units, and the last one yields too many.
	// The quoted rate is one that yields exactly the wanted amount; the service keeps the
	// rest of what the market rate yields.
	p.Receiving, p.RoundingReceiving = want, p.Receiving-want
	if p.RoundingReceiving > money.MaxMinor {
		return Price{}, ErrBuysTooMuch
	}
	if p.Rate, err = money.SimplestRate(net, want); err != nil {
		return Price{}, err
	}
	return p, nil
}

// ConvertedSending returns what is added to the service's position in the sending currency:
// the smallest number of units that yields ConvertedReceiving at the market rate.
func (p Price) ConvertedSending() int64 { return p.Sending - p.Fees - p.RoundingSending }

// ConvertedReceiving returns what is taken from the service's position in the receiving
// currency.
func (p Price) ConvertedReceiving() int64 { return p.Receiving + p.RoundingReceiving }

// check returns the errors that depend on the arguments alone.
func check(amount int64, market money.Rate, fee Fee) error {
	if amount < 1 {
		return ErrTooSmall
	}
	if amount > money.MaxMinor {
		return ErrTooLarge
	}
	if market.IsZero() {
		return fmt.Errorf("%w: a market rate of zero", money.ErrInvalidRate)
	}
	return fee.check()
}

// atMarket returns the price of a checked total at the market rate, also if Receiving is too
// large.
func atMarket(total int64, market money.Rate, fee Fee) (Price, error) {
	fixed, variable, err := fee.split(total)
	if err != nil {
		return Price{}, err
	}
	net := total - fixed - variable
	if net < 1 {
		return Price{}, ErrNothingLeft
	}
	received, err := market.Floor(net)
	if err != nil {
		return Price{}, fmt.Errorf("%w (%w)", ErrBuysTooMuch, err)
	}
	if received < 1 {
		return Price{}, ErrBuysNothing
	}
	needed, err := market.CeilDiv(received)
	if err != nil {
		return Price{}, err
	}
	return Price{
		Sending: total, Fees: fixed + variable, FixedFee: fixed, VariableFee: variable,
		Receiving: received, Rate: market, Market: market, RoundingSending: net - needed,
	}, nil
}
