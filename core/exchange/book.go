package exchange

import (
	"math/bits"

	"causeway/core/money"
)

// Holding is the position in one foreign currency and what it cost, by weighted average. Both have the same
// sign, or the cost is zero: a currency that was sold short has a cost below zero, which is what was received
// for it.
type Holding struct{ Quantity, Cost int64 }

// Book is the foreign exchange position at cost: what the company has in each currency on its own account.
type Book struct {
	Functional money.Currency
	// Cash is the position in the functional currency.
	Cash int64
	// Holdings are the positions in foreign currencies. One that was closed stays, with zeros.
	Holdings map[money.Currency]Holding
	// Translated is what income, expense and own funds in foreign currencies were worth at the rates of their times.
	// It is a part of the cost, and no result of the position.
	Translated int64
	// lines are the exact values of the month.
	lines map[translationKey]translatedLine
}

// Open returns a book of positions whose cost is their value at rates. So is the value of income, expense and own funds
// in them. Faults and errors: those of Rates.Value.
func Open(functional money.Currency, positions Positions, rates *Rates) (*Book, error) {
	b := &Book{Functional: functional, Cash: positions.Traded[functional], Holdings: map[money.Currency]Holding{}}
	total, err := positions.Total()
	if err != nil {
		return nil, err
	}
	for currency, quantity := range total {
		if currency == functional {
			continue
		}
		cost, err := rates.Value(currency, quantity)
		if err != nil {
			return nil, err
		}
		traded, err := rates.Value(currency, positions.Traded[currency])
		if err != nil {
			return nil, err
		}
		own, err := money.SubMinor(cost, traded)
		if err != nil {
			return nil, err
		}
		if b.Translated, err = money.AddMinor(b.Translated, own); err != nil {
			return nil, err
		}
		if quantity != 0 {
			b.Holdings[currency] = Holding{quantity, cost}
		}
	}
	return b, nil
}

// Result returns the position in the functional currency plus the cost of all others, without what was translated: what
// the position has earned since it was empty. Each trade changes it by its realised result. Error: money.ErrOverflow.
func (b *Book) Result() (result int64, err error) {
	if result, err = money.SubMinor(b.Cash, b.Translated); err != nil {
		return 0, err
	}
	for _, h := range b.Holdings {
		if result, err = money.AddMinor(result, h.Cost); err != nil {
			return 0, err
		}
	}
	return result, nil
}

// Positions returns the position in each currency.
func (b *Book) Positions() map[money.Currency]int64 {
	positions := make(map[money.Currency]int64, len(b.Holdings)+1)
	positions[b.Functional] = b.Cash
	for currency, h := range b.Holdings {
		positions[currency] = h.Quantity
	}
	return positions
}

// MeasuredLeg is a leg of a trade with its value and, for a foreign currency, the result that is realised by
// closing a part of the position, which is the price of this part less its cost.
type MeasuredLeg struct {
	Leg
	Value    int64 // with the sign of the quantity
	Realised int64
}

// Measured is a trade with its realised result.
type Measured struct {
	Origin Origin
	Legs   []MeasuredLeg
	Own    []MeasuredOwn
	// Difference is the sum of the values of all legs: zero for an exchange, and otherwise the result of
	// giving one value for another, such as that of a reversal at another rate.
	Difference int64
	// Realised is the whole result: that of all legs and the difference.
	Realised int64
}

// Currency returns the foreign currency that the difference belongs to: that of the first foreign leg, or the
// functional currency if there is none.
func (m Measured) Currency(functional money.Currency) money.Currency {
	for _, leg := range m.Legs {
		if leg.Currency != functional {
			return leg.Currency
		}
	}
	return functional
}

// Trade changes the book by a trade, at the rates of its time, and returns its result.
//
// In an exchange against the functional currency, the foreign currency has the value that was given for it. In
// an exchange of two foreign currencies both have the market value of the one that is bought (IAS 21.21). The
// foreign currencies of any other trade, of a reversal and of opening balances have their market values, so that the
// loss on a reversal at another rate is a loss of its time. Income, expense and own funds have their market values.
//
// What a trade takes from own funds and adds to fx/position, such as a conversion that a platform pays from its own
// balance, stays in the company: only the rest changes the position, at its market value.
//
// Faults and errors: those of Rates.Value. The book is then not to be used any more.
func (b *Book) Trade(t Trade, rates *Rates) (Measured, error) {
	m, err := b.measure(t, rates)
	if err != nil {
		return m, err
	}
	own, err := b.translate(m.Own)
	if err != nil {
		return m, err
	}
	for i := range m.Legs {
		leg := &m.Legs[i]
		if leg.Currency == b.Functional {
			b.Cash, err = money.AddMinor(b.Cash, leg.Quantity)
		} else {
			leg.Realised, err = b.tradeForeign(*leg, own, rates)
		}
		if err != nil {
			return m, err
		}
		if m.Difference, err = money.AddMinor(m.Difference, leg.Value); err != nil {
			return m, err
		}
		if m.Realised, err = money.AddMinor(m.Realised, leg.Realised); err != nil {
			return m, err
		}
	}
	for i := range m.Own {
		leg := &m.Own[i]
		rest, ok := own[leg.Currency]
		if !ok {
			continue
		}
		delete(own, leg.Currency)
		if leg.Realised, err = b.changeOwn(leg.Currency, rest); err != nil {
			return m, err
		}
		if m.Realised, err = money.AddMinor(m.Realised, leg.Realised); err != nil {
			return m, err
		}
	}
	m.Realised, err = money.AddMinor(m.Realised, m.Difference)
	return m, err
}

