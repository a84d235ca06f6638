package plaintext

import (
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"causeway/ledger"
	"causeway/ports"
)

// openingAccount is the account against which balances are brought forward.
const openingAccount = "Equity:Opening-Balances"

// rootAccounts are the top-level accounts of all three programs.
var rootAccounts = map[ledger.Class]string{
	ledger.Asset: "Assets", ledger.Liability: "Liabilities", ledger.Income: "Income", ledger.Expense: "Expenses", ledger.Equity: "Equity",
	ledger.Trading: "Equity",
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
func AccountName(path string) (string, error) { return NamedAccount(path, ports.AccountHolder{}) }

// NamedAccount is AccountName for the account of a customer, who becomes a level of its own above the
// account, so that a customer's accounts add up to one line:
//
//	customers/InternalAccount:0199…   → Liabilities:Customers:Ada-Lovelace-6a0c4e12:InternalAccount-0199…
//
// The level is the name and the last digits of the customer's id. The zero holder adds none.
func NamedAccount(path string, holder ports.AccountHolder) (string, error) {
	line, err := ledger.FindChartLine(path)
	if err != nil {
		return "", err
	}
	var name strings.Builder
	name.WriteString(rootAccounts[line.Class])
	if top := redundantPrefixes[line.Class]; top != "" {
		path = strings.TrimPrefix(path, top)
	}
	for i, part := range strings.Split(path, "/") {
		if i == 1 && !holder.Customer.IsZero() {
			name.WriteString(":" + holderPart(holder))
		}
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

// maxHolderName is the maximum number of characters of a name in an account name.
const maxHolderName = 60

// holderPart returns the part of an account name for a customer: the letters and digits of the name, with
// hyphens between them, and eight digits of the id.
func holderPart(holder ports.AccountHolder) string {
	words := strings.FieldsFunc(norm.NFC.String(holder.Name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.Is(unicode.Nd, r) })
	name := []rune(strings.Join(words, "-"))
	if len(name) > maxHolderName {
		name = []rune(strings.TrimRight(string(name[:maxHolderName]), "-"))
	}
	switch {
	case len(name) == 0: // erased, or without a letter
		name = []rune("Customer")
	case unicode.IsLower(name[0]) && unicode.IsUpper(unicode.ToUpper(name[0])):
		name[0] = unicode.ToUpper(name[0])
	case !unicode.IsUpper(name[0]) && !unicode.Is(unicode.Nd, name[0]): // a script without capitals
		name = append([]rune("Customer-"), name...)
	}
	id := holder.Customer.UUID()
	return string(name) + "-" + hex.EncodeToString(id[12:])
}
