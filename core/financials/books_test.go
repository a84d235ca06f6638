package financials_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"causeway/core/exchange"
	"causeway/core/financials"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/price"
	"causeway/ledger"
)

const (
	customer = "customers/InternalAccount:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e12"
	platform = "platform/InternalAccount:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e13"
)

var (
	cash  = []string{"rails/RTP", "chains/LAYER2", "own/OPERATING", "transit/treasury"}
	other = []string{customer, "funding/jit", "transit/payouts", "income/fees", "income/interest", "expense/rails", "expense/rent",
		"equity/capital", "equity/brought-forward", "asset/equipment", "asset/taxes", "liability/loan", platform, "platform/fees",
		"customer-receivables/InternalAccount:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e12", "partner-payables/RTP"}
	currencies = []money.Currency{"GBP", "EUR", "BTC"}
	first      = period.MonthOf(time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC))
)

// books is a ledger in memory, with exchange results for each month.
type books struct {
	t       *rapid.T
	net     map[financials.Key]int64 // debits less credits
	result  exchange.Month
	keep    bool
	calc    *exchange.Calculation
	pending []ledger.Posting // at the start of the next month
	flows   map[financials.Key]*financials.Movement
	// direct is what was posted to retained earnings as an earlier result of the position.
	direct int64
	years  []ledger.Posting
	number int
}

func drawRates(t *rapid.T) *exchange.Rates {
	kept := price.KeptRates{At: first.Start(), InUSD: map[money.Currency]price.KeptRate{"USD": {Rate: money.MustRate("1")}}}
	for _, c := range currencies {
		kept.InUSD[c] = price.KeptRate{Rate: money.MustRate(rapid.SampledFrom([]string{"0.05", "0.0512345", "1", "1.0799", "1.25", "17.3"}).
			Draw(t, "rate of "+string(c)))}
	}
	return exchange.NewRates(kept, "GBP")
}

func isOwn(path string) bool {
	return slices.ContainsFunc(exchange.OwnAccounts(), func(p string) bool {
		return p == path || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p)
	})
}

