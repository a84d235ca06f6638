package exchange_test

import (
	"errors"
	"math"
	"testing"

	"causeway/core/exchange"
	"causeway/core/fault"
	"causeway/core/money"
)

func TestBook_Trade(t *testing.T) {
	t.Parallel()
	// Each trade realises the price of what it closes less its average cost. Rates: a euro is worth 1.10
	// dollars, a peso 0.05.
	market := rates("USD", map[money.Currency]string{"EUR": "1.1", "MXN": "0.05"})
	for name, c := range map[string]struct {
		before   exchange.Holding // of euros
		trade    exchange.Trade
		after    exchange.Holding
		realised int64
	}{
		"bought into an empty position": {exchange.Holding{}, trade(exchange.Conversion, exchange.Leg{"EUR", 1_000},
			exchange.Leg{"USD", -1_080}), exchange.Holding{1_000, 1_080}, 0},
		"bought more": {exchange.Holding{1_000, 1_080}, trade(exchange.Conversion, exchange.Leg{"EUR", 500},
			exchange.Leg{"USD", -560}), exchange.Holding{1_500, 1_640}, 0},
		"a part sold at a gain": {exchange.Holding{1_500, 1_640}, trade(exchange.Conversion, exchange.Leg{"EUR", -500},
			exchange.Leg{"USD", 600}), exchange.Holding{1_000, 1_093}, 53},
		"all sold at a loss": {exchange.Holding{1_500, 1_640}, trade(exchange.Settlement, exchange.Leg{"EUR", -1_500},
			exchange.Leg{"USD", 1_600}), exchange.Holding{}, -40},
		"more sold than there was": {exchange.Holding{1_000, 1_080}, trade(exchange.Conversion, exchange.Leg{"EUR", -3_000},
			exchange.Leg{"USD", 3_300}), exchange.Holding{-2_000, -2_200}, 20},
		"sold short": {exchange.Holding{}, trade(exchange.Conversion, exchange.Leg{"EUR", -1_000},
			exchange.Leg{"USD", 1_120}), exchange.Holding{-1_000, -1_120}, 0},
		"a part bought back at a gain": {exchange.Holding{-1_000, -1_120}, trade(exchange.Conversion, exchange.Leg{"EUR", 250},
			exchange.Leg{"USD", -270}), exchange.Holding{-750, -840}, 10},
		"half of an odd cost, to even": {exchange.Holding{2, 5}, trade(exchange.Conversion, exchange.Leg{"EUR", -1},
			exchange.Leg{"USD", 2}), exchange.Holding{1, 3}, 0},
		"sold for pesos, at the value of these": {exchange.Holding{1_000, 1_080}, trade(exchange.Conversion, exchange.Leg{"EUR", -1_000},
			exchange.Leg{"MXN", 22_000}), exchange.Holding{}, 20},
		"bought for pesos, at its own value": {exchange.Holding{}, trade(exchange.Conversion, exchange.Leg{"EUR", 1_000},
			exchange.Leg{"MXN", -22_500}), exchange.Holding{1_000, 1_100}, 0},
		"a reversal at another rate": {exchange.Holding{1_000, 1_080}, trade(exchange.Reversal, exchange.Leg{"EUR", -1_000},
			exchange.Leg{"USD", 1_080}), exchange.Holding{}, 0},
		"a reversal that costs what has changed": {exchange.Holding{}, trade(exchange.Reversal, exchange.Leg{"EUR", 1_000},
			exchange.Leg{"USD", -1_120}), exchange.Holding{1_000, 1_100}, -20},
		"a gift": {exchange.Holding{}, trade(exchange.Adjustment, exchange.Leg{"EUR", 100}),
			exchange.Holding{100, 110}, 110},
		"fees earned":                     {exchange.Holding{1_000, 1_080}, own("income/fees", 100), exchange.Holding{1_100, 1_190}, 0},
		"costs paid out of the position":  {exchange.Holding{1_000, 1_080}, own("expense/rails", -100), exchange.Holding{900, 972}, 2},
		"fees earned by a short position": {exchange.Holding{-1_000, -1_120}, own("income/fees", 100), exchange.Holding{-900, -1_008}, 2},
		"capital paid in":                 {exchange.Holding{}, own("equity/capital", 100), exchange.Holding{100, 110}, 0},
		"bought with a fee": {exchange.Holding{}, own("income/fees", 10, exchange.Leg{"EUR", 1_000},
			exchange.Leg{"USD", -1_080}), exchange.Holding{1_010, 1_091}, 0},
		"paid by the platform, at another price": {exchange.Holding{1_000, 1_000}, own("platform/x", -500, exchange.Leg{"EUR", 500},
			exchange.Leg{"USD", -540}), exchange.Holding{1_000, 1_000}, 10},
		"paid by the platform, and more": {exchange.Holding{}, own("platform/x", -600, exchange.Leg{"EUR", 500},
			exchange.Leg{"USD", -550}), exchange.Holding{-100, -110}, 0},
		"a correction of dollars": {exchange.Holding{100, 110}, trade(exchange.Adjustment, exchange.Leg{"USD", -7}),
			exchange.Holding{100, 110}, -7},
	} {
		book := &exchange.Book{Functional: "USD", Holdings: map[money.Currency]exchange.Holding{"EUR": c.before}}
		before := must[int64](t)(book.Result())

		measured, err := book.Trade(c.trade, market)

		if err != nil || book.Holdings["EUR"] != c.after || measured.Realised != c.realised {
			t.Errorf("%s: %v, realised %d, %v; want %v, %d", name, book.Holdings["EUR"], measured.Realised, err, c.after, c.realised)
		}
		if after := must[int64](t)(book.Result()); after-before != measured.Realised {
			t.Errorf("%s: the result changed by %d, and %d was realised", name, after-before, measured.Realised)
		}
	}
}

func TestBook_Trade_MissingRate(t *testing.T) {
	t.Parallel()
	// A trade whose value needs a rate that was not kept is refused with the currency; one against the
	// functional currency needs none.
	book := &exchange.Book{Functional: "USD", Holdings: map[money.Currency]exchange.Holding{}}
	if _, err := book.Trade(trade(exchange.Conversion, exchange.Leg{"INR", 5}, exchange.Leg{"USD", -7}), rates("USD", nil)); err != nil {
		t.Error(err)
	}
	_, err := book.Trade(trade(exchange.Reversal, exchange.Leg{"INR", -5}, exchange.Leg{"USD", 7}), rates("USD", nil))
	if f, ok := fault.As(err); !ok || f.Code != fault.Conflict || f.Reason != "No market rate" {
		t.Error(err)
	}
}

func TestBook_Trade_Overflow(t *testing.T) {
	t.Parallel()
	// A position above an amount is an error, not another number.
	book := &exchange.Book{Functional: "USD", Holdings: map[money.Currency]exchange.Holding{"EUR": {math.MaxInt64, 1}}}
	if _, err := book.Trade(trade(exchange.Conversion, exchange.Leg{"EUR", 1}, exchange.Leg{"USD", -1}), rates("USD", nil)); !errors.Is(err,
		money.ErrOverflow) {
		t.Error(err)
	}
	if _, err := rates("USD", map[money.Currency]string{"BTC": "0.1"}).Value("BTC", math.MinInt64); err == nil {
		t.Error("the smallest amount has a value")
	}
}
