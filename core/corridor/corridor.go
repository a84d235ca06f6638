package corridor

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/money"
)

// Corridor is a pair of currencies that can be exchanged and delivered.
type Corridor struct {
	From, To money.Currency
	// Country is the country of the payout; empty for a chain, or for any country of the
	// currency.
	Country string
	// Funding are the rails for paying in the sending currency, the default first.
	Funding []Rail
	// Rails are the rails for the payout; Rail is the one for a small amount.
	Rails []Rail
	Rail  Rail
	// Terms are the built-in terms, without the operator's overrides.
	Terms Terms
}

// Find returns the corridor between two currencies, with a payout in a country. An empty
// country means any country of the currency, and is used for cryptocurrencies. It returns
// INVALID_CURRENCY if there is no corridor.
func Find(from, to money.Currency, country string) (Corridor, error) {
	if from == to && from.Payable() {
		return Corridor{}, fault.New(fault.InvalidCurrency,
			"Both sides are %s. Nothing is exchanged within one currency: use POST /transfer-in or POST /transfer-out.", string(from))
	}
	return find(from, to, country)
}

// Within returns the corridor of payments that are funded just in time and paid out in the same
// currency, with the fees of that pair. Arguments and fault are as of Find.
func Within(currency money.Currency, country string) (Corridor, error) {
	return find(currency, currency, country)
}

func find(from, to money.Currency, country string) (Corridor, error) {
	for _, currency := range []money.Currency{from, to} {
		if !currency.Payable() {
			return Corridor{}, fault.New(fault.InvalidCurrency, "%.8q is not a known currency; use a code in capital letters, such as USD or BTC.",
				string(currency))
		}
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

// SameCurrency returns a corridor within one currency, for payments to people at other
// providers, without a fee unless the operator sets one. It returns INVALID_CURRENCY if the currency cannot be paid in.
func SameCurrency(currency money.Currency) (Corridor, error) {
	if !currency.Payable() {
		return Corridor{}, fault.New(fault.InvalidCurrency, "%.8q is not a known currency; use a code in capital letters, such as USD or BTC.",
			string(currency))
	}
	funding, err := FundingRails(currency)
	if err != nil {
		return Corridor{}, err
	}
	terms := defaultTerms(currency, currency, funding)
	terms.Fee = Fee{}
	return Corridor{From: currency, To: currency, Funding: funding, Terms: terms}, nil
}

// OfUMA returns the corridor of one side of a payment between UMA providers, of which the other side is bitcoin.
func OfUMA(from, to money.Currency) (Corridor, error) {
	if from == to {
		return SameCurrency(from)
	}
	return Find(from, to, "")
}

// FundingRails returns the rails for paying in a currency, the fastest first: instant rails if
// the country has any, else bank transfers or mobile money; chains for a cryptocurrency. It
// returns INVALID_CURRENCY if the currency cannot be paid in.
func FundingRails(currency money.Currency) ([]Rail, error) {
	rails, err := RailsTo(currency, "")
	if err != nil || currency.IsCrypto() {
		return rails, err
	}
	if instant := slices.DeleteFunc(slices.Clone(rails), func(r Rail) bool { return !r.IsInstant() }); len(instant) > 0 {
		rails = instant
	}
	slices.SortFunc(rails, func(a, b Rail) int { return slices.Index(preference, a) - slices.Index(preference, b) })
	return rails, nil
}

// Currencies returns the currencies that can be sent and received, by code.
func Currencies() []money.Currency {
	return slices.DeleteFunc(money.Currencies(), func(c money.Currency) bool { return !Live(c, "") })
}

// All returns the corridors of all pairs of live currencies, by code.
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
