package agent_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/money"
)

func TestNew_WholePolicy(t *testing.T) {
	t.Parallel()
	// A new agent has the policy that was requested, in the order of the request.
	want := agent.Policy{
		Permissions: []agent.Permission{agent.ViewTransactions, agent.CreateQuotes}, DefaultMode: agent.Auto,
		Limits:          agent.SpendingLimits{Currency: "USD", PerTransaction: 50_00, Daily: 200_00, DailyTransactions: 20, Monthly: 1000_00},
		AllowedAccounts: []ident.InternalAccount{dollars.ID, euros.ID},
		AccountRules:    []agent.AccountRule{{Account: euros.ID, Mode: agent.ApprovalRequired, PerTransaction: 10_00}, {Account: dollars.ID}},
		Threshold:       agent.ApprovalThreshold{Currency: "EUR", Amount: ptr(int64(0))},
	}
	if got := create(t, valid()).Policy; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}

	smallest := agent.Request{Name: "a", Customer: anaID, Policy: agent.PolicyChange{Permissions: ptr([]string{"CREATE_TRANSFERS"}),
		DefaultMode: ptr("APPROVAL_REQUIRED"),
		Limits:      &agent.LimitsChange{Currency: ptr("JPY"), PerTransaction: ptr(int64(1))}}}
	want = agent.Policy{Permissions: []agent.Permission{agent.CreateTransfers}, DefaultMode: agent.ApprovalRequired,
		Limits: agent.SpendingLimits{Currency: "JPY", PerTransaction: 1}}
	if got := create(t, smallest).Policy; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestPolicyChange_RefusesEachInvalidField(t *testing.T) {
	t.Parallel()
	// Every invalid field is named by its path, in a new policy and in an update.
	tooMany := make([]ident.InternalAccount, 101)
	huge, zero, negative := money.MaxMinor+1, int64(0), int64(-1)
	for name, c := range map[string]struct {
		edit func(*agent.PolicyChange)
		want []string
	}{
		"valid":         {func(*agent.PolicyChange) {}, nil},
		"no permission": {func(p *agent.PolicyChange) { p.Permissions = ptr([]string{}) }, []string{"permissions"}},
		"unknown permission": {func(p *agent.PolicyChange) { p.Permissions = ptr([]string{"VIEW", ""}) },
			[]string{"permissions[0]", "permissions[1]"}},
		"permission twice": {func(p *agent.PolicyChange) { p.Permissions = ptr([]string{"CREATE_QUOTES", "CREATE_QUOTES"}) },
			[]string{"permissions[1]"}},
		"six permissions": {func(p *agent.PolicyChange) { p.Permissions = ptr(append(permissionNames(), "CREATE_QUOTES")) },
			[]string{"permissions"}},
		"unknown mode":     {func(p *agent.PolicyChange) { p.DefaultMode = ptr("auto") }, []string{"defaultExecutionMode"}},
		"empty mode":       {func(p *agent.PolicyChange) { p.DefaultMode = ptr("") }, []string{"defaultExecutionMode"}},
		"unknown currency": {func(p *agent.PolicyChange) { p.Limits.Currency = ptr("usd") }, []string{"spendingLimits.currency"}},
		"zero limits":      {func(p *agent.PolicyChange) { p.Limits = limits(zero, &zero) }, limitPaths},
		"negative limits":  {func(p *agent.PolicyChange) { p.Limits = limits(negative, &negative) }, limitPaths},
		"huge limits":      {func(p *agent.PolicyChange) { p.Limits = limits(huge, &huge) }, limitPaths},
		"largest limits": {func(p *agent.PolicyChange) {
			p.Limits = limits(money.MaxMinor, nil)
			p.Limits.DailyTransactions = ptr(ptr(int64(1_000_000)))
		}, nil},
		"many transactions": {func(p *agent.PolicyChange) { p.Limits.DailyTransactions = ptr(ptr(int64(1_000_001))) },
			[]string{"spendingLimits.dailyTransactionLimit"}},
		"foreign account": {func(p *agent.PolicyChange) { p.AllowedAccounts = ptr([]ident.InternalAccount{dollars.ID, foreign}) },
			[]string{"accountRestrictions.allowedAccountIds[1]"}},
		"account twice": {func(p *agent.PolicyChange) { p.AllowedAccounts = ptr([]ident.InternalAccount{dollars.ID, dollars.ID}) },
			[]string{"accountRestrictions.allowedAccountIds[1]"}},
		"too many accounts": {func(p *agent.PolicyChange) { p.AllowedAccounts = &tooMany },
			[]string{"accountRestrictions.allowedAccountIds"}},
		"too many rules": {func(p *agent.PolicyChange) { p.AccountRules = ptr(make([]agent.AccountRuleRequest, 101)) },
			[]string{"accountRestrictions.accountRules"}},
		"foreign account's rule": {func(p *agent.PolicyChange) { p.AccountRules = ptr([]agent.AccountRuleRequest{{Account: foreign}}) },
			[]string{"accountRestrictions.accountRules[0].accountId"}},
		"two rules": {func(p *agent.PolicyChange) {
			p.AccountRules = ptr([]agent.AccountRuleRequest{{Account: euros.ID}, {Account: euros.ID, Mode: "AUTO"}})
		}, []string{"accountRestrictions.accountRules[1].accountId"}},
		"invalid rule": {func(p *agent.PolicyChange) {
			p.AccountRules = ptr([]agent.AccountRuleRequest{{Account: euros.ID}, {Account: dollars.ID, Mode: "X", PerTransaction: &zero}})
		}, []string{"accountRestrictions.accountRules[1].executionMode", "accountRestrictions.accountRules[1].perTransactionLimit"}},
		"negative threshold": {func(p *agent.PolicyChange) { p.Threshold.Amount = ptr(&negative) },
			[]string{"approvalThresholds.amount"}},
		"huge threshold": {func(p *agent.PolicyChange) { p.Threshold.Amount = ptr(&huge) },
			[]string{"approvalThresholds.amount"}},
		"threshold in no known currency": {func(p *agent.PolicyChange) { p.Threshold.Currency = ptr("X") },
			[]string{"approvalThresholds.currency"}},
		"no threshold": {func(p *agent.PolicyChange) { p.Threshold = &agent.ThresholdChange{Amount: ptr[*int64](nil)} }, nil},
		"all": {func(p *agent.PolicyChange) {
			p.Permissions, p.DefaultMode, p.Limits.Monthly = ptr([]string{}), ptr("X"), ptr(&zero)
			p.AllowedAccounts, p.AccountRules = ptr([]ident.InternalAccount{foreign}), ptr([]agent.AccountRuleRequest{{Account: foreign}})
			p.Threshold = &agent.ThresholdChange{Currency: ptr("X"), Amount: ptr(&negative)}
		}, []string{"permissions", "defaultExecutionMode", "spendingLimits.monthlyLimit", "accountRestrictions.allowedAccountIds[0]",
			"accountRestrictions.accountRules[0].accountId", "approvalThresholds.currency", "approvalThresholds.amount"}},
	} {
		r := valid()
		c.edit(&r.Policy)
		_, created := agent.New(r, ana, owned, agentID, now)
		_, updated := create(t, valid()).UpdatePolicy(r.Policy, owned, now)
		if c.want == nil {
			if created != nil || updated != nil {
				t.Errorf("%s: created %v, updated %v", name, created, updated)
			}
			continue
		}
		if created == nil || updated == nil {
			t.Errorf("%s: created %v, updated %v", name, created, updated)
			continue
		}
		if got := badFields(t, updated); !slices.Equal(got, c.want) {
			t.Errorf("%s: updated %q, want %q", name, got, c.want)
		}
		var inRequest []string
		for _, path := range c.want {
			inRequest = append(inRequest, "policy."+path)
		}
		if got := badFields(t, created); !slices.Equal(got, inRequest) {
			t.Errorf("%s: created %q, want %q", name, got, inRequest)
		}
	}
}

