package ledger

import (
	"errors"
	"fmt"
	"strings"

	"causeway/core/ident"
)

// ChartLine is one line of the chart of accounts.
type ChartLine struct {
	// Path is one path, or a group of paths: its last part is then a placeholder in
	// angle brackets.
	Path        string
	Class       Class
	NoOverdraft bool // may never go below zero
	Description string
}

// The chart of accounts. Every account exists per platform and currency.
var chart = []ChartLine{
	{"customers/<InternalAccount>", Liability, true, "a customer's balance"},
	{"platform/<InternalAccount>", Liability, true, "the platform's own balance"},
	{PlatformFeesPending, Liability, false, "the platform's own fees of payments that are not delivered yet"},
	{PlatformFees, Liability, false, "the platform's own fees that it has earned and not been paid yet"},
	{"wallets/<InternalAccount>", Liability, true, "the balance of an embedded wallet"},
	{FundingJIT, Liability, false, "received for a just-in-time quote, not yet converted"},
	{FundingUnmatched, Liability, false, "received, owner unknown"},
	{TransitPayouts, Liability, false, "payouts in transit"},
	{TransitRefunds, Liability, false, "refunds owed to payers"},
	{TransitInternal, Liability, false, "payments between customers; zero after every commit"},
	{"rails/<RAIL>", Asset, false, "funds at the partner of that rail"},
	{"chains/<network>", Asset, false, "funds on a chain, with those of embedded wallets"},
	{"own/<NAME>", Asset, false, "the company's own money at a bank or partner"},
	{TransitClientMoney, Asset, false, "on its way between two accounts with customers' money"},
	{TransitTreasury, Asset, false, "on its way between other accounts at partners"},
	{FXPosition, Trading, false, "the service's position in the currency"},
	{FXValuation, Trading, false, "exchange result of the position, in the functional currency"},
	{IncomeFees, Income, false, "fees earned"},
	{IncomeRounding, Income, false, "rounding remainders earned"},
	{IncomeExchangeGains, Income, false, "realised exchange gains"},
	{IncomeUnrealisedExchangeGains, Income, false, "unrealised exchange gains of a revaluation"},
	{ExpenseRails, Expense, false, "paid to partners"},
	{ExpenseExchangeLosses, Expense, false, "realised exchange losses"},
	{ExpenseUnrealisedExchangeLosses, Expense, false, "unrealised exchange losses of a revaluation"},
	{ExpenseChargebacks, Expense, false, "payments that payers took back"},
	{ExpenseWriteOffs, Expense, false, "receivables given up"},
	{ExpenseTaxes, Expense, false, "taxes paid or owed"},
	{"customer-receivables/<InternalAccount>", Asset, false, "owed by the owner of an account, whose collected money was returned"},
	{AllowanceReceivables, Asset, false, "expected losses of customer-receivables; below zero"},
	{"partner-receivables/<RAIL>", Asset, false, "owed by the partner of that rail"},
	{"partner-payables/<RAIL>", Liability, false, "owed to the partner of that rail"},
	{AssetTaxes, Asset, false, "taxes to be refunded"},
	{LiabilityTaxes, Liability, false, "taxes to be paid"},
	{LiabilityDeferredFees, Liability, false, "fees of payments that are not delivered yet"},
	{EquityCapital, Equity, false, "paid in by the owners"},
	{EquityRetainedEarnings, Equity, false, "results of closed years"},
	{EquityBroughtForward, Equity, false, "counterpart of balances from earlier books"},
	{"asset/<name>", Asset, false, "an asset that finance has added"},
	{"liability/<name>", Liability, false, "a liability that finance has added"},
	{"equity/<name>", Equity, false, "equity that finance has added"},
	{"income/<name>", Income, false, "income that finance has added"},
	{"expense/<name>", Expense, false, "an expense that finance has added"},
}

// The paths of single accounts.
const (
	FundingJIT       = "funding/jit"
	FundingUnmatched = "funding/unmatched"
	TransitPayouts   = "transit/payouts"
	TransitRefunds   = "transit/refunds"
	TransitInternal  = "transit/internal"
	// TransitClientMoney and TransitTreasury hold what was sent from one account at a partner and has not
	// arrived at the other.
	TransitClientMoney = "transit/client-money"
	TransitTreasury    = "transit/treasury"

	PlatformFeesPending = "platform/fees-pending"
	PlatformFees        = "platform/fees"

	FXPosition     = "fx/position"
	FXValuation    = "fx/valuation"
	IncomeFees     = "income/fees"
	IncomeRounding = "income/rounding"
	ExpenseRails   = "expense/rails"

	IncomeExchangeGains             = "income/exchange-gains"
	IncomeUnrealisedExchangeGains   = "income/unrealised-exchange-gains"
	ExpenseExchangeLosses           = "expense/exchange-losses"
	ExpenseUnrealisedExchangeLosses = "expense/unrealised-exchange-losses"

	ExpenseChargebacks = "expense/chargebacks"
	ExpenseWriteOffs   = "expense/write-offs"
	ExpenseTaxes       = "expense/taxes"
	AssetTaxes         = "asset/taxes"
	LiabilityTaxes     = "liability/taxes"

	LiabilityDeferredFees = "liability/deferred-fees"

	// AllowanceReceivables is what of customer-receivables is expected to be lost.
	AllowanceReceivables = "allowance/receivables"

	EquityCapital          = "equity/capital"
	EquityRetainedEarnings = "equity/retained-earnings"
	EquityBroughtForward   = "equity/brought-forward"
)

