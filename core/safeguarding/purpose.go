package safeguarding

import (
	"strings"

	"causeway/core/fault"
	"causeway/ledger"
)

// Purpose says whose money an account at a partner holds.
type Purpose string

// The purposes.
const (
	Client Purpose = "CLIENT" // money of customers
	Own    Purpose = "OWN"    // money of the company
)

// Purposes holds the purposes that were set, by the path of the account. Those of all others follow from
// the chart.
type Purposes map[string]Purpose

// Of returns the purpose of an asset that is money: an account at a partner, or money on its way between two.
// It is false for every other account.
func (p Purposes) Of(path string) (Purpose, bool) {
	switch {
	case path == ledger.TransitClientMoney:
		return Client, true
	case path == ledger.TransitTreasury || strings.HasPrefix(path, "own/"):
		return Own, true
	case !canBeSet(path):
		return "", false
	case p[path] != "":
		return p[path], true
	default:
		return Client, true
	}
}

// canBeSet reports whether the purpose of an account is set by a person.
func canBeSet(path string) bool {
	return strings.HasPrefix(path, "rails/") || strings.HasPrefix(path, "chains/")
}

// CheckPurpose returns INVALID_INPUT for a purpose that an account cannot have.
func CheckPurpose(path string, purpose Purpose) error {
	var bad []fault.Field
	if _, err := ledger.FindChartLine(path); err != nil || !canBeSet(path) {
		bad = append(bad, fault.Field{Field: "account", Message: "must be rails/<RAIL> or chains/<network>; accounts below own/ always hold " +
			"the company's own money"})
	}
	if purpose != Client && purpose != Own {
		bad = append(bad, fault.Field{Field: "purpose", Message: "must be CLIENT or OWN"})
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

// isOwed reports whether an account holds what is owed to customers.
func isOwed(line ledger.ChartLine) bool {
	group, _, _ := strings.Cut(line.Path, "/")
	switch group {
	case "customers", "wallets", "funding", "transit":
		return line.Class == ledger.Liability
	}
	return false
}

// OwnFundsPrefixes are the prefixes of the paths that together hold every account which is neither owed to
// customers nor at a partner, and every account at a partner.
func OwnFundsPrefixes() []string {
	return []string{"allowance/", "asset/", "chains/", "customer-receivables/", "equity/", "expense/", "fx/", "income/", "liability/", "own/",
		"partner-payables/", "partner-receivables/", "platform/", "rails/", ledger.TransitClientMoney, ledger.TransitTreasury}
}