var limitPaths = []string{"spendingLimits.perTransactionLimit", "spendingLimits.dailyLimit", "spendingLimits.dailyTransactionLimit",
	"spendingLimits.monthlyLimit"}

// limits returns limits in dollars that are all n, or, but for the one of a transaction, other.
func limits(n int64, other *int64) *agent.LimitsChange {
	return &agent.LimitsChange{Currency: ptr("USD"), PerTransaction: &n, Daily: &other, DailyTransactions: &other, Monthly: &other}
}

func permissionNames() (names []string) {
	for _, p := range agent.Permissions {
		names = append(names, string(p))
	}
	return names
}

func TestNew_RequiredPolicyFields(t *testing.T) {
	t.Parallel()
	// A new policy needs permissions, a mode and a limit for each transaction, and a threshold needs a currency.
	for name, c := range map[string]struct {
		policy agent.PolicyChange
		want   []string
	}{
		"empty": {agent.PolicyChange{}, []string{"policy.permissions", "policy.defaultExecutionMode", "policy.spendingLimits"}},
		"without limit": {agent.PolicyChange{Limits: &agent.LimitsChange{}}, []string{"policy.permissions", "policy.defaultExecutionMode",
			"policy.spendingLimits.currency", "policy.spendingLimits.perTransactionLimit"}},
		"threshold without currency": {agent.PolicyChange{Permissions: valid().Policy.Permissions, DefaultMode: ptr("AUTO"),
			Limits:    valid().Policy.Limits,
			Threshold: &agent.ThresholdChange{Amount: ptr(ptr(int64(5)))}}, []string{"policy.approvalThresholds.currency"}},
	} {
		r := valid()
		r.Policy = c.policy
		_, err := agent.New(r, ana, owned, agentID, now)
		if got := badFields(t, err); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAgent_UpdatePolicyChangesGivenFields(t *testing.T) {
	t.Parallel()
	// Only given fields change, each list as a whole; null removes a limit or a restriction. Another currency
	// leaves the numbers of the limits.
	before := create(t, valid())
	none := ptr[*int64](nil)
	for name, c := range map[string]struct {
		change agent.PolicyChange
		want   func(*agent.Policy)
	}{
		"nothing": {agent.PolicyChange{}, func(*agent.Policy) {}},
		"permissions": {agent.PolicyChange{Permissions: ptr([]string{"EXECUTE_QUOTES"})},
			func(p *agent.Policy) { p.Permissions = []agent.Permission{agent.ExecuteQuotes} }},
		"mode": {agent.PolicyChange{DefaultMode: ptr("APPROVAL_REQUIRED")},
			func(p *agent.Policy) { p.DefaultMode = agent.ApprovalRequired }},
		"currency": {agent.PolicyChange{Limits: &agent.LimitsChange{Currency: ptr("EUR")}},
			func(p *agent.Policy) { p.Limits.Currency = "EUR" }},
		"no limits": {agent.PolicyChange{Limits: &agent.LimitsChange{Daily: none, DailyTransactions: none, Monthly: none}},
			func(p *agent.Policy) { p.Limits.Daily, p.Limits.DailyTransactions, p.Limits.Monthly = 0, 0, 0 }},
		"one limit": {agent.PolicyChange{Limits: &agent.LimitsChange{Monthly: ptr(ptr(int64(7)))}},
			func(p *agent.Policy) { p.Limits.Monthly = 7 }},
		"all accounts": {agent.PolicyChange{AllowedAccounts: ptr[[]ident.InternalAccount](nil)},
			func(p *agent.Policy) { p.AllowedAccounts = nil }},
		"no account": {agent.PolicyChange{AllowedAccounts: ptr([]ident.InternalAccount{})},
			func(p *agent.Policy) { p.AllowedAccounts = []ident.InternalAccount{} }},
		"no rules":     {agent.PolicyChange{AccountRules: ptr([]agent.AccountRuleRequest{})}, func(p *agent.Policy) { p.AccountRules = nil }},
		"no threshold": {agent.PolicyChange{Threshold: &agent.ThresholdChange{Amount: none}}, func(p *agent.Policy) { p.Threshold.Amount = nil }},
		"threshold": {agent.PolicyChange{Threshold: &agent.ThresholdChange{Amount: ptr(ptr(int64(3)))}},
			func(p *agent.Policy) { p.Threshold.Amount = ptr(int64(3)) }},
	} {
		want := before.Policy
		c.want(&want)
		after, err := before.UpdatePolicy(c.change, owned, now.Add(time.Hour))
		if err != nil || !reflect.DeepEqual(after.Policy, want) || !after.UpdatedAt.Equal(now.Add(time.Hour)) {
			t.Errorf("%s: %+v, %v, want %+v", name, after.Policy, err, want)
		}
	}
	if !reflect.DeepEqual(before, create(t, valid())) {
		t.Error("the agent before an update was changed")
	}
}

func TestAgent_UpdatePolicyKeepsItValid(t *testing.T) {
	t.Parallel()
	// After any updates that were not refused, the policy is within its bounds and names only accounts of the
	// customer, and the same update again changes nothing.
	rapid.Check(t, func(t *rapid.T) {
		a := create(t, valid())
		for range 5 {
			change := drawChange(t)
			after, err := a.UpdatePolicy(change, owned, now)
			if err != nil {
				continue
			}
			again, err := after.UpdatePolicy(change, owned, now)
			if err != nil || !reflect.DeepEqual(again.Policy, after.Policy) {
				t.Fatalf("%+v, then %+v, %v", after.Policy, again.Policy, err)
			}
			a = after
			checkPolicy(t, a.Policy)
		}
	})
}

func drawChange(t *rapid.T) (ch agent.PolicyChange) {
	given := rapid.Bool()
	number := rapid.SampledFrom([]int64{-1, 0, 1, 50, 1_000_000, 1_000_001, money.MaxMinor, money.MaxMinor + 1})
	nullable := rapid.Map(rapid.Ptr(number, true), func(n *int64) **int64 { return &n })
	currency := rapid.SampledFrom([]string{"USD", "EUR", "JPY", "ETH", "XXX", ""})
	account := rapid.SampledFrom([]ident.InternalAccount{dollars.ID, euros.ID, dollars.ID, euros.ID, foreign})
	mode := rapid.SampledFrom([]string{"AUTO", "APPROVAL_REQUIRED", ""})
	if given.Draw(t, "permissions") {
		ch.Permissions = ptr(rapid.SliceOfN(rapid.SampledFrom(append(permissionNames(), "X")), 0, 3).Draw(t, "list"))
	}
	if given.Draw(t, "mode") {
		ch.DefaultMode = ptr(mode.Draw(t, "name"))
	}
	if given.Draw(t, "limits") {
		ch.Limits = &agent.LimitsChange{Currency: rapid.Ptr(currency, true).Draw(t, "currency"),
			PerTransaction: rapid.Ptr(number, true).Draw(t, "transaction")}
		if given.Draw(t, "more") {
			ch.Limits.Daily, ch.Limits.DailyTransactions, ch.Limits.Monthly = nullable.Draw(t, "daily"), nullable.Draw(t, "count"),
				nullable.Draw(t, "monthly")
		}
	}
	if given.Draw(t, "allowed") {
		ch.AllowedAccounts = ptr(rapid.SliceOfN(account, 0, 3).Draw(t, "accounts"))
	}
	if given.Draw(t, "rules") {
		ch.AccountRules = ptr(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) agent.AccountRuleRequest {
			return agent.AccountRuleRequest{Account: account.Draw(t, "account"), Mode: mode.Draw(t, "mode"),
				PerTransaction: rapid.Ptr(number, true).Draw(t, "limit")}
		}), 0, 3).Draw(t, "rules"))
	}
	if given.Draw(t, "threshold") {
		ch.Threshold = &agent.ThresholdChange{Currency: rapid.Ptr(currency, true).Draw(t, "currency"), Amount: nullable.Draw(t, "amount")}
	}
	return ch
}

