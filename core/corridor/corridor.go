package corridor

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/money"
)

// Corridor is one pair of currencies that can be exchanged and delivered.
type Corridor struct {
	From, To money.Currency
	// Country is where it is paid out; empty for a chain, or where any country of
	// the currency was meant.
	Country string
	// Funding are the rails the sending currency can be paid in by, the default first.
	Funding []Rail
	// Rails are those that can pay out; Rail is the one for a common amount.
	Rails []Rail
	Rail  Rail
	// Terms are the built-in ones; an operator's changes apply on top.
	Terms Terms
}

// Find returns the corridor between two currencies. The country is where it is paid
// out; leave it empty for crypto, or to ask about the currency in general. The
// fault INVALID_CURRENCY says why there is none.
func Find(from, to money.Currency, country string) (Corridor, error) {
	for _, currency := range []money.Currency{from, to} {
		if !currency.Known() {
			return Corridor{}, fault.New(fault.InvalidCurrency, "%.8q is not a currency we know; use a code such as USD or BTC, in capital letters.", string(currency))
		}
	}
	if from == to {
		return Corridor{}, fault.New(fault.InvalidCurrency,
			"Both sides are %s. Nothing is exchanged within one currency: use POST /transfer-in or POST /transfer-out.", string(from))
	}
	funding, err := FundingRails(from)
	if err != nil {
		return Corridor{}, err
	}
	rails, err := RailsTo(to, country)
	if err != nil {
		return Corridor{}, err
	}
	rail, err := Choose(rails, to, 1)
	if err != nil {
		return Corridor{}, err
	}
	return Corridor{
		From: from, To: to, Country: country, Funding: funding, Rails: rails, Rail: rail,
		Terms: defaultTerms(from, to, funding),
	}, nil
}

// SameCurrency returns the way within one currency, to a person at another provider: nothing is
// exchanged, and nothing is charged. INVALID_CURRENCY when it cannot be paid in.
func SameCurrency(currency money.Currency) (Corridor, error) {
	if !currency.Known() {
		return Corridor{}, fault.New(fault.InvalidCurrency, "%.8q is not a currency we know; use a code such as USD or BTC, in capital letters.", string(currency))
	}
	funding, err := FundingRails(currency)
	if err != nil {
		return Corridor{}, err
	}
	terms := defaultTerms(currency, currency, funding)
	terms.Fee = Fee{}
	return Corridor{From: currency, To: currency, Funding: funding, Terms: terms}, nil
}

// FundingRails returns the ways a payment in the currency is paid in, the quickest
// first: an instant rail where the country has one, else a bank transfer or mobile
// money, the chains for crypto. INVALID_CURRENCY when it cannot be paid in.
func FundingRails(currency money.Currency) ([]Rail, error) {
	rails, err := RailsTo(currency, "")
	if err != nil || currency.IsCrypto() {
		return rails, err
	}
	if quick := slices.DeleteFunc(slices.Clone(rails), func(r Rail) bool { return !r.IsInstant() }); len(quick) > 0 {
		rails = quick
	}
	slices.SortFunc(rails, func(a, b Rail) int { return slices.Index(preference, a) - slices.Index(preference, b) })
	return rails, nil
}

// Currencies returns the currencies that can be sent and received, by code.
func Currencies() []money.Currency {
	return slices.DeleteFunc(money.Currencies(), func(c money.Currency) bool { return !Live(c, "") })
}

// All returns the corridor of every pair of live currencies, by code.
func All() []Corridor {
	live := Currencies()
	all := make([]Corridor, 0, len(live)*len(live))
	for _, from := range live {
		for _, to := range live {
			if found, err := Find(from, to, ""); err == nil {
				all = append(all, found)
			}
		}
	}
	return all
}
