package ledger

import (
	"errors"
	"fmt"
	"strings"

	"causeway/core/ident"
)

// Line is one line of the chart: what the accounts at a path are.
type Line struct {
	// Path is the path itself, or one with a last part in angle brackets that
	// stands for many.
	Path    string
	Class   Class
	Guarded bool // may never go below zero
	Holds   string
}

// The chart of accounts. Every account exists per platform and currency.
var chart = []Line{
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
func Chart() []Line { return append([]Line(nil), chart...) }

// Find gives the line of the chart that path falls under, or ErrNotInChart.
func Find(path string) (Line, error) {
	if line, ok := alone[path]; ok {
		return line, nil
	}
	if group, name, ok := strings.Cut(path, "/"); ok {
		if many, ok := groups[group]; ok && many.accepts(name) {
			return many.line, nil
		}
	}
	return Line{}, fmt.Errorf("%w: %.80q", ErrNotInChart, path)
}

type group struct {
	line    Line
	accepts func(name string) bool
}

// The chart by path, and by first part for paths that stand for many.
var alone, groups = func() (map[string]Line, map[string]group) {
	alone, groups := map[string]Line{}, map[string]group{}
	for _, line := range chart {
		first, rest, _ := strings.Cut(line.Path, "/")
		switch rest {
		case "<InternalAccount>":
			groups[first] = group{line, internalAccount}
		case "<RAIL>", "<network>":
			groups[first] = group{line, partnerName}
		default:
			alone[line.Path] = line
		}
	}
	return alone, groups
}()

// One account has one path: only the canonical writing of an id is taken.
func internalAccount(name string) bool {
	id, err := ident.ParseInternalAccount(name)
	return err == nil && id.String() == name
}

// Names of rails and networks are short and plain, since they go into exports.
func partnerName(name string) bool {
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
