package exchange_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/exchange"
	"causeway/core/money"
	"causeway/ledger"
)

var foreign = []money.Currency{"BTC", "EUR", "MXN"}

// drawRates draws rates of the foreign currencies and a functional one that is not the dollar.
func drawRates(t *rapid.T) *exchange.Rates {
	in := map[money.Currency]string{"GBP": rapid.SampledFrom([]string{"1.25", "1.3", "1.3333333"}).Draw(t, "GBP")}
	for _, c := range foreign {
		in[c] = rapid.SampledFrom([]string{"0.05", "0.0512345", "1", "1.0799", "1.1", "17.3"}).Draw(t, string(c))
	}
	return rates("GBP", in)
}

func drawTrade(t *rapid.T) exchange.Trade {
	all := append([]money.Currency{"GBP"}, foreign...)
	quantity := rapid.OneOf(rapid.Int64Range(1, 9), rapid.Int64Range(1, 1_000_000), rapid.Int64Range(1, 1_000_000_000_000))
	first := rapid.SampledFrom(all).Draw(t, "currency")
	legs := []exchange.Leg{{first, quantity.Draw(t, "quantity")}}
	if rapid.Bool().Draw(t, "sold") {
		legs[0].Quantity = -legs[0].Quantity
	}
	origin := rapid.SampledFrom([]exchange.Origin{exchange.Conversion, exchange.Reversal, exchange.Settlement, exchange.Adjustment,
		exchange.Opening}).Draw(t, "origin")
	if second := rapid.SampledFrom(all).Draw(t, "other currency"); second != first {
		legs = append(legs, exchange.Leg{second, quantity.Draw(t, "other quantity")})
		if legs[0].Quantity > 0 {
			legs[1].Quantity = -legs[1].Quantity
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "without position") == 0 {
		legs = nil
	}
	return must[exchange.Trade](t)(exchange.NewTrade(origin, legs, drawOwn(t)))
}

// drawOwn draws entries on accounts of income, expense and own funds.
func drawOwn(t *rapid.T) []exchange.OwnLeg {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) exchange.OwnLeg {
		account := rapid.SampledFrom([]string{"income/fees", "expense/rails", "equity/capital"}).Draw(t, "account")
		quantity := rapid.OneOf(rapid.Int64Range(-9, 9), rapid.Int64Range(-1_000_000, 1_000_000)).Draw(t, "own quantity")
		return exchange.OwnLeg{Account: account, Leg: exchange.Leg{rapid.SampledFrom(foreign).Draw(t, "own currency"), quantity}}
	}), 0, 3).Draw(t, "own")
}

// model is the position at cost in plain exact numbers.
type model struct {
	quantity, cost map[money.Currency]*big.Int
	cash           *big.Int
	translated     *big.Int
}

func newModel() *model {
	m := &model{quantity: map[money.Currency]*big.Int{}, cost: map[money.Currency]*big.Int{}, cash: new(big.Int), translated: new(big.Int)}
	for _, c := range foreign {
		m.quantity[c], m.cost[c] = new(big.Int), new(big.Int)
	}
	return m
}

// trade applies a trade at its values, and returns the result. In each currency the position and then own accounts
// change, or, if they do so in two directions, the rest of both at its market value.
func (m *model) trade(measured exchange.Measured, market func(money.Currency, int64) int64) *big.Int {
	before := m.result()
	own := map[money.Currency]exchange.MeasuredLeg{}
	for _, leg := range measured.Own {
		sum := own[leg.Currency]
		own[leg.Currency] = exchange.MeasuredLeg{Leg: exchange.Leg{Currency: leg.Currency, Quantity: sum.Quantity + leg.Quantity},
			Value: sum.Value + leg.Value}
		m.translated.Add(m.translated, big.NewInt(leg.Value))
	}
	for _, leg := range measured.Legs {
		offset := own[leg.Currency]
		switch {
		case leg.Currency == "GBP":
			m.cash.Add(m.cash, big.NewInt(leg.Quantity))
			continue
		case offset.Currency != "" && (offset.Quantity > 0) != (leg.Quantity > 0):
			delete(own, leg.Currency)
			leg.Quantity += offset.Quantity
			leg.Value = market(leg.Currency, leg.Quantity)
		}
		m.change(leg)
	}
	for _, leg := range own {
		if leg.Quantity == 0 || (leg.Quantity > 0) != (leg.Value > 0) { // only rounded
			leg.Value = 0
		}
		m.change(leg)
	}
	return new(big.Int).Sub(m.result(), before)
}

