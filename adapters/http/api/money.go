package api

import (
	httpapi "causeway/adapters/http"
	"causeway/core/money"
)

// currency describes how to display amounts of a currency.
type currency struct {
	Code     string `json:"code" doc:"ISO 4217 code, or the code of a crypto asset." example:"USD"`
	Name     string `json:"name" doc:"Display name." example:"US Dollar"`
	Symbol   string `json:"symbol" doc:"Display symbol." example:"$"`
	Decimals int    `json:"decimals" doc:"Number of decimal places: the amount 1050 with 2 decimals is 10.50." example:"2"`
}

func renderCurrency(c money.Currency) currency {
	return currency{Code: string(c), Name: c.Name(), Symbol: c.Symbol(), Decimals: c.Decimals()}
}

// currencyAmount is an amount with its currency.
type currencyAmount struct {
	Amount   httpapi.Minor `json:"amount" doc:"Amount in the smallest unit of the currency." example:"10050"`
	Currency currency      `json:"currency" doc:"Currency of the amount."`
}

func renderAmount(a money.Amount) currencyAmount {
	return currencyAmount{Amount: httpapi.Minor(a.Minor), Currency: renderCurrency(a.Currency)}
}

func minor(n int64) httpapi.Minor { return httpapi.Minor(n) }
