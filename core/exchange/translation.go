package exchange

import (
	"cmp"
	"maps"
	"slices"

	"causeway/core/money"
)

// Translation is what the entries of a month on an account of income, expense or own funds, in a foreign currency, were
// worth at the rates of their times.
type Translation struct {
	Account  string
	Currency money.Currency
	// Quantity and Value are above zero for what was earned or paid in.
	Quantity, Value int64
	Postings        int64
	// Remainder is what the exact value of the month, and of what was carried into it, is above Value: at most half a
	// unit in either direction. It is carried into the next month.
	Remainder money.Exact
}

// Equal reports whether both are the same.
func (t Translation) Equal(other Translation) bool {
	return t.Account == other.Account && t.Currency == other.Currency && t.Quantity == other.Quantity && t.Value == other.Value &&
		t.Postings == other.Postings && t.Remainder.Equal(other.Remainder)
}

type translationKey struct {
	account  string
	currency money.Currency
}

// translatedLine is the exact value of the entries of a month on an account in a currency, with what was carried into the
// month, and the rounded value.
type translatedLine struct {
	exact   money.Exact
	rounded int64
}

// measureOwn returns the legs with their values: the exact sum of a month on an account in a currency is rounded, half to
// even, and what remains is carried into the next month. Rounding each posting would make small fees exchange gains. Fault
// and errors: those of Rates.Value.
func (b *Book) measureOwn(legs []OwnLeg, rates *Rates) ([]MeasuredOwn, error) {
	if len(legs) == 0 {
		return nil, nil
	}
	if b.lines == nil {
		b.lines = map[translationKey]translatedLine{}
	}
	measured := make([]MeasuredOwn, len(legs))
	for i, leg := range legs {
		key := translationKey{leg.Account, leg.Currency}
		line := b.lines[key]
		value, err := rates.exact(leg.Currency, leg.Quantity)
		if err != nil {
			return nil, err
		}
		next := translatedLine{exact: line.exact.Add(value)}
		if next.rounded, err = next.exact.Round(); err != nil {
			return nil, err
		}
		if measured[i].Value, err = money.SubMinor(next.rounded, line.rounded); err != nil {
			return nil, err
		}
		measured[i].OwnLeg, b.lines[key] = leg, next
	}
	return measured, nil
}

// translate adds the values of own legs.
func (c *Calculation) translate(legs []MeasuredOwn) (err error) {
	for _, leg := range legs {
		key := translationKey{leg.Account, leg.Currency}
		if c.translations == nil {
			c.translations = map[translationKey]*Translation{}
		}
		t := c.translations[key]
		if t == nil {
			t = &Translation{Account: leg.Account, Currency: leg.Currency}
			c.translations[key] = t
		}
		t.Postings++
		if t.Quantity, err = money.AddMinor(t.Quantity, leg.Quantity); err != nil {
			return err
		}
		if t.Value, err = money.AddMinor(t.Value, leg.Value); err != nil {
			return err
		}
	}
	return nil
}

// closedTranslations returns the translations of the month by account and currency, also those that only carry a
// remainder.
func (c *Calculation) closedTranslations() []Translation {
	closed := make(map[translationKey]Translation, len(c.translations))
	for key, t := range c.translations {
		closed[key] = *t
	}
	for key, line := range c.Book.lines {
		t, ok := closed[key]
		t.Account, t.Currency, t.Remainder = key.account, key.currency, line.exact.Sub(money.ExactOf(line.rounded))
		if ok || !t.Remainder.IsZero() {
			closed[key] = t
		}
	}
	return slices.SortedFunc(maps.Values(closed), func(a, b Translation) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Currency, b.Currency))
	})
}

// carriedLines returns the remainders that a month carries into the next one.
func (m Month) carriedLines() map[translationKey]translatedLine {
	lines := map[translationKey]translatedLine{}
	for _, t := range m.Translations {
		if !t.Remainder.IsZero() {
			lines[translationKey{t.Account, t.Currency}] = translatedLine{exact: t.Remainder}
		}
	}
	return lines
}
