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
	{"wallets/<InternalAccount>", Liability, true, "the balance of an embedded wallet"},
	{FundingJIT, Liability, false, "received for a just-in-time quote, not yet converted"},
	{FundingUnmatched, Liability, false, "received, owner unknown"},
	{TransitPayouts, Liability, false, "payouts in transit"},
	{TransitRefunds, Liability, false, "refunds owed to payers"},
	{TransitInternal, Liability, false, "payments between customers; zero after every commit"},
	{"rails/<RAIL>", Asset, false, "funds at the partner of that rail"},
	{"chains/<network>", Asset, false, "funds on a chain, with those of embedded wallets"},
	{FXPosition, Trading, false, "the service's position in the currency"},
	{IncomeFees, Income, false, "fees earned"},
	{IncomeRounding, Income, false, "rounding remainders earned"},
	{ExpenseRails, Expense, false, "paid to partners"},
}

// The paths of single accounts.
const (
	FundingJIT       = "funding/jit"
	FundingUnmatched = "funding/unmatched"
	TransitPayouts   = "transit/payouts"
	TransitRefunds   = "transit/refunds"
	TransitInternal  = "transit/internal"
	FXPosition       = "fx/position"
	IncomeFees       = "income/fees"
	IncomeRounding   = "income/rounding"
	ExpenseRails     = "expense/rails"
)

// CustomerAccount returns the path of a customer's balance.
func CustomerAccount(id ident.InternalAccount) string { return "customers/" + id.String() }

// PlatformAccount returns the path of a platform's own balance.
func PlatformAccount(id ident.InternalAccount) string { return "platform/" + id.String() }

// Wallet returns the path of the balance of an embedded wallet.
func Wallet(id ident.InternalAccount) string { return "wallets/" + id.String() }

// IsWallet reports whether a path is that of the balance of an embedded wallet.
func IsWallet(path string) bool { return strings.HasPrefix(path, "wallets/") }

// Rail returns the path of our funds at the partner of a rail, such as "RTP".
func Rail(name string) string { return "rails/" + name }

// Chain returns the path of our funds on a chain, such as "LAYER2".
func Chain(network string) string { return "chains/" + network }

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
		case "<RAIL>", "<network>":
			prefixes[first] = prefixLine{line, isPartnerName}
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