// post applies a posting to the balances and, at rates, to the position.
func (b *books) post(rates *exchange.Rates, entries ...ledger.Entry) {
	var legs []exchange.Leg
	var own []exchange.OwnLeg
	for _, e := range entries {
		b.net[financials.Key{Path: e.Debit, Currency: e.Currency}] += e.Amount
		b.net[financials.Key{Path: e.Credit, Currency: e.Currency}] -= e.Amount
		b.flow(e)
		for _, side := range []struct {
			path, other string
			amount      int64
		}{{e.Debit, e.Credit, -e.Amount}, {e.Credit, e.Debit, e.Amount}} {
			switch {
			case side.path == ledger.FXPosition:
				legs = append(legs, exchange.Leg{Currency: e.Currency, Quantity: side.amount})
			case isOwn(side.path) && !isOwn(side.other) && e.Currency != "GBP":
				own = append(own, exchange.OwnLeg{Account: side.path, Leg: exchange.Leg{Currency: e.Currency, Quantity: side.amount}})
			}
		}
	}
	if b.calc == nil {
		return
	}
	trade, err := exchange.NewTrade(exchange.Conversion, legs, own)
	if err != nil {
		b.t.Fatal(err)
	}
	if !trade.IsZero() {
		if _, err := b.calc.Trade(trade, rates); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *books) flow(e ledger.Entry) {
	if financials.IsCash(e.Debit) == financials.IsCash(e.Credit) {
		return
	}
	key := financials.Key{Path: e.Credit, Currency: e.Currency}
	if financials.IsCash(e.Credit) {
		key.Path = e.Debit
	}
	if b.flows[key] == nil {
		b.flows[key] = &financials.Movement{Key: key}
	}
	if financials.IsCash(e.Debit) {
		b.flows[key].Received += e.Amount
	} else {
		b.flows[key].Paid += e.Amount
	}
}

// draw posts random entries, conversions among them.
func (b *books) draw(rates *exchange.Rates) {
	amount := rapid.OneOf(rapid.Int64Range(1, 9), rapid.Int64Range(1, 1_000_000))
	c := rapid.SampledFrom(currencies).Draw(b.t, "currency")
	all := slices.Concat(cash, other)
	debit, credit := rapid.SampledFrom(all).Draw(b.t, "debit"), rapid.SampledFrom(all).Draw(b.t, "credit")
	if debit == credit {
		return
	}
	n := amount.Draw(b.t, "amount")
	if bought := rapid.SampledFrom(currencies).Draw(b.t, "bought"); bought != c && rapid.Bool().Draw(b.t, "convert") {
		b.post(rates, ledger.Entry{Debit: debit, Credit: ledger.FXPosition, Currency: c, Amount: n},
			ledger.Entry{Debit: ledger.FXPosition, Credit: credit, Currency: bought, Amount: amount.Draw(b.t, "bought amount")})
		return
	}
	b.post(rates, ledger.Entry{Debit: debit, Credit: credit, Currency: c, Amount: n})
}

func (b *books) totals() map[financials.Key]money.Total {
	totals := map[financials.Key]money.Total{}
	for key, net := range b.net {
		totals[key] = money.TotalOf(net)
	}
	return totals
}

// own returns the credit balances that financials.Month has; with those of the platform for the opening.
func (b *books) own(withPlatform bool) map[financials.Key]int64 {
	own := map[financials.Key]int64{}
	for key, net := range b.net {
		group := financials.Group(key.Path)
		if !isOwn(key.Path) || group == "platform/" && !withPlatform {
			continue
		}
		own[financials.Key{Path: group, Currency: key.Currency}] -= net
	}
	return own
}

// begin opens the position.
func (b *books) begin(rates *exchange.Rates) {
	positions := exchange.Positions{Traded: map[money.Currency]int64{}, Own: map[money.Currency]int64{}}
	for key, net := range b.net {
		switch {
		case key.Path == ledger.FXPosition:
			positions.Traded[key.Currency] -= net
		case isOwn(key.Path) && key.Currency != "GBP":
			positions.Own[key.Currency] -= net
		}
	}
	book, err := exchange.Open("GBP", positions, rates)
	if err != nil {
		b.t.Fatal(err)
	}
	opening, err := book.Result()
	if err != nil {
		b.t.Fatal(err)
	}
	b.calc = &exchange.Calculation{Book: book, Opening: opening}
}

// end posts the exchange result of a month, and what begins the next one.
func (b *books) end(m period.Month, rates *exchange.Rates) {
	deferred := rapid.Int64Range(1, 1000).Draw(b.t, "deferred")
	in := rapid.SampledFrom(currencies).Draw(b.t, "deferred in")
	fees := []money.Amount{{Minor: deferred, Currency: in}}
	run := monthend.Run{Month: m}
	deferral := monthend.FeePostings(run, fees)
	b.post(rates, deferral[0].Entries...)

	closed, err := b.calc.Close(rates)
	if err != nil {
		b.t.Fatal(err)
	}
	b.result = closed
	postings, err := monthend.ExchangeResult{Month: closed, Keep: b.keep}.Postings(run)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, p := range postings[:3] {
		b.post(rates, p.Entries...)
	}
	b.direct = closed.Opening
	b.pending = append(postings[3:], deferral[1])
	b.calc = &exchange.Calculation{Book: closed.Book()}
	if b.keep {
		b.calc.Carried = closed.Unrealised()
	}
}

// closeYear moves income and expense to retained earnings, in one posting.
func (b *books) closeYear(rates *exchange.Rates) {
	var balances []ledger.NetBalance
	for _, key := range slices.SortedFunc(maps.Keys(b.net), func(a, b financials.Key) int {
		return strings.Compare(a.Path+string(a.Currency), b.Path+string(b.Currency))
	}) {
		if line, _ := financials.LineOf(key.Path); (line.Section == financials.Income || line.Section == financials.Expense) && b.net[key] != 0 {
			balances = append(balances, ledger.NetBalance{Path: key.Path, Currency: key.Currency, Net: money.TotalOf(b.net[key])})
		}
	}
	b.number++
	posting := ledger.YearEnd(ledger.Header{ID: ledger.DerivedID([16]byte{1}, ledger.KindYearEnd, b.number)}, balances)
	b.post(rates, posting.Entries...)
	b.years = append(b.years, posting)
}