func checkPolicy(t *rapid.T, p agent.Policy) {
	within := func(n, highest int64) bool { return n >= 0 && n <= highest }
	ours := func(id ident.InternalAccount) bool { return id == dollars.ID || id == euros.ID }
	l := p.Limits
	ok := len(p.Permissions) > 0 && slices.Contains(agent.ExecutionModes, p.DefaultMode) && l.Currency.Known() && l.PerTransaction >= 1 &&
		within(l.PerTransaction, money.MaxMinor) && within(l.Daily, money.MaxMinor) && within(l.Monthly, money.MaxMinor) &&
		within(l.DailyTransactions, 1_000_000) &&
		(p.Threshold.Amount == nil || p.Threshold.Currency.Known() && within(*p.Threshold.Amount, money.MaxMinor))
	for i, permission := range p.Permissions {
		ok = ok && slices.Contains(agent.Permissions, permission) && !slices.Contains(p.Permissions[:i], permission)
	}
	for i, id := range p.AllowedAccounts {
		ok = ok && ours(id) && !slices.Contains(p.AllowedAccounts[:i], id)
	}
	seen := map[ident.InternalAccount]bool{}
	for _, rule := range p.AccountRules {
		ok = ok && ours(rule.Account) && !seen[rule.Account] && within(rule.PerTransaction, money.MaxMinor) &&
			(rule.Mode == "" || slices.Contains(agent.ExecutionModes, rule.Mode))
		seen[rule.Account] = true
	}
	if !ok {
		t.Fatalf("invalid policy %+v", p)
	}
}
