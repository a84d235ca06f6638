package agent

import (
	"strconv"
	"strings"

	"causeway/core/diff"
	"causeway/core/money"
)

// Changed returns the fields of which two versions of an agent differ, by their names in the API. The name has no values: it is free text
// about a customer, and the record outlives the data of the customer. The ids of accounts are in the ledger, which stays too.
func Changed(before, after Agent) []diff.Field {
	return diff.Hide(diff.Between(before.values(), after.values()), func(name string) bool { return name != "name" })
}

func (a Agent) values() diff.Values {
	p := a.Policy
	amount := func(minor int64, of money.Currency) string {
		if minor == 0 {
			return "" // no limit
		}
		return money.Amount{Minor: minor, Currency: of}.String()
	}
	count := ""
	if p.Limits.DailyTransactions != 0 {
		count = strconv.FormatInt(p.Limits.DailyTransactions, 10)
	}
	v := diff.Values{
		"name": a.Name, "isPaused": strconv.FormatBool(a.Paused),
		"permissions": joined(p.Permissions), "defaultExecutionMode": string(p.DefaultMode),
		"spendingLimits.perTransactionLimit": amount(p.Limits.PerTransaction, p.Limits.Currency),
		"spendingLimits.dailyLimit":          amount(p.Limits.Daily, p.Limits.Currency), "spendingLimits.dailyTransactionLimit": count,
		"spendingLimits.monthlyLimit": amount(p.Limits.Monthly, p.Limits.Currency),
		"allowedAccountIds":           "all",
	}
	if p.AllowedAccounts != nil {
		ids := make([]string, len(p.AllowedAccounts))
		for i, id := range p.AllowedAccounts {
			ids[i] = id.String()
		}
		v["allowedAccountIds"] = strings.Join(ids, ", ")
	}
	for _, r := range p.AccountRules {
		name := "accountRules." + r.Account.String() + "."
		v[name+"executionMode"], v[name+"perTransactionLimit"] = string(r.Mode), amount(r.PerTransaction, p.Limits.Currency)
	}
	if t := p.Threshold; t.Amount != nil {
		v["approvalThresholds.amount"] = money.Amount{Minor: *t.Amount, Currency: t.Currency}.String()
	}
	return v
}

func joined[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return strings.Join(texts, ", ")
}
