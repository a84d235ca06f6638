package monthend_test

import (
	"testing"

	"causeway/app/monthend"
	"causeway/core/exchange"
	"causeway/core/money"
	coremonthend "causeway/core/monthend"
)

func TestRevaluation_TableIsInMajorUnits(t *testing.T) {
	t.Parallel()
	// The rate fits the quantity and the value beside it, whatever the decimal places of the currencies.
	r := monthend.Revaluation{Result: coremonthend.ExchangeResult{Month: exchange.Month{Functional: "JPY", Lines: []exchange.Line{
		{Currency: "BTC", Holding: exchange.Holding{Quantity: 150_000_000, Cost: 20_000_000}, Rate: money.MustRate("0.15"), RateSource: "TEST",
			Value: 22_500_000, Unrealised: 2_500_000},
		{Currency: "EUR"},
	}}}}

	rows := r.Table().Rows

	if btc := rows[1]; btc[2] != "1.50000000" || btc[4] != "15000000" || btc[6] != "22500000" {
		t.Errorf("%v", btc)
	}
	if eur := rows[2]; eur[4] != "" {
		t.Errorf("a position of zero has the rate %s", eur[4])
	}
}
