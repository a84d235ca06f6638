package uma

import (
	"fmt"

	"causeway/core/money"
	"causeway/core/transaction"
)

// Receiver is how a person at another provider is paid.
type Receiver struct {
	// Callback is the URL that gives invoices.
	Callback   string
	Currencies []Currency
	// TravelRule: the provider is subject to the travel rule.
	TravelRule bool
	// Wanted are the facts about the payer that the provider wants.
	Wanted []transaction.InfoField
}

// Currency returns the terms of a currency, or false.
func (r Receiver) Currency(code money.Currency) (Currency, bool) {
	for _, c := range r.Currencies {
		if c.Code == code {
			return c, true
		}
	}
	return Currency{}, false
}

// CheckRate returns an error if an answer costs far more than the receiver's terms have said: a tenth, or what a fixed fee
// may be of a small payment.
func (r Receiver) CheckRate(got Answer) error {
	terms, known := r.Currency(got.Currency)
	if !known {
		return refuse(InvalidCurrency, fmt.Sprintf("%s was not offered", got.Currency))
	}
	expected, err := Msats(got.Amount, terms.Multiplier, 0)
	if err != nil {
		return err
	}
	if tolerance := max(expected/10, smallFee); got.Invoice.MilliSatoshis-expected > tolerance {
		return refuse(InvalidInput, fmt.Sprintf("%d %s would cost %d millisatoshi, and %d were said before", got.Amount, got.Currency,
			got.Invoice.MilliSatoshis, expected))
	}
	return nil
}

// smallFee is some dollars, in millisatoshi.
const smallFee = 5_000_000

// Rate returns how many smallest units of the currency one smallest unit of another buys, which buys satPerUnit satoshi.
func (c Currency) Rate(satPerUnit money.Rate) (money.Rate, error) {
	units, err := UnitsPerSat(c.Multiplier)
	if err != nil {
		return units, err
	}
	return satPerUnit.Mul(units)
}

// Range returns the limits of one payment in the currency, whose satoshi are limited too. An error if there is no such amount.
func (c Currency) Range(minSats, maxSats int64) (minimum, maximum int64, err error) {
	units, err := UnitsPerSat(c.Multiplier)
	if err != nil {
		return 0, 0, err
	}
	if minimum, err = units.Ceil(minSats); err != nil {
		return 0, 0, err
	}
	if maximum, err = units.Floor(maxSats); err != nil { // more than any amount
		maximum = money.MaxMinor
	}
	minimum, maximum = max(minimum, c.Min, 1), min(maximum, c.Max)
	if minimum > maximum {
		return 0, 0, refuse(AmountOutOfRange, fmt.Sprintf("no amount of %s can be paid", c.Code))
	}
	return minimum, maximum, nil
}
