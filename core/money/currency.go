package money

import (
	"fmt"
	"maps"
	"slices"
)

// Currency is the code of a currency: three capital letters of ISO 4217, or the ticker of
// a cryptocurrency. ParseCurrency checks text from outside; a Currency converted from a
// string may be unknown.
type Currency string

// The currencies that the program names; currency_table.go has all.
const (
	USD  Currency = "USD"
	EUR  Currency = "EUR"
	GBP  Currency = "GBP"
	BTC  Currency = "BTC"
	USDC Currency = "USDC"
	USDT Currency = "USDT"
	USDB Currency = "USDB"
)

// The currencies in which chains charge their fees, counted in gwei so that amounts fit. Only the
// ledger has them: see Payable.
const (
	ETH Currency = "ETH"
	POL Currency = "POL"
)

// ParseCurrency parses a code in capital letters. Lower case and unknown codes are
// ErrUnknownCurrency.
func ParseCurrency(code string) (Currency, error) {
	if _, known := currencies[Currency(code)]; !known {
		// The text comes from outside and may be of any length: quote only its beginning.
		return "", fmt.Errorf("%w: %.8q", ErrUnknownCurrency, code)
	}
	return Currency(code), nil
}

// Known reports whether the currency is in the table.
func (c Currency) Known() bool {
	_, known := currencies[c]
	return known
}

// Decimals returns the number of decimals of the currency: 2 for USD, 0 for JPY, 8 for
// BTC, and 0 for an unknown currency.
func (c Currency) Decimals() int { return int(currencies[c].decimals) }

// Name returns the English name, or the empty string for an unknown currency.
func (c Currency) Name() string { return currencies[c].name }

// Symbol returns what is written before an amount: "$", "€", "₿". It is the code if no
// symbol is in common use, and the empty string for an unknown currency.
func (c Currency) Symbol() string { return currencies[c].symbol }

// IsCrypto reports whether the currency is a cryptocurrency.
func (c Currency) IsCrypto() bool { return currencies[c].crypto }

// IsStablecoin reports whether the currency is a token that is issued on one or several chains.
func (c Currency) IsStablecoin() bool { return c == USDC || c == USDT || c == USDB }

// Payable reports whether the currency is known and customers can hold, send and receive it. The
// others are those of the fees of chains, which only the books of the platform have.
func (c Currency) Payable() bool { return c.Known() && c != ETH && c != POL }

// ParsePayable parses the code of a currency that customers can have, as ParseCurrency.
func ParsePayable(code string) (Currency, error) {
	c, err := ParseCurrency(code)
	if err == nil && !c.Payable() {
		return "", fmt.Errorf("%w: %s is only a currency of fees", ErrUnknownCurrency, code)
	}
	return c, err
}

// Currencies returns every known currency in the order of the codes.
func Currencies() []Currency {
	return slices.Sorted(maps.Keys(currencies))
}
