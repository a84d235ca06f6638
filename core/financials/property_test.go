package financials_test

import (
	"testing"

	"pgregory.net/rapid"

	"causeway/core/exchange"
	"causeway/core/financials"
	"causeway/core/money"
	"causeway/ledger"
)

func TestStatements_AgreeWithEachOtherAndTheLedger(t *testing.T) {
	t.Parallel()
	// Of any ledger with exchange results, in every month: assets are liabilities and equity; each account is in one line, and the lines
	// have the balances of the trial balance; cash flows lead from the cash of one balance sheet to that of the next; and the result
	// is what retained earnings grew by. Years are closed, their closings reversed, fees deferred, and results kept or reversed.
	rapid.Check(t, func(t *rapid.T) {
		b := &books{t: t, net: map[financials.Key]int64{}, keep: rapid.Bool().Draw(t, "keep"), flows: map[financials.Key]*financials.Movement{}}
		rates := drawRates(t)
		for range rapid.IntRange(0, 6).Draw(t, "earlier") {
			b.draw(rates)
		}
		b.begin(rates)
		start := b.own(true)
		var state *financials.State
		var before financials.Position
		month := first
		for n := range rapid.IntRange(1, 4).Draw(t, "months") {
			opening, openingRates := b.totals(), rates
			b.flows, b.years = map[financials.Key]*financials.Movement{}, nil
			for _, p := range b.pending {
				b.post(rates, p.Entries...)
			}
			for range rapid.IntRange(0, 12).Draw(t, "postings") {
				rates = drawRates(t)
				b.draw(rates)
			}
			b.end(month, rates)
			for range rapid.IntRange(0, 2).Draw(t, "closings") {
				b.closeYear(rates)
				if rapid.Bool().Draw(t, "reverse") {
					last := b.years[len(b.years)-1]
					b.number++
					reversal := ledger.Reverse(last, ledger.DerivedID([16]byte{1}, ledger.KindReversal, b.number), last.Effective, "")
					b.post(rates, reversal.Entries...)
					b.years = append(b.years, reversal)
				}
			}
			if n == 0 {
				state = openState(t, start, openingRates, b.result)
				before = position(t, state, opening, openingRates, true)
			}

			next, err := state.Next(financials.Month{Balances: b.own(false), Translations: b.result.Translations, Rates: rates,
				Years: yearPostings(t, b.years)})
			if err != nil {
				t.Fatal(err)
			}
			after := position(t, next, b.totals(), rates, false)

			checkPosition(t, after, b.totals())
			checkResult(t, before, after, next, b.direct)
			if n := len(b.years); n > 0 && b.years[n-1].Kind == ledger.KindYearEnd && after.Sum(financials.Equity, "result-not-closed") != 0 {
				t.Errorf("%d of the result is left after the closing", after.Sum(financials.Equity, "result-not-closed"))
			}
			checkCash(t, b, opening, openingRates, rates, before, after)
			state, before, month = next, after, month.Next()
		}
	})
}

func openState(t *rapid.T, start map[financials.Key]int64, rates *exchange.Rates, result exchange.Month) *financials.State {
	translated := result.Translated
	for _, tr := range result.Translations {
		translated -= tr.Value
	}
	state, err := financials.Open(start, rates, "GBP", translated)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func yearPostings(t *rapid.T, postings []ledger.Posting) (years []financials.YearPosting) {
	for _, p := range postings {
		y, err := financials.NewYearPosting(p)
		if err != nil {
			t.Fatal(err)
		}
		years = append(years, y)
	}
	return years
}

func position(t *rapid.T, state *financials.State, net map[financials.Key]money.Total, rates *exchange.Rates,
	unposted bool) financials.Position {
	p, err := financials.NewPosition(state, net, rates)
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Sum(financials.Equity, "exchange-difference"); d != 0 && !unposted {
		t.Fatalf("%d of the exchange result is not posted: %+v", d, p)
	}
	return p
}

// checkPosition checks that a balance sheet balances, and has every account once with the balances of the ledger.
func checkPosition(t *rapid.T, p financials.Position, net map[financials.Key]money.Total) {
	if a, l, e := p.Sum(financials.Assets), p.Sum(financials.Liabilities), p.Sum(financials.Equity); a != l+e {
		t.Errorf("assets are %d, liabilities %d and equity %d", a, l, e)
	}
	want := map[financials.Key]money.Total{}
	for key, balance := range net {
		group := financials.Key{Path: financials.Group(key.Path), Currency: key.Currency}
		want[group] = want[group].Add(balance)
	}
	seen := map[financials.Key]bool{}
	for _, f := range p {
		quantity := f.Quantity
		if f.Line.Section != financials.Assets {
			quantity = quantity.Neg()
		}
		if f.Line.Code == "" || seen[f.Key] || !quantity.Equal(want[f.Key]) {
			t.Errorf("%+v, want %s once", f, want[f.Key])
		}
		seen[f.Key] = true
	}
	for key, balance := range want {
		if balance.Sign() != 0 && !seen[key] {
			t.Errorf("%v has %s and no line", key, balance)
		}
	}
}

// checkResult checks that the result is the change of retained earnings and of the result that is not closed, but for what was posted to
// retained earnings itself.
func checkResult(t *rapid.T, before, after financials.Position, month *financials.State, direct int64) {
	earnings, err := financials.Earnings([]*financials.State{month})
	if err != nil {
		t.Fatal(err)
	}
	retained := func(p financials.Position) int64 {
		return p.Sum(financials.Equity, "retained-earnings", "result-not-closed")
	}
	if got, want := financials.Result(earnings), retained(after)-retained(before)-direct; got != want {
		t.Errorf("the result is %d, and retained earnings grew by %d (%d was posted directly)", got, want, direct)
	}
}

func checkCash(t *rapid.T, b *books, opening map[financials.Key]money.Total, openingRates, rates *exchange.Rates, before,
	after financials.Position) {
	movements := make([]financials.Movement, 0, len(b.flows))
	for _, m := range b.flows {
		movements = append(movements, *m)
	}
	flows, err := financials.NewCashFlows("GBP", opening, b.totals(), openingRates, rates, movements)
	if err != nil {
		t.Fatal(err)
	}
	sum := flows.Opening + flows.RateChanges
	for _, f := range flows.Flows {
		if f.Line.Code == "" {
			t.Errorf("%v has no line", f)
		}
		sum += f.Value
	}
	if flows.Unexplained != 0 || sum != flows.Closing || flows.Closing != after.CashTotal() || flows.Opening != before.CashTotal() {
		t.Errorf("cash flows lead from %d to %d, and their sum is %d with %d unexplained; the balance sheets have %d and %d", flows.Opening,
			flows.Closing, sum, flows.Unexplained, before.CashTotal(), after.CashTotal())
	}
}
