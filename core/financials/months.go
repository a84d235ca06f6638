package financials

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"causeway/core/exchange"
	"causeway/core/money"
	"causeway/ledger"
)

// Key is an account, or a group of accounts, in a currency.
type Key struct {
	Path     string
	Currency money.Currency
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Currency, b.Currency))
}

// Month is what the ledger says of a month, or of the months, that an exchange result covers.
type Month struct {
	// Balances are those of income, expense, equity and deferred fees at the end, above zero for a credit. Those of the
	// platform's own accounts follow from the others.
	Balances map[Key]int64
	// Translations are the entries on own accounts in foreign currencies with their values.
	Translations []exchange.Translation
	// Rates are those at the end.
	Rates *exchange.Rates
	// Years are the postings that close years, and their reversals, in order.
	Years []YearPosting
}

// YearPosting is a posting that closes a year, or the reversal of one.
type YearPosting struct {
	ID uuid.UUID
	// Reverses is zero for a closing.
	Reverses uuid.UUID
	// Taken are what it took from accounts, above zero from a credit balance; from retained earnings, less than zero for a
	// profit.
	Taken map[Key]int64
}

// NewYearPosting returns a posting as a YearPosting. Error: money.ErrOverflow.
func NewYearPosting(p ledger.Posting) (y YearPosting, err error) {
	y = YearPosting{ID: p.ID, Reverses: p.Reverses, Taken: map[Key]int64{}}
	for _, e := range p.Entries {
		if err := addTo(y.Taken, Key{e.Debit, e.Currency}, e.Amount); err != nil {
			return y, err
		}
		if err := addTo(y.Taken, Key{e.Credit, e.Currency}, -e.Amount); err != nil {
			return y, err
		}
	}
	return y, nil
}

// State is what own accounts are worth in the functional currency at the end of a month.
type State struct {
	Functional money.Currency
	// Values are those of own accounts in foreign currencies, above zero for a credit.
	Values map[Key]int64
	// Earned is what the income and expense of the month were worth, also those in the functional currency, above zero for
	// income, without the closing of years.
	Earned map[Key]int64
	// quantities are the same in the currencies of the accounts.
	quantities map[Key]int64
	// balances are those of Month, and closed what each closing took, by posting.
	balances map[Key]int64
	closed   map[uuid.UUID]map[Key]int64
}

// Open returns the state before the first month, whose exchange result translates what there is at the rates of that time: translated
// is the sum. Balances include those of the platform. Faults and errors: those of exchange.Rates.Value.
func Open(balances map[Key]int64, rates *exchange.Rates, functional money.Currency, translated int64) (*State, error) {
	s := &State{Functional: functional, Values: map[Key]int64{}, balances: balances, closed: map[uuid.UUID]map[Key]int64{}}
	rest, largest := translated, Key{}
	for _, key := range slices.SortedFunc(maps.Keys(balances), compareKeys) {
		if key.Currency == functional || balances[key] == 0 {
			continue
		}
		value, err := rates.Value(key.Currency, balances[key])
		if err != nil {
			return nil, err
		}
		s.Values[key] = value
		if rest, err = money.SubMinor(rest, value); err != nil {
			return nil, err
		}
		if largest == (Key{}) || size(value) > size(s.Values[largest]) {
			largest = key
		}
	}
	if rest != 0 { // a unit for an account, because the sum was rounded by currency
		if largest == (Key{}) || size(rest) > int64(len(s.Values))+int64(len(balances)) {
			return nil, fmt.Errorf("own accounts are worth %d more than their balances", rest)
		}
		s.Values[largest] += rest
	}
	return s, nil
}

func size(n int64) int64 { return max(n, -n) }

