package platform

import (
	"fmt"
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/money"
)

// NotSupported returns the fault of funding in a currency that is not among those of the platform.
func NotSupported(currency money.Currency, supported []money.Currency) error {
	return &fault.Error{
		Code: fault.InvalidCurrency, Reason: "Not supported by the platform",
		Message: fmt.Sprintf("The platform does not support %s: it is not in supportedCurrencies, which are %v. Add it with PATCH /config, or "+
			"pay in another currency.", currency, supported),
		Details: map[string]any{"currency": string(currency), "supportedCurrencies": supported},
	}
}

// CheckDirection returns INVALID_CURRENCY if the platform has not enabled payments in the currency in
// a direction, OUTGOING or INCOMING.
func (c Currency) CheckDirection(direction string) error {
	if slices.Contains(c.Directions, direction) {
		return nil
	}
	return &fault.Error{
		Code: fault.InvalidCurrency, Reason: "Not enabled by the platform",
		Message: fmt.Sprintf("%s payments in %s are not enabled: enabledTransactionTypes of %[2]s in supportedCurrencies is %s. Change it with "+
			"PATCH /config, or use another currency.",
			direction, c.Code, strings.Join(c.Directions, ", ")),
		Details: map[string]any{"currency": string(c.Code), "enabledTransactionTypes": c.Directions},
	}
}

// CheckAmount returns AMOUNT_OUT_OF_RANGE if an amount of the currency, in minor units, is outside the
// limits of the platform.
func (c Currency) CheckAmount(minor int64) error {
	if minor >= c.MinAmount && minor <= c.MaxAmount {
		return nil
	}
	amount := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: c.Code} }
	reason := "Below the minimum of the platform"
	if minor > c.MaxAmount {
		reason = "Above the maximum of the platform"
	}
	return &fault.Error{
		Code: fault.AmountOutOfRange, Reason: reason,
		Message: fmt.Sprintf("The amount is %s; it must be between %s and %s, your own limits for %s in supportedCurrencies of PATCH /config.",
			amount(minor), amount(c.MinAmount), amount(c.MaxAmount), c.Code),
		Details: map[string]any{"currency": string(c.Code), "amount": minor, "minAmount": c.MinAmount, "maxAmount": c.MaxAmount},
	}
}