// ownSum is the sum of the own legs of a trade in a currency.
type ownSum struct{ quantity, value int64 }

// translate adds the values of own legs to what was translated, and returns their sums by currency.
func (b *Book) translate(legs []MeasuredOwn) (sums map[money.Currency]ownSum, err error) {
	for _, leg := range legs {
		if sums == nil {
			sums = make(map[money.Currency]ownSum, 1)
		}
		sum := sums[leg.Currency]
		if b.Translated, err = money.AddMinor(b.Translated, leg.Value); err != nil {
			return nil, err
		}
		if sum.quantity, err = money.AddMinor(sum.quantity, leg.Quantity); err != nil {
			return nil, err
		}
		sum.value += leg.Value // that of the quantity
		sums[leg.Currency] = sum
	}
	return sums, nil
}

// changeOwn changes a holding by the sum of own legs and returns what is realised by it. Each of their accounts is rounded by
// itself, so the sum of several may have a value of the other sign than its quantity, or one without a quantity. That is
// the rounding of a posting, and no cost.
func (b *Book) changeOwn(currency money.Currency, sum ownSum) (realised int64, err error) {
	cost := sum.value
	if sum.quantity == 0 || cost != 0 && (cost > 0) != (sum.quantity > 0) {
		cost = 0
	}
	if realised, err = b.change(currency, sum.quantity, cost); err != nil {
		return 0, err
	}
	return money.AddMinor(realised, cost-sum.value)
}

// tradeForeign changes a holding by a leg and returns what is realised by it. An own leg of the other sign is taken
// out of own: the rest of both has its market value.
func (b *Book) tradeForeign(leg MeasuredLeg, own map[money.Currency]ownSum, rates *Rates) (realised int64, err error) {
	offset, ok := own[leg.Currency]
	if !ok || (offset.quantity > 0) == (leg.Quantity > 0) {
		return b.change(leg.Currency, leg.Quantity, leg.Value)
	}
	delete(own, leg.Currency)
	rest := leg.Quantity + offset.quantity // of two signs
	value, err := rates.Value(leg.Currency, rest)
	if err != nil {
		return 0, err
	}
	if realised, err = b.change(leg.Currency, rest, value); err != nil {
		return 0, err
	}
	given, err := money.SubMinor(value, leg.Value+offset.value) // of two signs
	if err != nil {
		return 0, err
	}
	return money.AddMinor(realised, given)
}

// measure returns the legs of a trade with their values.
func (b *Book) measure(t Trade, rates *Rates) (Measured, error) {
	m := Measured{Origin: t.Origin, Legs: make([]MeasuredLeg, len(t.Legs))}
	var err error
	if m.Own, err = b.measureOwn(t.Own, rates); err != nil {
		return m, err
	}
	for i, leg := range t.Legs {
		m.Legs[i].Leg = leg
	}
	if t.isExchange() {
		given, other := 0, 1 // the leg that has a value of its own
		if t.Legs[1].Currency == b.Functional || t.Legs[0].Currency != b.Functional && t.Legs[1].Quantity > 0 {
			given, other = 1, 0
		}
		value, err := rates.Value(t.Legs[given].Currency, t.Legs[given].Quantity)
		m.Legs[given].Value, m.Legs[other].Value = value, -value
		return m, err
	}
	for i, leg := range t.Legs {
		value, err := rates.Value(leg.Currency, leg.Quantity)
		if err != nil {
			return m, err
		}
		m.Legs[i].Value = value
	}
	return m, nil
}

// change changes a holding by a quantity of a value, and returns what is realised by closing a part of it.
func (b *Book) change(currency money.Currency, quantity, value int64) (realised int64, err error) {
	h := b.Holdings[currency]
	next := Holding{}
	if next.Quantity, err = money.AddMinor(h.Quantity, quantity); err != nil {
		return 0, err
	}
	switch {
	case (h.Quantity >= 0) == (quantity > 0) || h.Quantity == 0 || quantity == 0: // more of the same
		next.Cost, err = money.AddMinor(h.Cost, value)
	case next.Quantity != 0 && (next.Quantity > 0) == (h.Quantity > 0): // a part is closed
		next.Cost = h.Cost - proportion(h.Cost, quantity, h.Quantity)
	case next.Quantity != 0: // all is closed, and the rest is opened
		next.Cost = value - proportion(value, h.Quantity, quantity)
	}
	if err != nil {
		return 0, err
	}
	b.Holdings[currency] = next
	change, err := money.SubMinor(next.Cost, h.Cost)
	if err != nil {
		return 0, err
	}
	return money.SubMinor(change, value)
}

// proportion returns amount × |part| / |whole|, rounded half to even, for |part| <= |whole|.
func proportion(amount, part, whole int64) int64 {
	hi, lo := bits.Mul64(magnitude(amount), magnitude(part))
	divisor := magnitude(whole)
	quotient, rest := bits.Div64(hi, lo, divisor)
	if rest > divisor-rest || rest == divisor-rest && quotient%2 == 1 {
		quotient++
	}
	if amount < 0 {
		return -int64(quotient)
	}
	return int64(quotient)
}

// magnitude returns |n|, also for the smallest int64.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
