package api

import (
	httpapi "causeway/adapters/http"
	"causeway/core/money"
)

// currency describes a currency to whoever shows amounts of it.
type currency struct {
	Code     string `json:"code" doc:"ISO 4217 code, or the symbol of a crypto asset." example:"USD"`
	Name     string `json:"name" doc:"Name for people." example:"US Dollar"`
	Symbol   string `json:"symbol" doc:"Sign for people." example:"$"`
	Decimals int    `json:"decimals" doc:"How many decimal places the smallest unit is: an amount of 1050 with 2 decimals is 10.50." example:"2"`
}

func renderCurrency(c money.Currency) currency {
	return currency{Code: string(c), Name: c.Name(), Symbol: c.Symbol(), Decimals: c.Decimals()}
}

// currencyAmount is an amount with its currency.
type currencyAmount struct {
	Amount   httpapi.Minor `json:"amount" doc:"In the smallest unit of the currency." example:"10050"`
	Currency currency      `json:"currency"`
}

func renderAmount(a money.Amount) currencyAmount {
	return currencyAmount{Amount: httpapi.Minor(a.Minor), Currency: renderCurrency(a.Currency)}
}

func minor(n int64) httpapi.Minor { return httpapi.Minor(n) }
