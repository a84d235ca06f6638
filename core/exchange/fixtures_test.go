package exchange_test

import (
	"time"

	"causeway/core/exchange"
	"causeway/core/money"
	"causeway/core/price"
)

var at = time.Date(2026, 10, 5, 12, 0, 0, 0, time.UTC)

// rates returns market rates in minor units of US dollars to a functional currency.
func rates(functional money.Currency, inUSD map[money.Currency]string) *exchange.Rates {
	kept := price.KeptRates{At: at, InUSD: map[money.Currency]price.KeptRate{"USD": {Rate: money.MustRate("1"), At: at, Source: "FIXED"}}}
	for currency, rate := range inUSD {
		kept.InUSD[currency] = price.KeptRate{Rate: money.MustRate(rate), At: at, Source: "ECB"}
	}
	return exchange.NewRates(kept, functional)
}

func trade(origin exchange.Origin, legs ...exchange.Leg) exchange.Trade {
	return exchange.Trade{Origin: origin, Legs: legs}
}

// own returns a conversion with an entry of euros on an account of income, expense or own funds.
func own(account string, euros int64, legs ...exchange.Leg) exchange.Trade {
	t, err := exchange.NewTrade(exchange.Conversion, legs, []exchange.OwnLeg{{Account: account, Leg: exchange.Leg{"EUR", euros}}})
	if err != nil {
		panic(err)
	}
	return t
}

// must returns a function that returns a result, and ends the test if there is an error.
func must[T any](t interface {
	Helper()
	Fatal(args ...any)
}) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
