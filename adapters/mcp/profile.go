package mcp

import (
	"fmt"
	"slices"
	"strings"

	"causeway/core/agent"
)

// The permissions of agents.
const (
	viewTransactions = string(agent.ViewTransactions)
	createTransfers  = string(agent.CreateTransfers)
	createQuotes     = string(agent.CreateQuotes)
	executeQuotes    = string(agent.ExecuteQuotes)
	manageAccounts   = string(agent.ManageExternalAccounts)
)

// permissionWords are the permissions in words, in the order in which they are listed.
var permissionWords = []struct{ permission, words string }{
	{viewTransactions, "see transactions, accounts and balances"},
	{createQuotes, "create quotes"},
	{executeQuotes, "execute quotes"},
	{createTransfers, "make transfers"},
	{manageAccounts, "add and delete external accounts"},
}

// profile is what the service says of an agent: what it may do, and what it has spent.
type profile struct {
	ID       string `json:"id"`
	IsPaused bool   `json:"isPaused"`
	Policy   struct {
		Permissions          []string `json:"permissions"`
		DefaultExecutionMode string   `json:"defaultExecutionMode"`
		SpendingLimits       struct {
			Currency              string `json:"currency"`
			PerTransactionLimit   int64  `json:"perTransactionLimit"`
			DailyLimit            *int64 `json:"dailyLimit"`
			DailyTransactionLimit *int64 `json:"dailyTransactionLimit"`
			MonthlyLimit          *int64 `json:"monthlyLimit"`
		} `json:"spendingLimits"`
		AccountRestrictions struct {
			AllowedAccountIDs *[]string `json:"allowedAccountIds"`
			AccountRules      []struct {
				AccountID           string `json:"accountId"`
				ExecutionMode       string `json:"executionMode"`
				PerTransactionLimit *int64 `json:"perTransactionLimit"`
			} `json:"accountRules"`
		} `json:"accountRestrictions"`
		ApprovalThresholds struct {
			Currency string `json:"currency"`
			Amount   *int64 `json:"amount"`
		} `json:"approvalThresholds"`
	} `json:"policy"`
	Usage usage `json:"usage"`
}

// usage is what an agent has spent, in the currency of its limits.
type usage struct {
	DailyTransactionCount int64 `json:"dailyTransactionCount"`
	DailySpend            int64 `json:"dailySpend"`
	MonthlySpend          int64 `json:"monthlySpend"`
}

// may reports whether the agent has one of these permissions.
func (p *profile) may(permissions ...string) bool {
	return slices.ContainsFunc(permissions, func(permission string) bool { return slices.Contains(p.Policy.Permissions, permission) })
}

// words describes the policy and what is left of its limits.
func (p *profile) words() string {
	var text strings.Builder
	if p.IsPaused {
		text.WriteString("The agent is PAUSED: it can read, but it cannot start anything until the platform resumes it. ")
	}
	var may []string
	for _, permission := range permissionWords {
		if p.may(permission.permission) {
			may = append(may, permission.words)
		}
	}
	fmt.Fprintf(&text, "You may %s. ", strings.Join(may, ", "))
	if !p.may(executeQuotes, createTransfers) {
		text.WriteString("You may not make payments.")
		return text.String()
	}
	text.WriteString(p.limitWords())
	text.WriteString(p.approvalWords())
	text.WriteString(p.accountWords())
	return text.String()
}

// limitWords says how much may be spent, and what is left.
func (p *profile) limitWords() string {
	limits := p.Policy.SpendingLimits
	amount := func(minor int64) string { return inWords(minor, limits.Currency) }
	up := []string{amount(limits.PerTransactionLimit) + " a payment"}
	var left []string
	if limits.DailyLimit != nil {
		up = append(up, amount(*limits.DailyLimit)+" a day")
		left = append(left, amount(max(0, *limits.DailyLimit-p.Usage.DailySpend))+" left today")
	}
	if limits.DailyTransactionLimit != nil {
		up = append(up, paymentsInWords(*limits.DailyTransactionLimit)+" a day")
		left = append(left, paymentsInWords(max(0, *limits.DailyTransactionLimit-p.Usage.DailyTransactionCount))+" left today")
	}
	if limits.MonthlyLimit != nil {
		up = append(up, amount(*limits.MonthlyLimit)+" a month")
		left = append(left, amount(max(0, *limits.MonthlyLimit-p.Usage.MonthlySpend))+" left this month")
	}
	return "You may spend up to " + strings.Join(append(up, left...), ", ") + "; days and months are of UTC, and payments in other " +
		"currencies count at the market rate. "
}

func paymentsInWords(n int64) string {
	if n == 1 {
		return "1 payment"
	}
	return fmt.Sprintf("%d payments", n)
}

// approvalWords says which payments a person has to approve.
func (p *profile) approvalWords() string {
	above := ""
	if threshold := p.Policy.ApprovalThresholds; threshold.Amount != nil {
		above = "Above " + inWords(*threshold.Amount, threshold.Currency) + " a person approves. "
	}
	switch {
	case p.Policy.DefaultExecutionMode != "AUTO" && p.hasAutomaticAccount():
		return "A person approves every payment, except where the rule of an account says otherwise. " + above
	case p.Policy.DefaultExecutionMode != "AUTO":
		return "A person approves every payment. "
	case above != "":
		return above
	}
	return "Payments within the limits need no approval. "
}

// hasAutomaticAccount reports whether payments from an account need no approval of their own.
func (p *profile) hasAutomaticAccount() bool {
	for _, rule := range p.Policy.AccountRestrictions.AccountRules {
		if rule.ExecutionMode == "AUTO" {
			return true
		}
	}
	return false
}

// accountWords says what differs between accounts.
func (p *profile) accountWords() string {
	var text strings.Builder
	restrictions := p.Policy.AccountRestrictions
	if allowed := restrictions.AllowedAccountIDs; allowed != nil {
		if len(*allowed) == 0 {
			text.WriteString("No account may be used to pay. ")
		} else {
			fmt.Fprintf(&text, "Only %d of the customer's accounts may be used. ", len(*allowed))
		}
	}
	for i, rule := range restrictions.AccountRules {
		if i == maxRulesInWords {
			text.WriteString("Further accounts have rules of their own, in accountRules. ")
			break
		}
		var parts []string
		if rule.PerTransactionLimit != nil {
			parts = append(parts, "up to "+inWords(*rule.PerTransactionLimit, p.Policy.SpendingLimits.Currency)+" a payment")
		}
		switch rule.ExecutionMode {
		case "AUTO":
			parts = append(parts, "without approval unless above the threshold")
		case "APPROVAL_REQUIRED":
			parts = append(parts, "a person approves every payment")
		}
		fmt.Fprintf(&text, "From %s: %s. ", safeID(rule.AccountID), strings.Join(parts, ", "))
	}
	return text.String()
}

const maxRulesInWords = 5
