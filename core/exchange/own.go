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
