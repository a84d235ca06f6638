package exchange

import (
	"cmp"
	"slices"

	"causeway/core/money"
	"causeway/ledger"
)

// Origin says what kind of posting changed the position.
type Origin string

// The origins.
const (
	Conversion Origin = "CONVERSION" // a payment was converted
	Reversal   Origin = "REVERSAL"   // a conversion was undone, at another rate than it was made
	Settlement Origin = "SETTLEMENT" // the position was settled with a liquidity provider
	Adjustment Origin = "ADJUSTMENT" // any other posting, such as a correction by hand
	Opening    Origin = "OPENING"    // balances from earlier books: their result was earned there
	// IncomeAndExpense and OwnFunds are entries on accounts of these, in foreign currencies.
	IncomeAndExpense Origin = "INCOME_AND_EXPENSE"
	OwnFunds         Origin = "OWN_FUNDS"
)

// Origins lists every origin.
func Origins() []Origin {
	return []Origin{Conversion, Reversal, Settlement, Adjustment, Opening, IncomeAndExpense, OwnFunds}
}

// OriginOf returns the origin of what a posting of a kind changes on fx/position. reversed is the kind of the posting
// that a reversal names; empty for all others.
func OriginOf(kind, reversed ledger.Kind) Origin {
	switch kind {
	case ledger.KindConverted:
		return Conversion
	case ledger.KindReversal:
		if reversed == ledger.KindOpeningBalances {
			return Opening
		}
		return Reversal
	case ledger.KindOpeningBalances:
		return Opening
	case ledger.KindFXSettlement:
		return Settlement
	default:
		return Adjustment
	}
}

// Trade is a change of the position by one posting.
type Trade struct {
	Origin Origin // of the legs
	// Legs are the changes of fx/position: at most one of a currency, none of zero, by currency.
	Legs []Leg
	// Own are the changes of income, expense and own funds in foreign currencies: at most one of an account and
	// currency, none of zero, by currency, origin and account.
	Own []OwnLeg
}

// Leg is a quantity of a currency in minor units: above zero if it was bought, below if it was sold.
type Leg struct {
	Currency money.Currency
	Quantity int64
}

// NewTrade returns the trade of a posting from its entries on fx/position and, by their paths, on accounts of income,
// expense and own funds: those of one currency and account are added up. Error: money.ErrOverflow.
func NewTrade(origin Origin, position []Leg, own []OwnLeg) (Trade, error) {
	t := Trade{Origin: origin}
	for _, e := range position {
		if err := t.add(e); err != nil {
			return Trade{}, err
		}
	}
	for _, e := range own {
		if err := t.addOwn(e); err != nil {
			return Trade{}, err
		}
	}
	t.Legs = slices.DeleteFunc(t.Legs, func(l Leg) bool { return l.Quantity == 0 })
	t.Own = slices.DeleteFunc(t.Own, func(l OwnLeg) bool { return l.Quantity == 0 })
	slices.SortFunc(t.Legs, func(a, b Leg) int { return cmp.Compare(a.Currency, b.Currency) })
	slices.SortFunc(t.Own, func(a, b OwnLeg) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Account, b.Account))
	})
	return t, nil
}

// IsZero reports whether the trade changes nothing.
func (t Trade) IsZero() bool { return len(t.Legs) == 0 && len(t.Own) == 0 }

func (t *Trade) add(entry Leg) (err error) {
	for i := range t.Legs {
		if t.Legs[i].Currency == entry.Currency {
			t.Legs[i].Quantity, err = money.AddMinor(t.Legs[i].Quantity, entry.Quantity)
			return err
		}
	}
	t.Legs = append(t.Legs, entry)
	return nil
}

func (t *Trade) addOwn(entry OwnLeg) (err error) {
	entry.Origin, entry.Account = ownOrigin(entry.Account), accountGroup(entry.Account)
	if t.Origin == Opening {
		entry.Origin = Opening
	}
	for i := range t.Own {
		if l := &t.Own[i]; l.Currency == entry.Currency && l.Account == entry.Account {
			l.Quantity, err = money.AddMinor(l.Quantity, entry.Quantity)
			return err
		}
	}
	t.Own = append(t.Own, entry)
	return nil
}

// isExchange reports whether the trade gives one currency for another, at a price that was agreed for it.
func (t Trade) isExchange() bool {
	return t.Origin != Reversal && t.Origin != Opening && len(t.Legs) == 2 && (t.Legs[0].Quantity > 0) != (t.Legs[1].Quantity > 0)
}
