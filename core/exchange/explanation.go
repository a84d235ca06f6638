package exchange

import (
	"maps"
	"slices"

	"causeway/core/money"
)

// Explanation explains how the value of the position changed between two times: by postings of each origin,
// and by the market rates. Every posting changes the value by what it bought or earned less what it sold or spent, at
// the market rates of its time; whenever the rates change, the position is valued again. So the parts add up exactly.
//
// The sum of all parts is the realised and unrealised result of the same time, what income, expense and own funds were
// translated to, and what was earned in earlier books.
type Explanation struct {
	Opening, Closing int64
	// ByOrigin are the changes by postings, and Trades their number. One of two origins counts for both.
	ByOrigin map[Origin]int64
	Trades   map[Origin]int64
	// RateChanges is the change by the market rates.
	RateChanges int64

	functional money.Currency
	rates      *Rates
	positions  map[money.Currency]int64
	values     map[money.Currency]int64
}

// Explain begins an explanation with the positions at a time and the rates of that time. Faults and errors:
// those of Rates.Value.
func Explain(functional money.Currency, positions map[money.Currency]int64, rates *Rates) (*Explanation, error) {
	x := &Explanation{ByOrigin: map[Origin]int64{}, Trades: map[Origin]int64{}, functional: functional, rates: rates,
		positions: maps.Clone(positions), values: map[money.Currency]int64{}}
	var err error
	for currency, quantity := range positions {
		if x.values[currency], err = rates.Value(currency, quantity); err != nil {
			return nil, err
		}
		if x.Opening, err = money.AddMinor(x.Opening, x.values[currency]); err != nil {
			return nil, err
		}
	}
	x.Closing = x.Opening
	return x, nil
}

// Rates values the position again at the rates of a later time. Faults and errors: those of Rates.Value.
func (x *Explanation) Rates(rates *Rates) error {
	if rates == x.rates {
		return nil
	}
	x.rates = rates
	for currency := range x.positions {
		change, err := x.revalue(currency)
		if err != nil {
			return err
		}
		if x.RateChanges, err = money.AddMinor(x.RateChanges, change); err != nil {
			return err
		}
	}
	return nil
}

// Trade changes the position by a trade at the rates of its time. Faults and errors: those of Rates.Value.
func (x *Explanation) Trade(t Trade, rates *Rates) error {
	if err := x.Rates(rates); err != nil {
		return err
	}
	if len(t.Legs) > 0 {
		x.Trades[t.Origin]++
	}
	for _, leg := range t.Legs {
		if err := x.add(t.Origin, leg); err != nil {
			return err
		}
	}
	for i, leg := range t.Own {
		counted := leg.Origin == t.Origin && len(t.Legs) > 0 ||
			slices.ContainsFunc(t.Own[:i], func(l OwnLeg) bool { return l.Origin == leg.Origin })
		if !counted {
			x.Trades[leg.Origin]++
		}
		if err := x.add(leg.Origin, leg.Leg); err != nil {
			return err
		}
	}
	return nil
}

// add changes the position in a currency.
func (x *Explanation) add(origin Origin, leg Leg) error {
	quantity, err := money.AddMinor(x.positions[leg.Currency], leg.Quantity)
	if err != nil {
		return err
	}
	x.positions[leg.Currency] = quantity
	change, err := x.revalue(leg.Currency)
	if err != nil {
		return err
	}
	x.ByOrigin[origin], err = money.AddMinor(x.ByOrigin[origin], change)
	return err
}

// revalue values the position in a currency again, and returns the change.
func (x *Explanation) revalue(currency money.Currency) (change int64, err error) {
	value, err := x.rates.Value(currency, x.positions[currency])
	if err != nil {
		return 0, err
	}
	if change, err = money.SubMinor(value, x.values[currency]); err != nil {
		return 0, err
	}
	x.values[currency] = value
	x.Closing, err = money.AddMinor(x.Closing, change)
	return change, err
}
