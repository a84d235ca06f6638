package platform

import (
	"fmt"
	"slices"

	"causeway/core/fault"
	"causeway/core/money"
)

// checkCurrencies returns everything wrong with a platform's currency settings.
func checkCurrencies(currencies []Currency) []fault.Field {
	var bad []fault.Field
	seen := map[money.Currency]bool{}
	for i, c := range currencies {
		at := func(field, message string) {
			bad = append(bad, fault.Field{Field: fmt.Sprintf("supportedCurrencies[%d].%s", i, field), Message: message})
		}
		if _, err := money.ParseCurrency(string(c.Code)); err != nil {
			at("currencyCode", "must be a known currency code in upper case, such as USD, EUR or BTC")
		}
		if seen[c.Code] {
			at("currencyCode", "is listed twice; list each currency once")
		}
		seen[c.Code] = true
		if c.MinAmount < 0 {
			at("minAmount", "must be 0 or more, in the smallest unit of the currency")
		}
		if c.MaxAmount < c.MinAmount || c.MaxAmount > money.MaxMinor {
			at("maxAmount", fmt.Sprintf("must be between minAmount and %d", money.MaxMinor))
		}
		for j, f := range c.RequiredCounterpartyFields {
			if !slices.Contains(CounterpartyFieldNames, f.Name) {
				at(fmt.Sprintf("requiredCounterpartyFields[%d].name", j), "is not a known field name")
			}
		}
		if len(c.Directions) == 0 {
			at("enabledTransactionTypes", "must list OUTGOING, INCOMING or both")
		}
		for j, d := range c.Directions {
			if d != "OUTGOING" && d != "INCOMING" {
				at(fmt.Sprintf("enabledTransactionTypes[%d]", j), "must be OUTGOING or INCOMING")
			}
		}
	}
	return bad
}