// CustomerAccount returns the path of a customer's balance.
func CustomerAccount(id ident.InternalAccount) string { return "customers/" + id.String() }

// PlatformAccount returns the path of a platform's own balance.
func PlatformAccount(id ident.InternalAccount) string { return "platform/" + id.String() }

// Wallet returns the path of the balance of an embedded wallet.
func Wallet(id ident.InternalAccount) string { return "wallets/" + id.String() }

// IsFee reports whether a path is that of fees that are charged to the account of a payer.
func IsFee(path string) bool {
	return path == IncomeFees || path == PlatformFees || path == PlatformFeesPending
}

// IsWallet reports whether a path is that of the balance of an embedded wallet.
func IsWallet(path string) bool { return strings.HasPrefix(path, "wallets/") }

// Rail returns the path of our funds at the partner of a rail, such as "RTP".
func Rail(name string) string { return "rails/" + name }

// Chain returns the path of our funds on a chain, such as "LAYER2".
func Chain(network string) string { return "chains/" + network }

// Own returns the path of the company's own money at a bank or partner, such as "OPERATING".
func Own(name string) string { return "own/" + name }

// CustomerReceivable returns the path of what the owner of an internal account owes for collections that were
// returned.
func CustomerReceivable(id ident.InternalAccount) string { return CustomerReceivables + id.String() }

// CustomerReceivables is the group of the accounts of CustomerReceivable.
const CustomerReceivables = "customer-receivables/"

// IsCustomerReceivable reports whether a path is one of CustomerReceivable. Only the changes of receivables post
// to it.
func IsCustomerReceivable(path string) bool { return strings.HasPrefix(path, CustomerReceivables) }

// PartnerReceivable returns the path of what the partner of a rail owes.
func PartnerReceivable(rail string) string { return "partner-receivables/" + rail }

// PartnerPayable returns the path of what is owed to the partner of a rail.
func PartnerPayable(rail string) string { return "partner-payables/" + rail }

// Partner returns the path of the balance at the partner of a rail, or on a chain.
func Partner(rail string, isChain bool) string {
	if isChain {
		return Chain(rail)
	}
	return Rail(rail)
}

// InternalAccount returns the path of the balance of an internal account: of an embedded wallet,
// of a customer, or of the platform if there is no owner.
func InternalAccount(id ident.InternalAccount, owner ident.Customer, isWallet bool) string {
	switch {
	case isWallet:
		return Wallet(id)
	case owner.IsZero():
		return PlatformAccount(id)
	default:
		return CustomerAccount(id)
	}
}

// ErrNotInChart is the error for a path that no account may have.
var ErrNotInChart = errors.New("not in the chart of accounts")

// Chart returns the lines of the chart.
func Chart() []ChartLine { return append([]ChartLine(nil), chart...) }

// FindChartLine returns the line of the chart that a path belongs to, or ErrNotInChart.
func FindChartLine(path string) (ChartLine, error) {
	if line, ok := exactLines[path]; ok {
		return line, nil
	}
	if group, name, ok := strings.Cut(path, "/"); ok {
		if prefix, ok := prefixLines[group]; ok && prefix.accepts(name) {
			return prefix.line, nil
		}
	}
	return ChartLine{}, fmt.Errorf("%w: %.80q", ErrNotInChart, path)
}

type prefixLine struct {
	line    ChartLine
	accepts func(name string) bool
}

// exactLines holds the chart by path, prefixLines by the first part of a group of paths.
var exactLines, prefixLines = func() (map[string]ChartLine, map[string]prefixLine) {
	exact, prefixes := map[string]ChartLine{}, map[string]prefixLine{}
	for _, line := range chart {
		first, rest, _ := strings.Cut(line.Path, "/")
		switch rest {
		case "<InternalAccount>":
			prefixes[first] = prefixLine{line, isInternalAccount}
		case "<RAIL>", "<network>", "<NAME>":
			prefixes[first] = prefixLine{line, isPartnerName}
		case "<name>":
			prefixes[first] = prefixLine{line, isAddedName}
		default:
			exact[line.Path] = line
		}
	}
	return exact, prefixes
}()

// One account has one path, so only the canonical form of an id is accepted.
func isInternalAccount(name string) bool {
	id, err := ident.ParseInternalAccount(name)
	return err == nil && id.String() == name
}

// Names of rails and networks are short and plain, because exports contain them.
func isPartnerName(name string) bool {
	if name == "" || len(name) > 40 {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// isAddedName reports whether a name may be that of an account that finance adds: small letters, digits and
// single hyphens, beginning with a letter. Journals bring balances forward from Equity:Opening-Balances, which
// is no account of the ledger.
func isAddedName(name string) bool {
	if name == "" || len(name) > 40 || name == "opening-balances" || name[0] < 'a' || name[len(name)-1] == '-' ||
		strings.Contains(name, "--") {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// IsAdded reports whether a path is that of an account that finance adds, which exists once it was added. All
// other accounts of the chart exist on every platform.
func IsAdded(path string) bool {
	_, builtIn := exactLines[path]
	line, err := FindChartLine(path)
	return err == nil && !builtIn && strings.HasSuffix(line.Path, "/<name>")
}
