package agent

import (
	"fmt"
	"slices"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
)

// PolicyChange is a partial update of a policy, or a new one. Nil does not change a field; a pointer to nil
// removes a limit.
type PolicyChange struct {
	Permissions *[]string // replaced whole
	DefaultMode *string
	Limits      *LimitsChange
	// AllowedAccounts points to nil for all accounts of the customer, and is replaced whole.
	AllowedAccounts *[]ident.InternalAccount
	AccountRules    *[]AccountRuleRequest // replaced whole
	Threshold       *ThresholdChange
}

// LimitsChange is a partial update of SpendingLimits. Another currency leaves the numbers as they are: they
// are then amounts of the new currency.
type LimitsChange struct {
	Currency          *string
	PerTransaction    *int64
	Daily             **int64
	DailyTransactions **int64
	Monthly           **int64
}

// AccountRuleRequest is a requested AccountRule. Mode is empty, and PerTransaction nil, for what holds for
// other accounts.
type AccountRuleRequest struct {
	Account        ident.InternalAccount
	Mode           string
	PerTransaction *int64
}

// ThresholdChange is a partial update of ApprovalThreshold.
type ThresholdChange struct {
	Currency *string
	Amount   **int64
}

const (
	// MaxPolicyAccounts is the largest number of allowed accounts, and of rules, of a policy.
	MaxPolicyAccounts = 100
	// MaxDailyTransactions is the largest limit of the number of transactions of a day.
	MaxDailyTransactions = 1_000_000
)

// create returns a new policy, and adds each missing and invalid field, whose path begins with path, to bad.
func (ch PolicyChange) create(path string, accounts []account.Internal, bad *party.Problems) Policy {
	required := func(present bool, field string) {
		if !present {
			bad.Add(path+field, "is required")
		}
	}
	required(ch.Permissions != nil, "permissions")
	required(ch.DefaultMode != nil, "defaultExecutionMode")
	required(ch.Limits != nil, "spendingLimits")
	if ch.Limits != nil {
		required(ch.Limits.Currency != nil, "spendingLimits.currency")
		required(ch.Limits.PerTransaction != nil, "spendingLimits.perTransactionLimit")
	}
	return ch.apply(path, Policy{}, accounts, bad)
}

// apply returns a policy after the change, and adds each invalid field, whose path begins with path, to bad.
func (ch PolicyChange) apply(path string, p Policy, accounts []account.Internal, bad *party.Problems) Policy {
	if ch.Permissions != nil {
		p.Permissions = checkPermissions(path+"permissions", *ch.Permissions, bad)
	}
	if ch.DefaultMode != nil {
		bad.OneOf(path+"defaultExecutionMode", *ch.DefaultMode, party.Required, names(ExecutionModes))
		p.DefaultMode = ExecutionMode(*ch.DefaultMode)
	}
	if ch.Limits != nil {
		p.Limits = ch.Limits.apply(path+"spendingLimits.", p.Limits, bad)
	}
	if ch.AllowedAccounts != nil {
		p.AllowedAccounts = checkAllowed(path+"accountRestrictions.allowedAccountIds", *ch.AllowedAccounts, accounts, bad)
	}
	if ch.AccountRules != nil {
		p.AccountRules = checkRules(path+"accountRestrictions.accountRules", *ch.AccountRules, accounts, bad)
	}
	if ch.Threshold != nil {
		p.Threshold = ch.Threshold.apply(path+"approvalThresholds.", p.Threshold, bad)
	}
	return p
}

func checkPermissions(path string, requested []string, bad *party.Problems) []Permission {
	if len(requested) == 0 {
		bad.AddRule(path, "must list at least one permission", "minItems", 1)
		return nil
	}
	var permissions []Permission
	for i, name := range requested {
		if i == len(Permissions) {
			bad.AddRule(path, fmt.Sprintf("must list at most %d permissions, each once", i), "maxItems", i)
			break
		}
		item := fmt.Sprintf("%s[%d]", path, i)
		if bad.OneOf(item, name, party.Required, names(Permissions)); slices.Contains(permissions, Permission(name)) {
			bad.Add(item, "must not repeat an earlier permission")
		}
		permissions = append(permissions, Permission(name))
	}
	return permissions
}