// Next returns the state at the end of the month after s. Faults and errors: those of exchange.Rates.Value.
func (s *State) Next(m Month) (*State, error) {
	n := &State{Functional: s.Functional, Values: maps.Clone(s.Values), Earned: map[Key]int64{}, quantities: map[Key]int64{},
		balances: m.Balances, closed: maps.Clone(s.closed)}
	moved, err := s.moved(m)
	if err != nil {
		return nil, err
	}
	changes := map[Key]int64{}
	quantities := maps.Clone(s.balances)
	for _, t := range m.Translations {
		key := Key{Group(t.Account), t.Currency}
		if err := addTo(changes, key, t.Value); err != nil {
			return nil, err
		}
		quantities[key] += t.Quantity
	}
	values, err := s.valueMoved(moved, changes, m)
	if err != nil {
		return nil, err
	}
	for key, quantity := range moved {
		quantities[key] += quantity
	}
	for key, value := range values {
		if err := addTo(changes, key, value); err != nil {
			return nil, err
		}
	}
	for key, change := range changes {
		if err := addTo(n.Values, key, change); err != nil {
			return nil, err
		}
		if isResult(key.Path) {
			n.Earned[key] = change
		}
	}
	if err := s.earn(n, m); err != nil {
		return nil, err
	}
	for _, y := range m.Years {
		if err := n.closeYear(y, quantities, m.Rates); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// moved returns what entries between own accounts in foreign currencies moved: the changes of their balances that the exchange result
// does not translate, without the closings of years. Those of the platform are what is missing.
func (s *State) moved(m Month) (map[Key]int64, error) {
	moved := map[Key]int64{}
	change := func(key Key, quantity int64) error {
		if key.Currency == s.Functional || Group(key.Path) == platformGroup {
			return nil
		}
		if err := addTo(moved, key, quantity); err != nil {
			return err
		}
		return addTo(moved, Key{platformGroup, key.Currency}, -quantity)
	}
	for key, balance := range m.Balances {
		if err := change(key, balance); err != nil {
			return nil, err
		}
	}
	for key, balance := range s.balances {
		if err := change(key, -balance); err != nil {
			return nil, err
		}
	}
	for _, t := range m.Translations {
		if err := change(Key{t.Account, t.Currency}, -t.Quantity); err != nil {
			return nil, err
		}
	}
	for _, y := range m.Years {
		for key, taken := range y.Taken {
			if err := change(key, taken); err != nil {
				return nil, err
			}
		}
	}
	return moved, nil
}

// valueMoved returns the values of what was moved, which add up to zero in each currency. Fees in foreign currencies are deferred at
// the closing rate of the month; the other side is fees. All else has that rate too.
func (s *State) valueMoved(moved, translated map[Key]int64, m Month) (map[Key]int64, error) {
	values, sums := map[Key]int64{}, map[money.Currency]int64{}
	for key, quantity := range m.Balances {
		if key.Path == ledger.LiabilityDeferredFees && key.Currency != s.Functional {
			value, err := m.Rates.Value(key.Currency, quantity)
			if err != nil {
				return nil, err
			}
			if value -= s.Values[key] + translated[key]; value != 0 {
				values[key] = value
				sums[key.Currency] += value
			}
		}
	}
	for key, quantity := range moved {
		if quantity == 0 || key.Path == ledger.LiabilityDeferredFees || key.Path == ledger.IncomeFees {
			continue
		}
		value, err := m.Rates.Value(key.Currency, quantity)
		if err != nil {
			return nil, err
		}
		values[key] = value
		sums[key.Currency] += value
	}
	for currency, sum := range sums {
		if sum != 0 {
			values[Key{ledger.IncomeFees, currency}] = -sum
		}
	}
	return values, nil
}

// earn adds the quantities of income and expense, which are also the values of those in the functional currency.
func (s *State) earn(n *State, m Month) error {
	add := func(key Key, quantity int64) error {
		if !isResult(key.Path) {
			return nil
		}
		if key.Currency == s.Functional {
			if err := addTo(n.Earned, key, quantity); err != nil {
				return err
			}
		}
		return addTo(n.quantities, key, quantity)
	}
	for key, balance := range m.Balances {
		if err := add(key, balance); err != nil {
			return err
		}
	}
	for key, balance := range s.balances {
		if err := add(key, -balance); err != nil {
			return err
		}
	}
	for _, y := range m.Years {
		for key, taken := range y.Taken {
			if err := add(key, taken); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeYear moves the values of what a closing took to retained earnings, or what it took before back. quantities are the balances
// so far.
func (s *State) closeYear(y YearPosting, quantities map[Key]int64, rates *exchange.Rates) error {
	values := map[Key]int64{}
	former, isReversal := s.closed[y.Reverses]
	for key, value := range former {
		values[key] = -value
	}
	before := maps.Clone(quantities)
	for key, taken := range y.Taken {
		quantities[key] -= taken
	}
	for key, value := range s.Values {
		if isReversal || !isResult(key.Path) {
			continue
		}
		if taken := y.Taken[key]; taken != before[key] { // a part, because something was posted after it
			var err error
			if value, err = rates.Value(key.Currency, taken); err != nil {
				return err
			}
		}
		values[key] = value
	}
	s.closed[y.ID] = values
	for key, value := range values {
		if err := addTo(s.Values, key, -value); err != nil {
			return err
		}
		if err := addTo(s.Values, Key{ledger.EquityRetainedEarnings, key.Currency}, value); err != nil {
			return err
		}
	}
	return nil
}

func isResult(path string) bool {
	line, _ := LineOf(path)
	return line.Section == Income || line.Section == Expense
}

func addTo[K comparable](sums map[K]int64, key K, amount int64) error {
	sum, err := money.AddMinor(sums[key], amount)
	if err != nil {
		return err
	}
	if sums[key] = sum; sum == 0 {
		delete(sums, key)
	}
	return nil
}
