package corridor

import (
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/money"
)

type chain struct {
	rail Rail
	// currencies are the currencies we move on the chain, the first being its main one.
	currencies []money.Currency
}

// chains is every chain money can be taken from and sent to. Where a currency
// lives on several, the first here is the one taken when nobody names another.
var chains = []chain{
	{Layer2, []money.Currency{money.BTC, money.USDB}},
	{Lightning, []money.Currency{money.BTC}},
	{Altchain, []money.Currency{money.USDC}},
	{Base, []money.Currency{money.USDC}},
	{Polygon, []money.Currency{money.USDC}},
	{Ethereum, []money.Currency{money.USDC}},
	{Tron, []money.Currency{money.USDT}},
}

// Chains returns the chains that hold the currency, the default first; none for fiat.
func Chains(currency money.Currency) []Rail {
	var found []Rail
	for _, c := range chains {
		if slices.Contains(c.currencies, currency) {
			found = append(found, c.rail)
		}
	}
	return found
}

// ChainCurrencies returns the currencies that are moved on the chain; none for a bank rail.
func (r Rail) ChainCurrencies() []money.Currency {
	for _, c := range chains {
		if c.rail == r {
			return slices.Clone(c.currencies)
		}
	}
	return nil
}

// ChainFor returns the chain a request names for a currency, or the currency's default
// when it names none. An INVALID_INPUT fault on field otherwise.
func ChainFor(currency money.Currency, name, field string) (Rail, error) {
	open := Chains(currency)
	if name == "" && len(open) > 0 {
		return open[0], nil
	}
	if rail := Rail(name); slices.Contains(open, rail) {
		return rail, nil
	}
	message := string(currency) + " does not live on a chain; leave this out"
	if len(open) > 0 {
		message = string(currency) + " moves on " + joinRails(open)
	}
	return "", fault.Invalid(fault.Field{
		Field: field, Message: message, Constraint: map[string]any{"enum": railNames(open)},
	})
}

func railNames(rails []Rail) []string {
	list := make([]string, len(rails))
	for i, rail := range rails {
		list[i] = string(rail)
	}
	return list
}

func joinRails(rails []Rail) string { return strings.Join(railNames(rails), ", ") }