// change applies a quantity at its value.
func (m *model) change(leg exchange.MeasuredLeg) {
	q, c := m.quantity[leg.Currency], m.cost[leg.Currency]
	dq, value := big.NewInt(leg.Quantity), big.NewInt(leg.Value)
	next := new(big.Int).Add(q, dq)
	switch {
	case q.Sign()*dq.Sign() >= 0:
		c.Add(c, value)
	case next.Sign() == 0:
		c.SetInt64(0)
	case next.Sign() == q.Sign(): // c - c·|dq|/|q|
		c.Sub(c, halfEven(new(big.Rat).Mul(new(big.Rat).SetInt(c), new(big.Rat).Abs(new(big.Rat).SetFrac(dq, q)))))
	default: // value - value·|q|/|dq|
		c.Sub(value, halfEven(new(big.Rat).Mul(new(big.Rat).SetInt(value), new(big.Rat).Abs(new(big.Rat).SetFrac(q, dq)))))
	}
	m.quantity[leg.Currency] = next
}

func (m *model) result() *big.Int {
	sum := new(big.Int).Sub(m.cash, m.translated)
	for _, c := range m.cost {
		sum.Add(sum, c)
	}
	return sum
}

func halfEven(r *big.Rat) *big.Int {
	doubled := new(big.Rat).Mul(r, big.NewRat(2, 1))
	floor := new(big.Int).Div(r.Num(), r.Denom())
	rest := new(big.Rat).Sub(doubled, new(big.Rat).SetInt(new(big.Int).Lsh(floor, 1)))
	if c := rest.Cmp(big.NewRat(1, 1)); c > 0 || c == 0 && floor.Bit(0) == 1 {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

func TestBook_EqualsExactModel(t *testing.T) {
	t.Parallel()
	// After any trades at any rates the book is that of a model in exact numbers, each trade realises what
	// changed the result, and a cost has the sign of its quantity.
	rapid.Check(t, func(t *rapid.T) {
		book, want := &exchange.Book{Functional: "GBP", Holdings: map[money.Currency]exchange.Holding{}}, newModel()
		for range rapid.IntRange(1, 30).Draw(t, "trades") {
			market := drawRates(t)
			measured, err := book.Trade(drawTrade(t), market)
			if err != nil {
				t.Fatal(err)
			}
			value := func(c money.Currency, quantity int64) int64 { return must[int64](t)(market.Value(c, quantity)) }
			if realised := want.trade(measured, value); realised.Cmp(big.NewInt(measured.Realised)) != 0 {
				t.Fatalf("%+v realised %d, want %s", measured, measured.Realised, realised)
			}
		}
		for _, c := range foreign {
			h := book.Holdings[c]
			if want.quantity[c].Cmp(big.NewInt(h.Quantity)) != 0 || want.cost[c].Cmp(big.NewInt(h.Cost)) != 0 {
				t.Errorf("%s: %v, want %s and %s", c, h, want.quantity[c], want.cost[c])
			}
			if h.Quantity > 0 && h.Cost < 0 || h.Quantity < 0 && h.Cost > 0 || h.Quantity == 0 && h.Cost != 0 {
				t.Errorf("%s: %d cost %d", c, h.Quantity, h.Cost)
			}
		}
		if want.cash.Cmp(big.NewInt(book.Cash)) != 0 || want.translated.Cmp(big.NewInt(book.Translated)) != 0 {
			t.Errorf("%d GBP and %d translated, want %s and %s", book.Cash, book.Translated, want.cash, want.translated)
		}
	})
}

func TestMonth_ResultIsChangeOfValue(t *testing.T) {
	t.Parallel()
	// Over any months, the realised result plus the change of the unrealised one, the result of opening balances and
	// what income, expense and own funds were translated to is the change of the value of the position, which the
	// explanation adds up from its parts. So fx/valuation is what was translated less the value of the position. Once
	// everything is closed there is no unrealised result.
	rapid.Check(t, func(t *rapid.T) {
		market := drawRates(t)
		opening := exchange.Positions{
			Traded: map[money.Currency]int64{"GBP": rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, "cash"),
				"EUR": rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, "euros")},
			Own: map[money.Currency]int64{"EUR": rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, "own euros"),
				"BTC": rapid.Int64Range(-1_000, 1_000).Draw(t, "own bitcoin")},
		}
		book := must[*exchange.Book](t)(exchange.Open("GBP", opening, market))
		valuation := -must[int64](t)(book.Result()) // what the first month posts
		positions := must[map[money.Currency]int64](t)(opening.Total())
		value, translated := must[int64](t)(book.Result())+book.Translated, book.Translated
		unrealised := int64(0)
		for range rapid.IntRange(1, 3).Draw(t, "months") {
			calculation := &exchange.Calculation{Book: book}
			explanation := must[*exchange.Explanation](t)(exchange.Explain("GBP", positions, market))
			for range rapid.IntRange(0, 10).Draw(t, "trades") {
				traded := drawTrade(t)
				if rapid.Bool().Draw(t, "other rates") {
					market = drawRates(t)
				}
				if _, err := calculation.Trade(traded, market); err != nil {
					t.Fatal(err)
				}
				if err := explanation.Trade(traded, market); err != nil {
					t.Fatal(err)
				}
			}
			market = drawRates(t)
			if err := explanation.Rates(market); err != nil {
				t.Fatal(err)
			}
			month := must[exchange.Month](t)(calculation.Close(market))

			realised := must[ledger.GainsAndLosses](t)(month.RealisedResult())
			change := must[ledger.GainsAndLosses](t)(month.UnrealisedResult()).Net() - unrealised
			closing := must[int64](t)(month.Value())
			income := int64(0)
			for _, tr := range month.Translations {
				income += tr.Value
			}
			if realised.Net()+change+month.Opening+income != closing-value || translated+income != month.Translated {
				t.Errorf("realised %d, unrealised %d, from earlier books %d and translated %d, and the value changed by %d", realised.Net(), change,
					month.Opening, income, closing-value)
			}
			valuation -= realised.Net() + change + month.Opening
			if posted := must[int64](t)(month.Valuation()); posted != valuation {
				t.Errorf("fx/valuation is %d, want %d", valuation, posted)
			}
			parts := explanation.RateChanges
			for _, part := range explanation.ByOrigin {
				parts += part
			}
			if explanation.Opening != value || explanation.Closing != closing || parts != closing-value {
				t.Errorf("%d + %d = %d, want %d + %d = %d", explanation.Opening, parts, explanation.Closing, value, closing-value, closing)
			}
			book, value, translated, unrealised = month.Book(), closing, month.Translated, unrealised+change
			positions = book.Positions()
		}
		closing := &exchange.Calculation{Book: book}
		for currency, h := range book.Holdings {
			if h.Quantity != 0 {
				if _, err := closing.Trade(trade(exchange.Settlement, exchange.Leg{currency, -h.Quantity}), market); err != nil {
					t.Fatal(err)
				}
			}
		}
		last := must[exchange.Month](t)(closing.Close(market))
		if len(last.Lines) != 0 || must[int64](t)(last.Value())-last.Translated != must[int64](t)(last.Book().Result()) {
			t.Errorf("everything is closed: %+v", last)
		}
	})
}

