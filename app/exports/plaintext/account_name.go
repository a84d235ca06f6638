package plaintext

import (
	"strings"

	"causeway/ledger"
)

// openingAccount is the account against which balances are brought forward.
const openingAccount = "Equity:Opening-Balances"

// rootAccounts are the top accounts that all three programs know by these names.
var rootAccounts = map[ledger.Class]string{
	ledger.Asset: "Assets", ledger.Liability: "Liabilities", ledger.Income: "Income", ledger.Expense: "Expenses", ledger.Trading: "Equity",
}

// redundantPrefixes are the first parts of paths that say no more than the root does.
var redundantPrefixes = map[ledger.Class]string{ledger.Income: "income/", ledger.Expense: "expense/"}

var hyphenReplacer = strings.NewReplacer(":", "-", "_", "-")

// AccountName is what an account of the books is called in a journal, the same in all three
// programs: the root of its class and the parts of its path, with capital initials.
//
//	income/fees                       → Income:Fees
//	rails/SEPA_INSTANT                → Assets:Rails:SEPA-INSTANT
//	customers/InternalAccount:0199…   → Liabilities:Customers:InternalAccount-0199…
//
// Beancount, the strictest, takes letters, digits and hyphens, and a capital or a
// digit in front. No part of a path has a hyphen where another could have a colon or a
// low line, so no two accounts get one name. Errors: ledger.ErrNotInChart.
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
		case part[0] == '-': // a partner's name that begins with a low line; names have no small letters
			part = "Xu" + part
		}
		name.WriteString(":" + part)
	}
	return name.String(), nil
}
