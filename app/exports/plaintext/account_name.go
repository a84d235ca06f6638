package plaintext

import (
	"strings"

	"causeway/ledger"
)

// openingAccount is the account against which balances are brought forward.
const openingAccount = "Equity:Opening-Balances"

// rootAccounts are the top-level accounts of all three programs.
var rootAccounts = map[ledger.Class]string{
	ledger.Asset: "Assets", ledger.Liability: "Liabilities", ledger.Income: "Income", ledger.Expense: "Expenses", ledger.Equity: "Equity", ledger.Trading: "Equity",
}

// redundantPrefixes are path prefixes that repeat the top-level account.
var redundantPrefixes = map[ledger.Class]string{
	ledger.Asset: "asset/", ledger.Liability: "liability/", ledger.Equity: "equity/", ledger.Income: "income/", ledger.Expense: "expense/",
}

var hyphenReplacer = strings.NewReplacer(":", "-", "_", "-")

// AccountName returns the name of a ledger account in a journal, the same for all three programs:
// the top-level account of its class and the parts of its path, capitalized.
//
//	income/fees                       → Income:Fees
//	rails/SEPA_INSTANT                → Assets:Rails:SEPA-INSTANT
//	customers/InternalAccount:0199…   → Liabilities:Customers:InternalAccount-0199…
//
// Beancount is the strictest: it allows letters, digits and hyphens, with a capital letter or a
// digit first. Paths have no hyphen where another path could have a colon or an underscore, so
// names are unique. Error: ledger.ErrNotInChart.
func AccountName(path string) (string, error) {
	line, err := ledger.FindChartLine(path)
	if err != nil {
		return "", err
	}
	var name strings.Builder
	name.WriteString(rootAccounts[line.Class])
	if top := redundantPrefixes[line.Class]; top != "" {
		path = strings.TrimPrefix(path, top)
	}
	for part := range strings.SplitSeq(path, "/") {
		part = hyphenReplacer.Replace(part)
		switch {
		case part[0] >= 'a' && part[0] <= 'z':
			part = strings.ToUpper(part[:1]) + part[1:]
		case part[0] == '-': // a rail that begins with an underscore; their names have no small letters
			part = "Xu" + part
		}
		name.WriteString(":" + part)
	}
	return name.String(), nil
}