func TestBook_EntriesBetweenOwnAccountsChangeNothing(t *testing.T) {
	t.Parallel()
	// What is moved between accounts of income, expense and own funds, as at the end of a year, changes no position
	// and no cost, and has no result, at whatever rates, but for the rounding of each account.
	rapid.Check(t, func(t *rapid.T) {
		book := &exchange.Book{Functional: "GBP", Translated: 7, Holdings: map[money.Currency]exchange.Holding{"EUR": {1_000, 800},
			"MXN": {-5_000, -300}}}
		moved := drawOwn(t)
		for _, leg := range moved {
			moved = append(moved, exchange.OwnLeg{Account: "equity/retained-earnings", Leg: exchange.Leg{leg.Currency, -leg.Quantity}})
		}
		measured := must[exchange.Measured](t)(
			book.Trade(must[exchange.Trade](t)(exchange.NewTrade(exchange.Adjustment, nil, moved)), drawRates(t)))
		rounding := book.Translated - 7
		if max(rounding, -rounding) <= int64(len(measured.Own)) {
			rounding = 0
		}
		if rounding != 0 || measured.Realised != 7-book.Translated || book.Holdings["EUR"] != (exchange.Holding{1_000, 800}) ||
			book.Holdings["MXN"] != (exchange.Holding{-5_000, -300}) || book.Holdings["BTC"] != (exchange.Holding{}) {
			t.Errorf("%+v after %+v", book, measured)
		}
	})
}

