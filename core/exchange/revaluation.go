package exchange

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"causeway/core/money"
	"causeway/ledger"
)

// Line is the position in one foreign currency at the end of a month.
type Line struct {
	Currency money.Currency
	Holding
	// Rate is the closing rate with its time and source; empty for a quantity of zero.
	Rate       money.Rate
	RateAt     time.Time
	RateSource string
	Value      int64
	// Unrealised is the value less the cost. Carried is the part of it that an earlier month has posted and
	// not reversed.
	Unrealised, Carried int64
}

// Realised is the realised result of one origin in one currency.
type Realised struct {
	Origin   Origin
	Currency money.Currency
	Amount   int64
	// Trades counts those in the currency: an exchange of two foreign ones counts for both.
	Trades int64
}

// Month is the exchange result of a month.
type Month struct {
	Functional money.Currency
	// Opening is what was earned in earlier books, or before the first month that is revalued, which is no income of
	// the month: the result of the position when that month begins, and of opening balances in any month.
	Opening int64
	// Cash is the position in the functional currency at the month's end.
	Cash     int64
	Realised []Realised // by origin and currency
	Lines    []Line     // by currency
	// Translations are the entries of the month on income, expense and own funds in foreign currencies, by account and
	// currency. Translated is the sum of their values up to the end of the month, with that of the opening book.
	Translations []Translation
	Translated   int64
}

// Calculation adds up the exchange result of a month.
type Calculation struct {
	Book *Book
	// Opening is that of Month so far, and Carried the unrealised results that are posted and not reversed.
	Opening  int64
	Carried  map[money.Currency]int64
	realised map[resultKey]*Realised
	// translations are by account and currency.
	translations map[translationKey]*Translation
}

type resultKey struct {
	origin   Origin
	currency money.Currency
}

// Trade adds a trade at the rates of its time, and returns its result. Faults and errors: those of Book.Trade.
func (c *Calculation) Trade(t Trade, rates *Rates) (Measured, error) {
	m, err := c.Book.Trade(t, rates)
	if err != nil {
		return m, err
	}
	if err := c.translate(m.Own); err != nil {
		return m, err
	}
	if t.Origin == Opening {
		c.Opening, err = money.AddMinor(c.Opening, m.Realised)
		return m, err
	}
	difference := m.Currency(c.Book.Functional)
	for _, leg := range m.Legs {
		if leg.Currency != difference && leg.Currency == c.Book.Functional {
			continue
		}
		result := leg.Realised
		if leg.Currency == difference {
			if result, err = money.AddMinor(result, m.Difference); err != nil {
				return m, err
			}
		}
		if err := c.add(t.Origin, leg.Currency, result); err != nil {
			return m, err
		}
	}
	for i, leg := range m.Own { // by currency and origin
		if i > 0 && leg.Currency == m.Own[i-1].Currency && leg.Origin == m.Own[i-1].Origin {
			continue
		}
		if err := c.add(leg.Origin, leg.Currency, leg.Realised); err != nil {
			return m, err
		}
	}
	return m, nil
}

// add adds the result of one trade.
func (c *Calculation) add(origin Origin, currency money.Currency, amount int64) (err error) {
	key := resultKey{origin, currency}
	if c.realised == nil {
		c.realised = map[resultKey]*Realised{}
	}
	r := c.realised[key]
	if r == nil {
		r = &Realised{Origin: origin, Currency: currency}
		c.realised[key] = r
	}
	r.Trades++
	r.Amount, err = money.AddMinor(r.Amount, amount)
	return err
}

// Close values the position at the closing rates and returns the result of the month. Faults and errors: those
// of Rates.Value.
func (c *Calculation) Close(rates *Rates) (Month, error) {
	m := Month{Functional: c.Book.Functional, Opening: c.Opening, Cash: c.Book.Cash, Translated: c.Book.Translated}
	m.Translations = c.closedTranslations()
	for _, origin := range Origins() {
		var ofOrigin []Realised
		for key, r := range c.realised {
			if key.origin == origin {
				ofOrigin = append(ofOrigin, *r)
			}
		}
		slices.SortFunc(ofOrigin, func(a, b Realised) int { return cmp.Compare(a.Currency, b.Currency) })
		m.Realised = append(m.Realised, ofOrigin...)
	}
	currencies := maps.Clone(c.Carried)
	if currencies == nil {
		currencies = map[money.Currency]int64{}
	}
	for currency := range c.Book.Holdings {
		currencies[currency] += 0
	}
	for _, currency := range slices.Sorted(maps.Keys(currencies)) {
		line, err := c.closeLine(currency, rates)
		if err != nil {
			return m, err
		}
		if line.Holding != (Holding{}) || line.Carried != 0 {
			m.Lines = append(m.Lines, line)
		}
	}
	return m, nil
}