func (ch LimitsChange) apply(path string, l SpendingLimits, bad *party.Problems) SpendingLimits {
	if ch.Currency != nil {
		l.Currency = checkCurrency(path+"currency", *ch.Currency, bad)
	}
	if ch.PerTransaction != nil {
		l.PerTransaction = checkLimit(path+"perTransactionLimit", ch.PerTransaction, money.MaxMinor, bad)
	}
	if ch.Daily != nil {
		l.Daily = checkLimit(path+"dailyLimit", *ch.Daily, money.MaxMinor, bad)
	}
	if ch.DailyTransactions != nil {
		l.DailyTransactions = checkLimit(path+"dailyTransactionLimit", *ch.DailyTransactions, MaxDailyTransactions, bad)
	}
	if ch.Monthly != nil {
		l.Monthly = checkLimit(path+"monthlyLimit", *ch.Monthly, money.MaxMinor, bad)
	}
	return l
}

func (ch ThresholdChange) apply(path string, t ApprovalThreshold, bad *party.Problems) ApprovalThreshold {
	if ch.Currency != nil {
		t.Currency = checkCurrency(path+"currency", *ch.Currency, bad)
	}
	if ch.Amount != nil {
		t.Amount = *ch.Amount
	}
	if t.Amount == nil {
		return t
	}
	if *t.Amount < 0 || *t.Amount > money.MaxMinor {
		bad.Add(path+"amount", fmt.Sprintf("must be from 0 to %d, in the smallest unit of the currency, or null for none", money.MaxMinor))
	}
	if t.Currency == "" && ch.Currency == nil {
		bad.Add(path+"currency", "is required with amount")
	}
	return t
}

func checkCurrency(path, code string, bad *party.Problems) money.Currency {
	currency, err := money.ParsePayable(code)
	if err != nil {
		bad.Add(path, "must be the code of a supported currency, such as USD")
	}
	return currency
}

// checkLimit returns a limit; zero for nil, which is none.
func checkLimit(path string, limit *int64, highest int64, bad *party.Problems) int64 {
	if limit == nil {
		return 0
	}
	if *limit < 1 || *limit > highest {
		bad.Add(path, fmt.Sprintf("must be from 1 to %d", highest))
	}
	return *limit
}

func checkAllowed(path string, allowed []ident.InternalAccount, accounts []account.Internal, bad *party.Problems) []ident.InternalAccount {
	if !checkLength(path, len(allowed), bad) {
		return nil
	}
	for i, id := range allowed {
		item := fmt.Sprintf("%s[%d]", path, i)
		if checkOwned(item, id, accounts, bad); slices.Contains(allowed[:i], id) {
			bad.Add(item, "must not repeat an earlier account")
		}
	}
	return slices.Clone(allowed)
}

func checkRules(path string, requested []AccountRuleRequest, accounts []account.Internal, bad *party.Problems) []AccountRule {
	if !checkLength(path, len(requested), bad) {
		return nil
	}
	var rules []AccountRule
	for i, r := range requested {
		item := fmt.Sprintf("%s[%d].", path, i)
		checkOwned(item+"accountId", r.Account, accounts, bad)
		if slices.ContainsFunc(rules, func(earlier AccountRule) bool { return earlier.Account == r.Account }) {
			bad.Add(item+"accountId", "must not be that of an earlier rule")
		}
		bad.OneOf(item+"executionMode", r.Mode, party.Optional, names(ExecutionModes))
		rules = append(rules, AccountRule{Account: r.Account, Mode: ExecutionMode(r.Mode),
			PerTransaction: checkLimit(item+"perTransactionLimit", r.PerTransaction, money.MaxMinor, bad)})
	}
	return rules
}

func checkLength(path string, n int, bad *party.Problems) bool {
	if n > MaxPolicyAccounts {
		bad.AddRule(path, fmt.Sprintf("must have at most %d accounts", MaxPolicyAccounts), "maxItems", MaxPolicyAccounts)
	}
	return n <= MaxPolicyAccounts
}

func checkOwned(path string, id ident.InternalAccount, accounts []account.Internal, bad *party.Problems) {
	if !slices.ContainsFunc(accounts, func(a account.Internal) bool { return a.ID == id }) {
		bad.Add(path, "must be an internal account of the agent's customer")
	}
}

func names[T ~string](values []T) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return texts
}
