package exchange_test

import (
	"testing"

	"pgregory.net/rapid"

	"causeway/core/exchange"
	"causeway/core/money"
	"causeway/ledger"
)

func TestCalculation_SmallFeesAreNoExchangeGain(t *testing.T) {
	t.Parallel()
	// 300 fees of 0.01 dollars, each worth 0.009 euros, are 2.70 euros of income, and the exchange result has nothing of
	// them.
	market := rates("EUR", map[money.Currency]string{"EUR": "1.1111111111"})
	c := &exchange.Calculation{Book: &exchange.Book{Functional: "EUR", Holdings: map[money.Currency]exchange.Holding{}}}
	for range 300 {
		fee := must[exchange.Trade](t)(
			exchange.NewTrade(exchange.Adjustment, nil, []exchange.OwnLeg{{Account: ledger.IncomeFees, Leg: exchange.Leg{"USD", 1}}}))
		must[exchange.Measured](t)(c.Trade(fee, market))
	}

	month := must[exchange.Month](t)(c.Close(market))

	realised, unrealised := must[ledger.GainsAndLosses](t)(month.RealisedResult()), must[ledger.GainsAndLosses](t)(month.UnrealisedResult())
	if len(month.Translations) != 1 || month.Translations[0].Value != 270 || month.Translated != 270 || realised.Net()+unrealised.Net() != 0 {
		t.Errorf("%+v, an exchange result of %d and %d", month, realised.Net(), unrealised.Net())
	}
}

func TestCalculation_TranslationsAreExact(t *testing.T) {
	t.Parallel()
	// For any fees, costs and rates, what an account has in a month is the exact sum with what was carried into it,
	// rounded to the nearest unit. What is carried stays below one over any months, also over those without an entry. So
	// the exchange result of all months is the change of the value of the position less the exact sum, within half a unit
	// for each account: no translation is lost in it.
	rapid.Check(t, func(t *rapid.T) {
		type key struct {
			account  string
			currency money.Currency
		}
		half := money.MustRate("0.5").Times(1)
		within := func(e money.Exact, limit money.Exact) bool { // of 0
			return e.IsZero() || sign(e.Sub(limit)) <= 0 && sign(e.Add(limit)) >= 0
		}
		book := &exchange.Book{Functional: "GBP", Holdings: map[money.Currency]exchange.Holding{}}
		carried, ever := map[key]money.Exact{}, money.Exact{}
		accounts := map[key]bool{}
		result, unrealised := int64(0), int64(0)
		for range rapid.IntRange(1, 4).Draw(t, "months") {
			c := &exchange.Calculation{Book: book}
			sums := map[key]money.Exact{}
			for range rapid.IntRange(0, 40).Draw(t, "postings") {
				market := drawRates(t)
				legs := drawOwn(t)
				posted := must[exchange.Trade](t)(exchange.NewTrade(exchange.Conversion, nil, legs))
				must[exchange.Measured](t)(c.Trade(posted, market))
				for _, leg := range posted.Own {
					k, value := key{leg.Account, leg.Currency}, must[money.Rate](t)(rate(market, leg.Currency)).Times(leg.Quantity)
					sums[k], ever, accounts[k] = sums[k].Add(value), ever.Add(value), true
				}
			}
			closing := drawRates(t)
			month := must[exchange.Month](t)(c.Close(closing))

			for _, tr := range month.Translations {
				k := key{tr.Account, tr.Currency}
				exact := carried[k].Add(sums[k])
				if left := exact.Sub(money.ExactOf(tr.Value)); !within(left, half) || !left.Equal(tr.Remainder) {
					t.Fatalf("%s in %s is %d and carries %s, and exactly it is %s", tr.Account, tr.Currency, tr.Value, tr.Remainder, exact)
				}
				carried[k] = tr.Remainder
				delete(sums, k)
			}
			if len(sums) > 0 {
				t.Fatalf("%v are missing from %+v", sums, month.Translations)
			}
			realised, change := must[ledger.GainsAndLosses](t)(month.RealisedResult()),
				must[ledger.GainsAndLosses](t)(month.UnrealisedResult()).Net()-unrealised
			result, unrealised = result+realised.Net()+change, unrealised+change
			exactResult := money.ExactOf(must[int64](t)(month.Value())).Sub(ever)
			if lost := money.ExactOf(result).Sub(exactResult); !within(lost, money.MustRate("0.5").Times(int64(len(accounts)))) {
				t.Fatalf("the exchange result is %d, and exactly %s", result, exactResult)
			}
			book = month.Book()
		}
	})
}

func rate(rates *exchange.Rates, currency money.Currency) (money.Rate, error) {
	kept, err := rates.Rate(currency)
	return kept.Rate, err
}

// sign returns -1, 0 or 1.
func sign(e money.Exact) int {
	switch {
	case e.IsZero():
		return 0
	case e.String()[0] == '-':
		return -1
	default:
		return 1
	}
}
