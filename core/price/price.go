package price

import (
	"errors"
	"fmt"

	"causeway/core/money"
)

// Price is a conversion, settled to the last minor unit. Whatever happens to a
// quote afterwards follows these numbers. In every Price
//
//	Receiving         = floor((Sending - Fees) × Rate)
//	Sending           = Fees + RoundingSending + ToPosition()
//	Fees              = FixedFee + VariableFee
//	FromPosition()    = Receiving + RoundingReceiving
//	                  = floor(ToPosition() × Market)
//
// where the service takes ToPosition() into its position in the sending
// currency, and FromPosition() out of its position in the receiving one.
type Price struct {
	// Sending is all that the payer pays, Fees included; 1 to money.MaxMinor.
	Sending int64
	// Fees is the part of Sending that is never converted.
	Fees int64
	// FixedFee and VariableFee are the two parts of Fees.
	FixedFee, VariableFee int64
	// Receiving is what arrives, in the receiving currency; 1 to money.MaxMinor.
	Receiving int64
	// Rate is receiving units for one sending unit, as the payer is told. It is
	// Market, unless Market would turn what is paid into more than was asked for.
	Rate money.Rate
	// Market is the rate the service itself converts at; never below Rate.
	Market money.Rate
	// RoundingSending is what is left of the converted sending units because
	// they are too few to buy one more receiving unit; the service's.
	RoundingSending int64
	// RoundingReceiving is what Market yields beyond Receiving, because the
	// smallest payable amount buys more than was asked for; the service's.
	RoundingReceiving int64
}

// ErrOutOfRange is wrapped by every refusal that another amount would avoid.
var ErrOutOfRange = errors.New("amount out of range")

// Why an amount is out of range.
var (
	ErrTooSmall     = fmt.Errorf("%w: below 1", ErrOutOfRange)
	ErrTooLarge     = fmt.Errorf("%w: above %d", ErrOutOfRange, money.MaxMinor)
	ErrNothingLeft  = fmt.Errorf("%w: nothing is left after fees", ErrOutOfRange)
	ErrBuysNothing  = fmt.Errorf("%w: what is left after fees buys nothing", ErrOutOfRange)
	ErrBuysTooMuch  = fmt.Errorf("%w: buys more than %d", ErrOutOfRange, money.MaxMinor)
	ErrCostsTooMuch = fmt.Errorf("%w: costs more than %d", ErrOutOfRange, money.MaxMinor)
)

// Sending prices a conversion in which the payer pays exactly total, fees
// included. Errors: those of ErrOutOfRange; ErrFee; money.ErrRate for a rate of zero.
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

// Receiving prices a conversion in which exactly want arrives. The payer pays
// the smallest total that yields at least want at the market's rate.
// Errors: those of ErrOutOfRange; ErrFee; money.ErrRate for a rate of zero.
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

	// One sending unit buys several receiving units, and the last one bought too
	// many. The payer is told a rate at which it buys what was asked for; the
	// rest of what the market gave is the service's.
	p.Receiving, p.RoundingReceiving = want, p.Receiving-want
	if p.RoundingReceiving > money.MaxMinor {
		return Price{}, ErrBuysTooMuch
	}
	if p.Rate, err = money.SimplestRate(net, want); err != nil {
		return Price{}, err
	}
	return p, nil
}

// ConvertedSending returns what the service takes into its position in the sending
// currency: the fewest units that buy Receiving.
func (p Price) ConvertedSending() int64 { return p.Sending - p.Fees - p.RoundingSending }

// ConvertedReceiving returns what the service takes out of its position in the receiving currency.
func (p Price) ConvertedReceiving() int64 { return p.Receiving + p.RoundingReceiving }

// check refuses what has no price whatever the amounts turn out to be.
func check(amount int64, market money.Rate, fee Fee) error {
	if amount < 1 {
		return ErrTooSmall
	}
	if amount > money.MaxMinor {
		return ErrTooLarge
	}
	if market.IsZero() {
		return fmt.Errorf("%w: a market's rate of zero", money.ErrInvalidRate)
	}
	return fee.check()
}

// atMarket returns the price of a checked total at the market's rate, however much it buys.
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
