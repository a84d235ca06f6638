package financials

import (
	"maps"
	"slices"

	"causeway/core/exchange"
	"causeway/core/money"
)

// Movement is what entries of a month between cash and another account, or a group, have moved in a currency.
type Movement struct {
	Key
	// Received increased cash, Paid reduced it.
	Received, Paid int64
}

// Flow is what one account on the other side adds to a line of the cash flow statement: above zero for what was received.
type Flow struct {
	Line       Line
	IsReceived bool
	Key
	Quantity, Value int64
}

// CashFlows are those of a month.
type CashFlows struct {
	Opening, Closing int64
	Flows            []Flow
	// RateChanges is what changes of rates added to cash in foreign currencies.
	RateChanges int64
	// Unexplained is zero unless postings were added while the figures were read.
	Unexplained int64
}

// NewCashFlows returns the cash flows of a month. net are the balances at its beginning and end, as in NewPosition. Flows in
// foreign currencies
// have the rates of the month's end. Faults and errors: those of exchange.Rates.Value; money.ErrOverflow.
func NewCashFlows(functional money.Currency, opening, closing map[Key]money.Total, openingRates, rates *exchange.Rates,
	movements []Movement) (c CashFlows, err error) {
	before, err := cashOf(opening)
	if err != nil {
		return c, err
	}
	after, err := cashOf(closing)
	if err != nil {
		return c, err
	}
	if c.Opening, err = valueOf(before, openingRates); err != nil {
		return c, err
	}
	if c.Closing, err = valueOf(after, rates); err != nil {
		return c, err
	}
	atEnd, err := valueOf(before, rates)
	if err != nil {
		return c, err
	}
	if c.RateChanges, err = money.SubMinor(atEnd, c.Opening); err != nil {
		return c, err
	}
	sum := atEnd
	slices.SortFunc(movements, func(a, b Movement) int { return compareKeys(a.Key, b.Key) })
	so := maps.Clone(before)
	for _, m := range movements {
		for _, received := range []bool{true, false} {
			flow := Flow{IsReceived: received, Key: m.Key, Quantity: m.Received}
			if !received {
				flow.Quantity = -m.Paid
			}
			if flow.Quantity == 0 {
				continue
			}
			flow.Line, _ = FlowOf(m.Path)
			if flow.Value, err = valueAfter(rates, m.Currency, so, flow.Quantity); err != nil {
				return c, err
			}
			if sum, err = money.AddMinor(sum, flow.Value); err != nil {
				return c, err
			}
			c.Flows = append(c.Flows, flow)
		}
	}
	c.Unexplained, err = money.SubMinor(c.Closing, sum)
	return c, err
}

// cashOf returns the cash in each currency.
func cashOf(net map[Key]money.Total) (map[money.Currency]int64, error) {
	sums := map[money.Currency]money.Total{}
	for key, balance := range net {
		if IsCash(key.Path) {
			sums[key.Currency] = sums[key.Currency].Add(balance)
		}
	}
	cash := map[money.Currency]int64{}
	for currency, sum := range sums {
		minor, fits := sum.Minor()
		if !fits {
			return nil, money.ErrOverflow
		}
		cash[currency] = minor
	}
	return cash, nil
}

func valueOf(cash map[money.Currency]int64, rates *exchange.Rates) (sum int64, err error) {
	for currency, quantity := range cash {
		value, err := rates.Value(currency, quantity)
		if err != nil {
			return 0, err
		}
		if sum, err = money.AddMinor(sum, value); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// Join adds the cash flows of consecutive months. Error: money.ErrOverflow.
func Join(months []CashFlows) (joined CashFlows, err error) {
	type flowKey struct {
		code     string
		received bool
		Key
	}
	at := map[flowKey]int{}
	for i, m := range months {
		if i == 0 {
			joined.Opening = m.Opening
		}
		joined.Closing = m.Closing
		if joined.RateChanges, err = money.AddMinor(joined.RateChanges, m.RateChanges); err != nil {
			return joined, err
		}
		joined.Unexplained += m.Unexplained
		for _, f := range m.Flows {
			key := flowKey{f.Line.Code, f.IsReceived, f.Key}
			n, ok := at[key]
			if !ok {
				at[key] = len(joined.Flows)
				joined.Flows = append(joined.Flows, f)
				continue
			}
			sum := &joined.Flows[n]
			if sum.Quantity, err = money.AddMinor(sum.Quantity, f.Quantity); err != nil {
				return joined, err
			}
			if sum.Value, err = money.AddMinor(sum.Value, f.Value); err != nil {
				return joined, err
			}
		}
	}
	return joined, nil
}
