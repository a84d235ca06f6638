package financials

import "strings"

// Section is a part of a statement.
type Section string

// The sections, in the order of the statements.
const (
	Assets      Section = "ASSETS"
	Liabilities Section = "LIABILITIES"
	Equity      Section = "EQUITY"
	Income      Section = "INCOME"
	Expense     Section = "EXPENSE"
	Operating   Section = "OPERATING"
	Investing   Section = "INVESTING"
	Financing   Section = "FINANCING"
	TakenOver   Section = "TAKEN_OVER"
)

// Line is a line of a statement.
type Line struct {
	// Code names the line; it never changes.
	Code, Name string
	Section    Section
	// Paths are its accounts; one that ends in a slash stands for a group.
	Paths []string
}

// The lines with a meaning of their own.
const (
	lineUnclosed   = "result-not-closed"
	lineDifference = "exchange-difference"
)

// accountLines are the lines of the balance sheet and of the income statement. The longest path counts, so that what finance
// adds below asset/, liability/, equity/, income/ and expense/ has a line too.
var accountLines = []Line{
	{"cash-at-partners", "Cash at partners and on chains, with customers' money", Assets, []string{"rails/", "chains/"}},
	{"own-cash", "Own cash", Assets, []string{"own/"}},
	{"cash-on-its-way", "Cash on its way between accounts", Assets, []string{"transit/client-money", "transit/treasury"}},
	{"customer-receivables", "Receivables from customers", Assets, []string{"customer-receivables/"}},
	{"receivables-allowance", "Allowance for receivables", Assets, []string{"allowance/"}},
	{"partner-receivables", "Receivables from partners", Assets, []string{"partner-receivables/"}},
	{"tax-receivables", "Taxes to be refunded", Assets, []string{"asset/taxes"}},
	{"other-assets", "Other assets", Assets, []string{"asset/"}},

	{"customers", "Owed to customers", Liabilities, []string{"customers/", "wallets/"}},
	{"funding", "Received and not converted or not matched yet", Liabilities, []string{"funding/"}},
	{"transit", "Payouts and refunds on their way", Liabilities, []string{"transit/"}},
	{"partner-payables", "Owed to partners", Liabilities, []string{"partner-payables/"}},
	{"tax-payables", "Taxes to be paid", Liabilities, []string{"liability/taxes"}},
	{"deferred-fees", "Deferred fees", Liabilities, []string{"liability/deferred-fees"}},
	{"other-liabilities", "Other liabilities", Liabilities, []string{"liability/"}},

	{"capital", "Capital", Equity, []string{"equity/capital"}},
	{"brought-forward", "Balances of earlier books", Equity, []string{"equity/brought-forward"}},
	{"retained-earnings", "Retained earnings", Equity, []string{"equity/retained-earnings"}},
	{"own-balances", "Own balances of the platform", Equity, []string{"platform/"}},
	{"other-equity", "Other equity", Equity, []string{"equity/"}},
	{lineDifference, "Exchange result not posted yet", Equity, []string{"fx/"}},

	{"fees", "Fees", Income, []string{"income/fees"}},
	{"rounding", "Rounding", Income, []string{"income/rounding"}},
	{"exchange-gains", "Exchange gains", Income, []string{"income/exchange-gains"}},
	{"unrealised-gains", "Unrealised exchange gains", Income, []string{"income/unrealised-exchange-gains"}},
	{"other-income", "Other income", Income, []string{"income/"}},
	{"partner-costs", "Costs of partners", Expense, []string{"expense/rails"}},
	{"exchange-losses", "Exchange losses", Expense, []string{"expense/exchange-losses"}},
	{"unrealised-losses", "Unrealised exchange losses", Expense, []string{"expense/unrealised-exchange-losses"}},
	{"chargebacks", "Payments taken back", Expense, []string{"expense/chargebacks"}},
	{"credit-losses", "Credit losses", Expense, []string{"expense/write-offs"}},
	{"taxes", "Taxes", Expense, []string{"expense/taxes"}},
	{"other-expense", "Other expense", Expense, []string{"expense/"}},
}

// unclosedLine has the income and expense that no closing of a year has moved to retained earnings.
var unclosedLine = Line{lineUnclosed, "Result not closed yet", Equity, []string{"income/", "expense/"}}

// cashPaths are the accounts that are cash.
var cashPaths = []string{"rails/", "chains/", "own/", "transit/client-money", "transit/treasury"}

// flowLines are the lines of the cash flow statement, by the account on the other side of the entry.
var flowLines = []Line{
	{"customers", "customers and payees", Operating, []string{"customers/", "wallets/", "funding/", "transit/", "customer-receivables/",
		"allowance/"}},
	{"exchange", "exchanges with liquidity providers", Operating, []string{"fx/"}},
	{"partners", "partners, for their services", Operating, []string{"expense/rails", "partner-receivables/", "partner-payables/"}},
	{"income", "other income", Operating, []string{"income/"}},
	{"expense", "other expense", Operating, []string{"expense/"}},
	{"tax", "taxes", Operating, []string{"asset/taxes", "liability/taxes", "expense/taxes"}},
	{"liabilities", "other liabilities", Operating, []string{"liability/"}},
	{"assets", "other assets", Investing, []string{"asset/"}},
	{"owners", "owners", Financing, []string{"equity/"}},
	{"own-balances", "own balances of the platform", Financing, []string{"platform/"}},
	{"earlier-books", "balances of earlier books", TakenOver, []string{"equity/brought-forward"}},
}

// CashPaths returns the accounts that are cash; a path that ends in a slash stands for a group.
func CashPaths() []string { return append([]string(nil), cashPaths...) }

// IsCash reports whether an account is cash.
func IsCash(path string) bool { return matches(cashPaths, path) > 0 }

// LineOf returns the line of the balance sheet or of the income statement that an account belongs to.
func LineOf(path string) (Line, bool) { return find(accountLines, path) }

// FlowOf returns the line of the cash flow statement for entries between cash and another account.
func FlowOf(path string) (Line, bool) {
	if IsCash(path) {
		return Line{}, false
	}
	return find(flowLines, path)
}

func find(lines []Line, path string) (found Line, ok bool) {
	longest := 0
	for _, line := range lines {
		if n := matches(line.Paths, path); n > longest {
			longest, found = n, line
		}
	}
	return found, longest > 0
}

// matches returns the length of the longest path that an account has or is below; zero for none.
func matches(paths []string, account string) (longest int) {
	for _, p := range paths {
		if len(p) > longest && (account == p || strings.HasSuffix(p, "/") && strings.HasPrefix(account, p)) {
			longest = len(p)
		}
	}
	return longest
}

// Group returns the account under which the statements show an account: that of all customers, wallets, and accounts of the platform
// together.
func Group(path string) string {
	for _, group := range []string{"customers/", "wallets/", "customer-receivables/", platformGroup} {
		if strings.HasPrefix(path, group) {
			return group
		}
	}
	return path
}

const platformGroup = "platform/"