func TestCalculation_OpeningBalancesAreNoIncome(t *testing.T) {
	t.Parallel()
	// Whatever balances of the position come from earlier books, they add nothing to the realised result: all
	// that they are worth was earned there. A reversal of them at the same rates leaves nothing.
	rapid.Check(t, func(t *rapid.T) {
		market := drawRates(t)
		c := &exchange.Calculation{Book: &exchange.Book{Functional: "GBP", Holdings: map[money.Currency]exchange.Holding{}}}
		var opened []exchange.Leg
		for _, currency := range append([]money.Currency{"GBP"}, foreign...) {
			if quantity := rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, string(currency)); quantity != 0 {
				opened = append(opened, exchange.Leg{currency, quantity})
			}
		}
		for _, leg := range opened {
			must[exchange.Measured](t)(c.Trade(trade(exchange.Opening, leg), market))
		}
		month := must[exchange.Month](t)(c.Close(market))
		if result := must[int64](t)(c.Book.Result()); len(month.Realised) != 0 || month.Opening != result ||
			must[int64](t)(month.Value()) != result {
			t.Fatalf("%+v of a book with the result %d", month, result)
		}
		for _, leg := range opened {
			must[exchange.Measured](t)(c.Trade(trade(exchange.Opening, exchange.Leg{leg.Currency, -leg.Quantity}), market))
		}
		if month := must[exchange.Month](t)(c.Close(market)); len(month.Realised) != 0 || month.Opening != 0 || len(month.Lines) != 0 {
			t.Errorf("after the reversal: %+v", month)
		}
	})
}

func TestCalculation_CarriedResults(t *testing.T) {
	t.Parallel()
	// What an earlier month has posted and kept is posted once: the next month posts the change, also for a
	// currency that is closed meanwhile.
	book := &exchange.Book{Functional: "GBP", Holdings: map[money.Currency]exchange.Holding{"EUR": {1_000, 800}}}
	c := &exchange.Calculation{Book: book, Carried: map[money.Currency]int64{"EUR": 20, "MXN": -5}}
	month := must[exchange.Month](t)(c.Close(rates("GBP", map[money.Currency]string{"GBP": "1.25", "EUR": "1.1"})))
	got := must[ledger.GainsAndLosses](t)(month.UnrealisedResult())
	// 1,000 euros are worth 880 pounds: 80 unrealised, of which 20 are posted; 5 of the pesos are taken back.
	if got != (ledger.GainsAndLosses{Currency: "GBP", Gains: 65}) || len(month.Lines) != 2 {
		t.Errorf("%+v of %+v", got, month.Lines)
	}
}
