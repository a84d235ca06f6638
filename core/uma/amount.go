package uma

import (
	"fmt"
	"time"

	"causeway/core/lightning"
	"causeway/core/money"
	"causeway/core/price"
)

const (
	msatPerSat = 1000
	// maxMsat is more than all bitcoin.
	maxMsat = 21_000_000 * 100_000_000 * msatPerSat
	// multiplierDigits are exact as a double, which other providers read it as.
	multiplierDigits = 15
)

var (
	thousand = money.MustRate("1000")
	// BitcoinMultiplier is that of a satoshi.
	BitcoinMultiplier = thousand
)

// Multiplier returns the millisatoshi of one smallest unit of a currency, of which a satoshi buys as many as the rate says.
func Multiplier(unitsPerSat money.Rate) (money.Rate, error) {
	m, err := thousand.Div(unitsPerSat)
	if err != nil {
		return m, err
	}
	if m = m.TruncateSignificant(multiplierDigits); m.IsZero() {
		return m, fmt.Errorf("%w: the multiplier of %s units for a satoshi", money.ErrInvalidRate, unitsPerSat)
	}
	return m, nil
}

// UnitsPerSat returns how many smallest units of a currency a satoshi buys at a multiplier.
func UnitsPerSat(multiplier money.Rate) (money.Rate, error) { return thousand.Div(multiplier) }

// Msats returns the millisatoshi of an amount and a fee: amount × multiplier, rounded to the nearest, + fee.
func Msats(amount int64, multiplier money.Rate, fee int64) (int64, error) {
	return multiplier.Times(amount).Add(money.ExactOf(fee)).Round()
}

// SatsOf returns the satoshi that pay an amount in millisatoshi: none less.
func SatsOf(msats int64) int64 { return (msats + msatPerSat - 1) / msatPerSat }

// Currency is a currency that a receiver can be paid in. Min and Max limit one payment, in its smallest unit.
type Currency struct {
	Code       money.Currency
	Decimals   int
	Multiplier money.Rate
	Min, Max   int64
}

// Usable reports whether payments in the currency can be made: both sides mean the same by it.
func (c Currency) Usable() bool {
	return c.Code.Payable() && c.Decimals == c.Code.Decimals() && !c.Multiplier.IsZero() && c.Min >= 0 && c.Max >= c.Min && c.Max > 0 &&
		c.Max <= money.MaxMinor
}

// Ask is what a pay request asks for: an amount that the receiver gets, or one that is paid.
type Ask struct {
	Currency money.Currency
	// Amount is in smallest units of Currency, or 0 if Msats is what is paid.
	Amount int64
	Msats  int64
}

// Answer is the answer to a pay request, with its invoice, and what that says.
type Answer struct {
	Request    string
	Invoice    lightning.Invoice
	Currency   money.Currency
	Decimals   int
	Amount     int64
	Multiplier money.Rate
	// Fee is the fee of the receiving provider, in millisatoshi.
	Fee int64
	// Callback is the URL to which the channels that are used are reported; empty for nowhere.
	Callback string
}

// minInvoiceTime is how long an invoice must be payable, so that a quote can be executed.
const minInvoiceTime = 30 * time.Second

// Check returns an error unless the answer is what was asked for. The amount of the invoice is what is paid, so nothing else
// in the answer may say another amount, but for the rounding to a whole satoshi.
func (a Ask) Check(got Answer, now time.Time) error {
	bad := func(format string, args ...any) error {
		return refuse(InvalidInput, fmt.Sprintf("the answer to the pay request "+format, args...))
	}
	switch {
	case got.Currency != a.Currency:
		return bad("is in %.8q, not in %s", string(got.Currency), a.Currency)
	case got.Decimals != a.Currency.Decimals():
		return bad("has %s with %d decimals, not %d", a.Currency, got.Decimals, a.Currency.Decimals())
	case got.Amount < 1 || got.Amount > money.MaxMinor:
		return bad("has the amount %d, which is not possible", got.Amount)
	case a.Amount != 0 && got.Amount != a.Amount:
		return bad("is for %d, not for %d", got.Amount, a.Amount)
	case got.Invoice.MilliSatoshis < 1 || got.Invoice.MilliSatoshis > maxMsat:
		return bad("has an invoice for %d millisatoshi, which is not possible", got.Invoice.MilliSatoshis)
	case a.Amount == 0 && got.Invoice.MilliSatoshis != a.Msats:
		return bad("has an invoice for %d millisatoshi, not for %d", got.Invoice.MilliSatoshis, a.Msats)
	case got.Fee < 0 || got.Fee > got.Invoice.MilliSatoshis:
		return bad("has the fee %d, which is not possible", got.Fee)
	case got.Multiplier.IsZero():
		return bad("has no multiplier")
	case !got.Invoice.ExpiresAt.After(now.Add(minInvoiceTime)):
		return bad("has an invoice that expires at %s, too soon to be paid", got.Invoice.ExpiresAt.UTC().Format(time.RFC3339))
	}
	said, err := Msats(got.Amount, got.Multiplier, got.Fee)
	if err != nil {
		return bad("says more millisatoshi than there are")
	}
	// What is paid is fixed in one case and what is received in the other: the remaining one is rounded to its own unit.
	tolerance := int64(msatPerSat)
	if a.Amount == 0 {
		unit, err := got.Multiplier.Ceil(1)
		if err != nil {
			return bad("has the multiplier %s, which is not possible", got.Multiplier)
		}
		tolerance = max(tolerance, unit)
	}
	if difference := said - got.Invoice.MilliSatoshis; difference > tolerance || -difference > tolerance {
		return bad("says %d millisatoshi, and its invoice %d", said, got.Invoice.MilliSatoshis)
	}
	return nil
}

// Offer is an incoming payment as it is priced: what its invoice asks for, and what the receiver gets.
type Offer struct {
	Price      price.Price
	Multiplier money.Rate
	// Fee is the difference between the invoice and the amount at the multiplier, in millisatoshi.
	Fee int64
	// Fraction is what the invoice asks for beyond the whole satoshi that are converted, in millisatoshi: below one satoshi.
	Fraction int64
}

// Price prices an incoming payment at a market rate, in smallest units for a satoshi. ErrOutOfRange of core/price if it cannot be.
func (a Ask) Price(unitsPerSat money.Rate, fee price.Fee) (Offer, error) {
	var offer Offer
	var err error
	if a.Amount != 0 {
		offer.Price, err = price.Receiving(a.Amount, unitsPerSat, fee)
	} else {
		offer.Price, err = price.Sending(a.Msats/msatPerSat, unitsPerSat, fee)
		offer.Fraction = a.Msats % msatPerSat
	}
	if err != nil {
		return Offer{}, err
	}
	if offer.Multiplier, err = Multiplier(unitsPerSat); err != nil {
		return Offer{}, err
	}
	without, err := Msats(offer.Price.Receiving, offer.Multiplier, 0)
	if err != nil {
		return Offer{}, err
	}
	offer.Fee = max(offer.Msats()-without, 0)
	return offer, nil
}

// Msats returns the amount of the invoice.
func (o Offer) Msats() int64 { return o.Price.Sending*msatPerSat + o.Fraction }
