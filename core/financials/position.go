package financials

import (
	"cmp"
	"maps"
	"slices"

	"causeway/core/exchange"
	"causeway/core/money"
)

// Figure is what an account, or a group of accounts, adds to a line.
type Figure struct {
	Line Line
	Key
	// Quantity is the balance in the currency of the account, or what was earned, Value that in the functional currency. Both have the
	// sign of the section: above zero for debits of assets and expense and for credits of all others.
	Quantity money.Total
	Value    int64
	// isComputed: no entries add up to it.
	isComputed bool
}

// Position are the figures of a balance sheet.
type Position []Figure

// NewPosition returns the balance sheet of a month. net are the balances of all accounts at its end, debits less credits, and rates
// those of its end. What is missing to a balance is the exchange result that is not posted: nothing after it was. Faults and
// errors: those of
// exchange.Rates.Value; money.ErrOverflow.
func NewPosition(state *State, net map[Key]money.Total, rates *exchange.Rates) (Position, error) {
	grouped := map[Key]money.Total{}
	for key, balance := range net {
		group := Key{Group(key.Path), key.Currency}
		grouped[group] = grouped[group].Add(balance)
	}
	for key := range state.Values {
		grouped[key] = grouped[key].Add(money.Total{})
	}
	var p Position
	var difference int64
	quantities := map[money.Currency]int64{} // of what is translated at the closing rate, in the order of the lines
	for _, key := range sortedByLine(grouped) {
		figure := Figure{Key: key, Quantity: grouped[key]}
		figure.Line, _ = LineOf(key.Path)
		quantity, fits := figure.Quantity.Minor()
		if !fits {
			return nil, money.ErrOverflow
		}
		var err error
		switch own, isOwn := state.Values[key], isOwnLine(figure.Line, key.Path); {
		case figure.Line.Code == lineDifference:
		case key.Currency == state.Functional:
			figure.Value = quantity
		case isOwn:
			figure.Value = -own
		default:
			if figure.Value, err = valueAfter(rates, key.Currency, quantities, quantity); err != nil {
				return nil, err
			}
		}
		if difference, err = money.AddMinor(difference, figure.Value); err != nil {
			return nil, err
		}
		if isResult(key.Path) {
			figure.Line = unclosedLine
		}
		if figure.Line.Section != Assets {
			figure.Value, figure.Quantity = -figure.Value, figure.Quantity.Neg()
		}
		if figure.Value != 0 || figure.Quantity.Sign() != 0 {
			p = append(p, figure)
		}
	}
	if difference != 0 {
		line, _ := find(accountLines, "fx/")
		p = append(p, Figure{Line: line, Key: Key{"fx/valuation", state.Functional}, Value: difference, isComputed: true})
	}
	return p, nil
}

// valueAfter returns the value of a quantity of a currency after others: their sum has the value of all together, so that no remainder of
// rounding is left.
func valueAfter(rates *exchange.Rates, currency money.Currency, before map[money.Currency]int64, quantity int64) (int64, error) {
	first, err := rates.Value(currency, before[currency])
	if err != nil {
		return 0, err
	}
	if before[currency], err = money.AddMinor(before[currency], quantity); err != nil {
		return 0, err
	}
	last, err := rates.Value(currency, before[currency])
	if err != nil {
		return 0, err
	}
	return money.SubMinor(last, first)
}

// isOwnLine reports whether an account keeps the value of its time.
func isOwnLine(line Line, path string) bool {
	return line.Section == Equity || line.Code == "deferred-fees" || isResult(path)
}

// sortedByLine returns keys in the order of the lines: cash is first, so that it is rounded by itself.
func sortedByLine[V any](keys map[Key]V) []Key {
	order := map[string]int{}
	for i, line := range accountLines {
		order[line.Code] = i
	}
	return slices.SortedFunc(maps.Keys(keys), func(a, b Key) int {
		first, _ := LineOf(a.Path)
		second, _ := LineOf(b.Path)
		return cmp.Or(cmp.Compare(order[first.Code], order[second.Code]), compareKeys(a, b))
	})
}

// Sum returns the value of the figures of a section, or of a line of it.
func (p Position) Sum(section Section, codes ...string) (sum int64) {
	for _, f := range p {
		if f.Line.Section == section && (len(codes) == 0 || slices.Contains(codes, f.Line.Code)) {
			sum += f.Value
		}
	}
	return sum
}

// CashTotal returns the cash of a balance sheet.
func (p Position) CashTotal() (sum int64) {
	for _, f := range p {
		if IsCash(f.Path) {
			sum += f.Value
		}
	}
	return sum
}

// Earnings returns the figures of the income statement of consecutive months.
func Earnings(months []*State) ([]Figure, error) {
	sums, quantities := map[Key]int64{}, map[Key]money.Total{}
	for _, m := range months {
		for key, value := range m.Earned {
			if err := addTo(sums, key, value); err != nil {
				return nil, err
			}
		}
		for key, quantity := range m.quantities { // of any month, also of one in which they are worth nothing
			quantities[key] = quantities[key].Add(money.TotalOf(quantity))
		}
	}
	for key := range sums {
		quantities[key] = quantities[key].Add(money.Total{})
	}
	var figures []Figure
	for _, key := range sortedByLine(quantities) {
		if sums[key] == 0 && quantities[key].Sign() == 0 {
			continue
		}
		f := Figure{Key: key, Quantity: quantities[key], Value: sums[key]}
		if f.Line, _ = LineOf(key.Path); f.Line.Section == Expense {
			f.Value, f.Quantity = -f.Value, f.Quantity.Neg()
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// Result returns the income less the expense.
func Result(earnings []Figure) (result int64) {
	for _, f := range earnings {
		if f.Line.Section == Income {
			result += f.Value
		} else {
			result -= f.Value
		}
	}
	return result
}
