package ledger

import (
	"errors"
	"fmt"
	"strings"

	"causeway/core/ident"
)

// ChartLine is one line of the chart: what the accounts at a path are.
type ChartLine struct {
	// Path is the path itself, or one with a last part in angle brackets that
	// stands for many.
	Path        string
	Class       Class
	NoOverdraft bool // may never go below zero
	Description string
}

// The chart of accounts. Every account exists per platform and currency.
var chart = []ChartLine{
	{"customers/<InternalAccount>", Liability, true, "a customer's balance"},
	{"platform/<InternalAccount>", Liability, true, "the platform's own balance"},
	{"wallets/<InternalAccount>", Liability, true, "what an embedded wallet holds"},
	{FundingJIT, Liability, false, "received for a just-in-time quote, not yet converted"},
	{FundingUnmatched, Liability, false, "received, owner unknown"},
	{TransitPayouts, Liability, false, "on its way out"},
	{TransitRefunds, Liability, false, "owed back to a payer"},
	{"rails/<RAIL>", Asset, false, "at the partner of that rail"},
	{"chains/<network>", Asset, false, "on a chain"},
	{FXPosition, Trading, false, "the service's position in the currency"},
	{IncomeFees, Income, false, "fees earned"},
	{IncomeRounding, Income, false, "rounding remainders earned"},
	{ExpenseRails, Expense, false, "paid to partners"},
}

// The paths that stand alone.
const (
	FundingJIT       = "funding/jit"
	FundingUnmatched = "funding/unmatched"
	TransitPayouts   = "transit/payouts"
	TransitRefunds   = "transit/refunds"
	FXPosition       = "fx/position"
	IncomeFees       = "income/fees"
	IncomeRounding   = "income/rounding"
	ExpenseRails     = "expense/rails"
)

// CustomerAccount is the path of a customer's balance.
func CustomerAccount(id ident.InternalAccount) string { return "customers/" + id.String() }

// PlatformAccount is the path of a platform's own balance.
func PlatformAccount(id ident.InternalAccount) string { return "platform/" + id.String() }

// Wallet is the path of what an embedded wallet holds.
func Wallet(id ident.InternalAccount) string { return "wallets/" + id.String() }

// Rail is the path of what lies at the partner of a rail, named as in "RTP".
func Rail(name string) string { return "rails/" + name }

// Chain is the path of what lies on a chain, named as in "LAYER2".
func Chain(network string) string { return "chains/" + network }

// ErrNotInChart says that no account may have this path.
var ErrNotInChart = errors.New("not in the chart of accounts")

// Chart lists the lines of the chart.
func Chart() []ChartLine { return append([]ChartLine(nil), chart...) }

// FindChartLine gives the line of the chart that path falls under, or ErrNotInChart.
func FindChartLine(path string) (ChartLine, error) {
	if line, ok := exactLines[path]; ok {
		return line, nil
	}
	if group, name, ok := strings.Cut(path, "/"); ok {
		if many, ok := prefixLines[group]; ok && many.accepts(name) {
			return many.line, nil
		}
	}
	return ChartLine{}, fmt.Errorf("%w: %.80q", ErrNotInChart, path)
}

type prefixLine struct {
	line    ChartLine
	accepts func(name string) bool
}

// The chart by path, and by first part for paths that stand for many.
var exactLines, prefixLines = func() (map[string]ChartLine, map[string]prefixLine) {
	alone, groups := map[string]ChartLine{}, map[string]prefixLine{}
	for _, line := range chart {
		first, rest, _ := strings.Cut(line.Path, "/")
		switch rest {
		case "<InternalAccount>":
			groups[first] = prefixLine{line, isInternalAccount}
		case "<RAIL>", "<network>":
			groups[first] = prefixLine{line, isPartnerName}
		default:
			alone[line.Path] = line
		}
	}
	return alone, groups
}()

// One account has one path: only the canonical writing of an id is taken.
func isInternalAccount(name string) bool {
	id, err := ident.ParseInternalAccount(name)
	return err == nil && id.String() == name
}

// Names of rails and networks are short and plain, since they go into exports.
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