func (c *Calculation) closeLine(currency money.Currency, rates *Rates) (Line, error) {
	line := Line{Currency: currency, Holding: c.Book.Holdings[currency], Carried: c.Carried[currency]}
	if line.Quantity == 0 {
		return line, nil
	}
	rate, err := rates.Rate(currency)
	if err != nil {
		return line, err
	}
	line.Rate, line.RateAt, line.RateSource = rate.Rate, rate.At, rate.Source
	if line.Value, err = rates.Value(currency, line.Quantity); err != nil {
		return line, err
	}
	line.Unrealised, err = money.SubMinor(line.Value, line.Cost)
	return line, err
}

// Book returns the book with which the next month begins.
func (m Month) Book() *Book {
	b := &Book{Functional: m.Functional, Cash: m.Cash, Holdings: make(map[money.Currency]Holding, len(m.Lines)), Translated: m.Translated,
		lines: m.carriedLines()}
	for _, line := range m.Lines {
		if line.Holding != (Holding{}) {
			b.Holdings[line.Currency] = line.Holding
		}
	}
	return b
}

// Unrealised returns the unrealised results that remain posted after the month if they are kept.
func (m Month) Unrealised() map[money.Currency]int64 {
	unrealised := map[money.Currency]int64{}
	for _, line := range m.Lines {
		if line.Unrealised != 0 {
			unrealised[line.Currency] = line.Unrealised
		}
	}
	return unrealised
}

// addResult adds a result of one currency to the gains or to the losses.
func addResult(g *ledger.GainsAndLosses, amount int64) (err error) {
	if amount >= 0 {
		g.Gains, err = money.AddMinor(g.Gains, amount)
	} else {
		g.Losses, err = money.SubMinor(g.Losses, amount)
	}
	return err
}

// CurrencyResult is the result of a month in one currency, as it is posted.
type CurrencyResult struct {
	Currency money.Currency
	Realised int64
	// Unrealised is less what is carried.
	Unrealised int64
}

// ByCurrency returns the result to post in each currency, by currency. Error: money.ErrOverflow.
func (m Month) ByCurrency() (results []CurrencyResult, err error) {
	byCurrency := map[money.Currency]CurrencyResult{}
	for _, r := range m.Realised {
		sum := byCurrency[r.Currency]
		if sum.Realised, err = money.AddMinor(sum.Realised, r.Amount); err != nil {
			return nil, err
		}
		byCurrency[r.Currency] = sum
	}
	for _, line := range m.Lines {
		sum := byCurrency[line.Currency]
		if sum.Unrealised, err = money.SubMinor(line.Unrealised, line.Carried); err != nil {
			return nil, err
		}
		byCurrency[line.Currency] = sum
	}
	for _, currency := range slices.Sorted(maps.Keys(byCurrency)) {
		result := byCurrency[currency]
		result.Currency = currency
		results = append(results, result)
	}
	return results, nil
}

// RealisedResult returns the realised result, added up by currency. Error: money.ErrOverflow.
func (m Month) RealisedResult() (ledger.GainsAndLosses, error) {
	return m.result(func(r CurrencyResult) int64 { return r.Realised })
}

// UnrealisedResult returns the unrealised result to post: that of each currency less what is carried. Error:
// money.ErrOverflow.
func (m Month) UnrealisedResult() (ledger.GainsAndLosses, error) {
	return m.result(func(r CurrencyResult) int64 { return r.Unrealised })
}

func (m Month) result(amount func(CurrencyResult) int64) (ledger.GainsAndLosses, error) {
	g := ledger.GainsAndLosses{Currency: m.Functional}
	results, err := m.ByCurrency()
	for _, r := range results {
		if err := addResult(&g, amount(r)); err != nil {
			return g, err
		}
	}
	return g, err
}

// ReversedResult returns the unrealised result to reverse when the next month begins: that of each currency, also
// what earlier months have kept. Error: money.ErrOverflow.
func (m Month) ReversedResult() (ledger.GainsAndLosses, error) {
	g := ledger.GainsAndLosses{Currency: m.Functional}
	for _, line := range m.Lines {
		if err := addResult(&g, line.Unrealised); err != nil {
			return g, err
		}
	}
	return g, nil
}

// Value returns the value of the position at the closing rates. Error: money.ErrOverflow.
func (m Month) Value() (value int64, err error) {
	value = m.Cash
	for _, line := range m.Lines {
		if value, err = money.AddMinor(value, line.Value); err != nil {
			return 0, err
		}
	}
	return value, nil
}

// Valuation returns the balance of fx/valuation after the month: the negative value of the position, without what was
// translated. Error: money.ErrOverflow.
func (m Month) Valuation() (int64, error) {
	value, err := m.Value()
	if err != nil {
		return 0, err
	}
	return money.SubMinor(m.Translated, value)
}
