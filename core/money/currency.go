package money

import (
	"fmt"
	"maps"
	"slices"
)

// Currency is the code of a currency: three capital letters of ISO 4217, or
// the ticker of a crypto currency. Text from outside comes through
// ParseCurrency; a Currency made otherwise may be unknown.
type Currency string

// The currencies that code names. All others come from data.
const (
	USD  Currency = "USD"
	EUR  Currency = "EUR"
	GBP  Currency = "GBP"
	BTC  Currency = "BTC"
	USDC Currency = "USDC"
	USDT Currency = "USDT"
	USDB Currency = "USDB"
)

// ParseCurrency reads a code in capital letters. Lower case and codes outside
// the table are ErrCurrency.
func ParseCurrency(code string) (Currency, error) {
	if _, known := currencies[Currency(code)]; !known {
		// The text comes from outside and may be of any length: say only its beginning.
		return "", fmt.Errorf("%w: %.8q", ErrUnknownCurrency, code)
	}
	return Currency(code), nil
}

// Known tells whether the currency stands in the table.
func (c Currency) Known() bool {
	_, known := currencies[c]
	return known
}

// Decimals is the number of digits of the minor unit: 2 for USD, 0 for JPY, 8
// for BTC. It is 0 for an unknown currency.
func (c Currency) Decimals() int { return int(currencies[c].decimals) }

// Name is the English name, empty for an unknown currency.
func (c Currency) Name() string { return currencies[c].name }

// Symbol is what people write before an amount: "$", "€", "₿". Where no symbol
// is in common use it is the code. Empty for an unknown currency.
func (c Currency) Symbol() string { return currencies[c].symbol }

// IsCrypto tells whether the currency lives on a chain and not at banks.
func (c Currency) IsCrypto() bool { return currencies[c].crypto }

// Currencies lists every known currency in the order of the codes.
func Currencies() []Currency {
	return slices.Sorted(maps.Keys(currencies))
}
