package exchange

import (
	"strings"

	"causeway/core/money"
	"causeway/ledger"
)

// ownAccounts are the accounts whose entries in foreign currencies are translated at the rates of their times and keep
// that value (IAS 21.21, 21.23). A path that ends in a slash stands for a group. All other accounts but fx/position
// hold money, or what is owed in money: they are worth the closing rate.
//
// So what the company has in a currency on its own account, its assets less what it owes, is the balance of
// fx/position and of these accounts. An entry between two of them changes nothing: the closing of a year, or the
// deferral of fees, which are then owed as a service and not as money (IAS 21.16).
var ownAccounts = []struct {
	path   string
	origin Origin
}{
	{"income/", IncomeAndExpense},
	{"expense/", IncomeAndExpense},
	{ledger.LiabilityDeferredFees, IncomeAndExpense},
	{"equity/", OwnFunds},
	{platformAccounts, OwnFunds}, // the company owes them to itself
}

const platformAccounts = "platform/"

// OwnAccounts returns the paths of accounts of income, expense and own funds. One that ends in a slash stands for a
// group.
func OwnAccounts() []string {
	paths := make([]string, len(ownAccounts))
	for i, a := range ownAccounts {
		paths[i] = a.path
	}
	return paths
}

// ownOrigin returns the origin of entries on an account of income, expense or own funds; empty for any other.
func ownOrigin(path string) Origin {
	for _, a := range ownAccounts {
		if path == a.path || strings.HasSuffix(a.path, "/") && strings.HasPrefix(path, a.path) {
			return a.origin
		}
	}
	return ""
}

// accountGroup returns a path, or that of the line of the chart for an internal account of the platform: there may be
// many.
func accountGroup(path string) string {
	if line, err := ledger.FindChartLine(path); err == nil && strings.HasPrefix(path, platformAccounts) {
		return line.Path
	}
	return path
}

// OwnLeg is a quantity of a foreign currency on an account of income, expense or own funds: above zero for a credit,
// which earns, below for a debit, which spends.
type OwnLeg struct {
	Origin  Origin
	Account string
	Leg
}

// MeasuredOwn is such a leg with its value and, for the first one of a currency, the result that all of them realise
// by closing a part of the position.
type MeasuredOwn struct {
	OwnLeg
	Value    int64
	Realised int64
}

// measureOwn returns the legs with their market values. Those of one currency add up to the value of their sum, so
// that what is moved between accounts has no value.
func measureOwn(legs []OwnLeg, rates *Rates) ([]MeasuredOwn, error) {
	if len(legs) == 0 {
		return nil, nil
	}
	measured := make([]MeasuredOwn, len(legs))
	var quantity, value int64 // of the legs of a currency so far
	for i, leg := range legs {
		if i > 0 && leg.Currency != legs[i-1].Currency {
			quantity, value = 0, 0
		}
		var err error
		if quantity, err = money.AddMinor(quantity, leg.Quantity); err != nil {
			return nil, err
		}
		next, err := rates.Value(leg.Currency, quantity)
		if err != nil {
			return nil, err
		}
		measured[i].OwnLeg = leg
		if measured[i].Value, err = money.SubMinor(next, value); err != nil {
			return nil, err
		}
		value = next
	}
	return measured, nil
}

// Translation is what the entries of a month on an account of income, expense or own funds, in a foreign currency, were
// worth at the rates of their times.
type Translation struct {
	Account  string
	Currency money.Currency
	// Quantity and Value are above zero for what was earned or paid in.
	Quantity, Value int64
	Postings        int64
}

// Positions are the balances, above zero for a credit, that a position consists of.
type Positions struct {
	// Traded is that of fx/position in each currency, Own that of income, expense and own funds in each foreign one.
	Traded, Own map[money.Currency]int64
}

// Total returns the position in each currency. Error: money.ErrOverflow.
func (p Positions) Total() (map[money.Currency]int64, error) {
	total := make(map[money.Currency]int64, len(p.Traded)+len(p.Own))
	for _, part := range []map[money.Currency]int64{p.Traded, p.Own} {
		for currency, quantity := range part {
			sum, err := money.AddMinor(total[currency], quantity)
			if err != nil {
				return nil, err
			}
			total[currency] = sum
		}
	}
	return total, nil
}
