package agent_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// atRates converts at 1.25 USD for 1 EUR, and 1 JPY for 0.01 USD.
func atRates(a money.Amount, to money.Currency) (money.Amount, error) {
	rates := map[[2]money.Currency]string{{"EUR", "USD"}: "1.25", {"USD", "EUR"}: "0.8", {"JPY", "USD"}: "1", {"USD", "JPY"}: "1",
		{"EUR", "JPY"}: "1.25", {"JPY", "EUR"}: "0.8"}
	minor, err := money.MustRate(rates[[2]money.Currency{a.Currency, to}]).Ceil(a.Minor)
	return money.Amount{Minor: minor, Currency: to}, err
}

var errNoRate = fault.New(fault.ServiceUnavailable, "no rate")

// noRates has no rate for any pair.
func noRates(money.Amount, money.Currency) (money.Amount, error) {
	return money.Amount{}, errNoRate
}

// spender returns an agent that may pay up to 50 USD, 200 USD and 3 transactions a day, and 500 USD a month, from
// every account and without approval.
func spender(edits ...func(*agent.Agent)) agent.Agent {
	a := agent.Agent{ID: agentID, Platform: acme, Customer: anaID, Policy: agent.Policy{
		Permissions: agent.Permissions, DefaultMode: agent.Auto,
		Limits: agent.SpendingLimits{Currency: "USD", PerTransaction: 50_00, Daily: 200_00, DailyTransactions: 3, Monthly: 500_00},
	}}
	for _, edit := range edits {
		edit(&a)
	}
	return a
}

func sends(minor int64, currency money.Currency, edits ...func(*agent.Payment)) agent.Payment {
	p := agent.Payment{Type: agent.TransferOut, Account: dollars.ID, Amount: money.Amount{Minor: minor, Currency: currency}}
	for _, edit := range edits {
		edit(&p)
	}
	return p
}

func codes(reasons []agent.Reason) (found []agent.ReasonCode) {
	for _, r := range reasons {
		found = append(found, r.Code)
	}
	return found
}

func evaluate(t *testing.T, a agent.Agent, p agent.Payment, c agent.Counters, convert agent.Converter) agent.Evaluation {
	t.Helper()
	e, err := a.Evaluate(p, c, now, convert)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAgent_EvaluateEachRule(t *testing.T) {
	t.Parallel()
	// Each part of a policy refuses at its limit plus one unit, and allows at the limit. The days and months are
	// those of UTC.
	today, earlier := agent.DayOf(now), "2026-03-01"
	permit := func(permissions ...agent.Permission) func(*agent.Agent) {
		return func(a *agent.Agent) { a.Policy.Permissions = permissions }
	}
	only := func(accounts ...ident.InternalAccount) func(*agent.Agent) {
		return func(a *agent.Agent) { a.Policy.AllowedAccounts = accounts }
	}
	rule := func(r agent.AccountRule) func(*agent.Agent) {
		return func(a *agent.Agent) { a.Policy.AccountRules = []agent.AccountRule{r} }
	}
	quoted := func(p *agent.Payment) { p.Type = agent.ExecuteQuote }
	paidIn := func(p *agent.Payment) { p.Type = agent.TransferIn }
	pulled := func(p *agent.Payment) { p.Type, p.Account = agent.ExecuteQuote, ident.InternalAccount{} }
	for name, c := range map[string]struct {
		agent    agent.Agent
		payment  agent.Payment
		counters agent.Counters
		want     []agent.ReasonCode
	}{
		"nothing spent": {spender(), sends(50_00, "USD"), nil, nil},
		"paused":        {spender(func(a *agent.Agent) { a.Paused = true }), sends(1, "USD"), nil, []agent.ReasonCode{agent.AgentPaused}},
		"transfer out":  {spender(permit(agent.CreateTransfers)), sends(1, "USD"), nil, nil},
		"transfer in":   {spender(permit(agent.CreateTransfers)), sends(1, "USD", paidIn), nil, nil},
		"quote":         {spender(permit(agent.ExecuteQuotes)), sends(1, "USD", quoted), nil, nil},
		"no transfer out": {spender(permit(agent.ExecuteQuotes, agent.CreateQuotes)), sends(1, "USD"), nil,
			[]agent.ReasonCode{agent.PermissionMissing}},
		"no transfer in": {spender(permit(agent.ExecuteQuotes, agent.ManageExternalAccounts)), sends(1, "USD", paidIn), nil,
			[]agent.ReasonCode{agent.PermissionMissing}},
		"no quote": {spender(permit(agent.CreateTransfers, agent.CreateQuotes)), sends(1, "USD", quoted), nil,
			[]agent.ReasonCode{agent.PermissionMissing}},
		"unknown type": {spender(), sends(1, "USD", func(p *agent.Payment) { p.Type = "X" }), nil,
			[]agent.ReasonCode{agent.PermissionMissing}},
		"allowed account": {spender(only(dollars.ID)), sends(1, "USD"), nil, nil},
		"other account":   {spender(only(euros.ID)), sends(1, "USD"), nil, []agent.ReasonCode{agent.AccountNotAllowed}},
		"no account": {spender(func(a *agent.Agent) { a.Policy.AllowedAccounts = []ident.InternalAccount{} }), sends(1, "USD"), nil,
			[]agent.ReasonCode{agent.AccountNotAllowed}},
		"external account":   {spender(), sends(1, "USD", pulled), nil, nil},
		"external, only own": {spender(only(dollars.ID)), sends(1, "USD", pulled), nil, []agent.ReasonCode{agent.AccountNotAllowed}},

		"above a transaction":         {spender(), sends(50_01, "USD"), nil, []agent.ReasonCode{agent.PerTransactionLimit}},
		"converted, at a transaction": {spender(), sends(40_00, "EUR"), nil, nil},
		"converted, rounded up":       {spender(), sends(40_01, "EUR"), nil, []agent.ReasonCode{agent.PerTransactionLimit}},
		"above its account's limit": {spender(rule(agent.AccountRule{Account: dollars.ID, PerTransaction: 10_00})), sends(10_01, "USD"), nil,
			[]agent.ReasonCode{agent.PerTransactionLimit}},
		"at its account's limit": {spender(rule(agent.AccountRule{Account: dollars.ID, PerTransaction: 60_00})),
			sends(60_00, "USD"), nil, nil},
		"rule without a limit": {spender(rule(agent.AccountRule{Account: dollars.ID, Mode: agent.Auto})), sends(50_01, "USD"), nil,
			[]agent.ReasonCode{agent.PerTransactionLimit}},
		"another account's rule": {spender(rule(agent.AccountRule{Account: euros.ID, PerTransaction: 60_00})), sends(50_01, "USD"), nil,
			[]agent.ReasonCode{agent.PerTransactionLimit}},

		"at the day's limit": {spender(), sends(50_00, "USD"), agent.Counters{{today, "USD", 1, 150_00}}, nil},
		"above the day's limit": {spender(), sends(50_00, "USD"), agent.Counters{{today, "USD", 1, 150_01}},
			[]agent.ReasonCode{agent.DailyLimit}},
		"of two currencies": {spender(), sends(50_00, "USD"), agent.Counters{{today, "USD", 1, 50_00}, {today, "EUR", 1, 80_00}}, nil},
		"rounded up once a currency": {spender(), sends(50_00, "USD"), agent.Counters{{today, "USD", 1, 50_00}, {today, "EUR", 1, 80_01}},
			[]agent.ReasonCode{agent.DailyLimit}},
		"of another day": {spender(), sends(50_00, "USD"), agent.Counters{{earlier, "USD", 9, 199_00}}, nil},
		"over the day's limit by now": {spender(func(a *agent.Agent) { a.Policy.Limits.Daily = 1 }), sends(1, "USD"),
			agent.Counters{{today, "USD", 1, 150_00}},
			[]agent.ReasonCode{agent.DailyLimit}},
		"no day's limit": {spender(func(a *agent.Agent) { a.Policy.Limits.Daily = 0 }), sends(50_00, "USD"),
			agent.Counters{{today, "USD", 1, 190_00}}, nil},

		"last of the day": {spender(), sends(1, "USD"), agent.Counters{{today, "USD", 1, 1}, {today, "EUR", 1, 1}}, nil},
		"one too many": {spender(), sends(1, "USD"), agent.Counters{{today, "USD", 2, 1}, {today, "EUR", 1, 1}},
			[]agent.ReasonCode{agent.DailyTransactionsMet}},
		"many on other days": {spender(), sends(1, "USD"), agent.Counters{{earlier, "USD", 3, 1}}, nil},
		"any number": {spender(func(a *agent.Agent) { a.Policy.Limits.DailyTransactions = 0 }), sends(1, "USD"),
			agent.Counters{{today, "USD", 1_000_000, 1}}, nil},
		"at the month's limit": {spender(), sends(50_00, "USD"), agent.Counters{{earlier, "USD", 9, 400_00}, {today, "USD", 1, 50_00}}, nil},
		"above the month's": {spender(), sends(50_00, "USD"), agent.Counters{{earlier, "USD", 9, 400_01}, {today, "USD", 1, 50_00}},
			[]agent.ReasonCode{agent.MonthlyLimit}},
		"month in euros": {spender(), sends(50_00, "USD"), agent.Counters{{earlier, "EUR", 9, 160_01}, {"2026-03-02", "EUR", 9, 200_00}},
			[]agent.ReasonCode{agent.MonthlyLimit}},
		"of another month": {spender(), sends(50_00, "USD"), agent.Counters{{"2026-02-14", "USD", 9, 499_00},
			{"2025-03-14", "USD", 9, 499_00}}, nil},
		"no month's limit": {spender(func(a *agent.Agent) { a.Policy.Limits.Monthly = 0 }), sends(50_00, "USD"),
			agent.Counters{{earlier, "USD", 9, 10_000_00}}, nil},
		"more than can be added": {spender(), sends(1, "USD"), agent.Counters{{earlier, "USD", 1, math.MaxInt64}, {"2026-03-02", "USD", 1, 1}},
			[]agent.ReasonCode{agent.MonthlyLimit}},
		"all": {spender(func(a *agent.Agent) { a.Paused = true }, permit(agent.ViewTransactions), only(euros.ID)), sends(50_01, "USD"),
			agent.Counters{{today, "USD", 3, 500_00}},
			[]agent.ReasonCode{agent.AgentPaused, agent.PermissionMissing, agent.AccountNotAllowed, agent.PerTransactionLimit, agent.DailyLimit,
				agent.DailyTransactionsMet, agent.MonthlyLimit}},
	} {
		e := evaluate(t, c.agent, c.payment, c.counters, atRates)
		want := agent.Allowed
		if c.want != nil {
			want = agent.Refused
		}
		if got := codes(e.Reasons); e.Decision != want || !slices.Equal(got, c.want) {
			t.Errorf("%s: %s for %q, want %s for %q", name, e.Decision, got, want, c.want)
		}

		// Approval makes no difference: a limit is a limit.
		c.agent.Policy.DefaultMode, c.agent.Policy.AccountRules = agent.ApprovalRequired, slices.Clone(c.agent.Policy.AccountRules)
		for i := range c.agent.Policy.AccountRules {
			c.agent.Policy.AccountRules[i].Mode = ""
		}
		e = evaluate(t, c.agent, c.payment, c.counters, atRates)
		if want == agent.Allowed {
			want, c.want = agent.NeedsApproval, []agent.ReasonCode{agent.ModeRequiresApproval}
		}
		if got := codes(e.Reasons); e.Decision != want || !slices.Equal(got, c.want) {
			t.Errorf("%s, with approval: %s for %q, want %s for %q", name, e.Decision, got, want, c.want)
		}
		if approved := e.Approved(); (approved.Decision == agent.Allowed && len(approved.Reasons) == 0) != (want == agent.NeedsApproval) ||
			want == agent.Refused && approved.Err() == nil {
			t.Errorf("%s, approved: %+v", name, approved)
		}
	}
}

func TestAgent_EvaluateAsksForApproval(t *testing.T) {
	t.Parallel()
	// Approval is needed in the mode of the account, or else of the policy, and strictly above the threshold, whose
	// currency may be another one. All reasons are listed.
	above := func(minor int64, currency money.Currency) func(*agent.Agent) {
		return func(a *agent.Agent) {
			a.Policy.Threshold = agent.ApprovalThreshold{Currency: currency, Amount: &minor}
		}
	}
	mode := func(m agent.ExecutionMode) func(*agent.Agent) {
		return func(a *agent.Agent) { a.Policy.DefaultMode = m }
	}
	rule := func(m agent.ExecutionMode) func(*agent.Agent) {
		return func(a *agent.Agent) {
			a.Policy.AccountRules = []agent.AccountRule{{Account: euros.ID, Mode: agent.ApprovalRequired}, {Account: dollars.ID, Mode: m}}
		}
	}
	for name, c := range map[string]struct {
		agent  agent.Agent
		minor  int64
		reason []agent.ReasonCode
	}{
		"automatic":                    {spender(), 50_00, nil},
		"by default":                   {spender(mode(agent.ApprovalRequired)), 1, []agent.ReasonCode{agent.ModeRequiresApproval}},
		"by rule":                      {spender(rule(agent.ApprovalRequired)), 1, []agent.ReasonCode{agent.ModeRequiresApproval}},
		"not by rule":                  {spender(mode(agent.ApprovalRequired), rule(agent.Auto)), 1, nil},
		"rule without a mode":          {spender(mode(agent.ApprovalRequired), rule("")), 1, []agent.ReasonCode{agent.ModeRequiresApproval}},
		"at the threshold":             {spender(above(20_00, "USD")), 20_00, nil},
		"above the threshold":          {spender(above(20_00, "USD")), 20_01, []agent.ReasonCode{agent.AboveThreshold}},
		"any amount":                   {spender(above(0, "USD")), 1, []agent.ReasonCode{agent.AboveThreshold}},
		"at the threshold in euros":    {spender(above(16_00, "EUR")), 20_00, nil},
		"above the threshold in euros": {spender(above(16_00, "EUR")), 20_01, []agent.ReasonCode{agent.AboveThreshold}},
		"above, although not by rule":  {spender(rule(agent.Auto), above(20_00, "USD")), 20_01, []agent.ReasonCode{agent.AboveThreshold}},
		"by default, and above": {spender(mode(agent.ApprovalRequired), above(20_00, "USD")), 20_01,
			[]agent.ReasonCode{agent.ModeRequiresApproval, agent.AboveThreshold}},
		"currency of a former threshold": {spender(func(a *agent.Agent) { a.Policy.Threshold.Currency = "EUR" }), 50_00, nil},
	} {
		e := evaluate(t, c.agent, sends(c.minor, "USD"), nil, atRates)
		want := agent.Allowed
		if c.reason != nil {
			want = agent.NeedsApproval
		}
		if got := codes(e.Reasons); e.Decision != want || !slices.Equal(got, c.reason) || e.Err() != nil ||
			e.Spend != (money.Amount{Minor: c.minor, Currency: "USD"}) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestAgent_EvaluateWithoutRate(t *testing.T) {
	t.Parallel()
	// If a needed rate is missing, nothing is decided. Where it is not needed, it is not asked for.
	today := agent.DayOf(now)
	threshold := int64(1)
	for name, c := range map[string]struct {
		agent    agent.Agent
		payment  agent.Payment
		counters agent.Counters
		fails    bool
	}{
		"of the payment": {spender(), sends(1, "EUR"), nil, true},
		"of today": {spender(func(a *agent.Agent) { a.Policy.Limits.Monthly = 0 }), sends(1, "USD"), agent.Counters{{today, "EUR", 1, 1}},
			true},
		"of the month": {spender(), sends(1, "USD"), agent.Counters{{"2026-03-01", "EUR", 1, 1}}, true},
		"of the threshold": {spender(func(a *agent.Agent) {
			a.Policy.Threshold = agent.ApprovalThreshold{Currency: "EUR", Amount: &threshold}
		}), sends(1, "USD"), nil, true},
		"one currency": {spender(), sends(1, "USD"), agent.Counters{{today, "USD", 1, 1}}, false},
		"given back":   {spender(), sends(1, "USD"), agent.Counters{{today, "EUR", 0, 0}}, false},
		"no limits": {spender(func(a *agent.Agent) { a.Policy.Limits.Daily, a.Policy.Limits.Monthly = 0, 0 }), sends(1, "USD"),
			agent.Counters{{today, "EUR", 1, 1}}, false},
	} {
		e, err := c.agent.Evaluate(c.payment, c.counters, now, noRates)
		if c.fails && (!errors.Is(err, errNoRate) || e.Decision != "") || !c.fails && (err != nil || e.Decision != agent.Allowed) {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	if _, err := spender().UsageAt(agent.Counters{{today, "EUR", 1, 1}}, now, noRates); !errors.Is(err, errNoRate) {
		t.Errorf("usage: %v", err)
	}
}

func TestAgent_EvaluateAmountsThatDoNotFit(t *testing.T) {
	t.Parallel()
	// An amount that is more in the currency of the limits than money can be moved at once is above every limit. It is shown
	// as it is sent, never as a number that no payment can have; and so is what was spent. An amount below 1 is an error,
	// because it would lower what was spent.
	huge := func(a money.Amount, to money.Currency) (money.Amount, error) {
		minor, err := money.MustRate("1000000000000").Ceil(a.Minor)
		return money.Amount{Minor: minor, Currency: to}, err
	}
	boundless := spender(func(a *agent.Agent) {
		a.Policy.Limits = agent.SpendingLimits{Currency: "USD", PerTransaction: money.MaxMinor, Daily: money.MaxMinor, Monthly: money.MaxMinor}
	})
	e := evaluate(t, boundless, sends(money.MaxMinor, "EUR"), nil, huge)
	if got := codes(e.Reasons); !slices.Equal(got, []agent.ReasonCode{agent.PerTransactionLimit, agent.DailyLimit, agent.MonthlyLimit}) ||
		e.Spend != (money.Amount{}) {
		t.Errorf("%+v", e)
	}
	double := func(a money.Amount, to money.Currency) (money.Amount, error) {
		return money.Amount{Minor: 2 * a.Minor, Currency: to}, nil
	}
	for _, convert := range []agent.Converter{huge, double} {
		e := evaluate(t, boundless, sends(money.MaxMinor, "EUR"), nil, convert)
		for _, reason := range e.Reasons {
			if !strings.HasPrefix(reason.Message, "The payment sends "+money.Amount{Minor: money.MaxMinor, Currency: "EUR"}.String()) {
				t.Errorf("%s", reason.Message)
			}
		}
		if e.Decision != agent.Refused || len(e.Reasons) != 3 || e.Spend != (money.Amount{}) {
			t.Errorf("%+v", e)
		}
		cautious := boundless
		cautious.Policy.Threshold = agent.ApprovalThreshold{Currency: "EUR", Amount: new(int64(1))}
		e = evaluate(t, cautious, sends(money.MaxMinor, "USD"), nil, convert)
		if e.Decision != agent.NeedsApproval || !strings.Contains(e.Reasons[len(e.Reasons)-1].Message, "sends 90000000000000.00 USD") {
			t.Errorf("%+v", e)
		}
		spent := agent.Counters{{agent.DayOf(now), "EUR", 1, money.MaxMinor}, {agent.DayOf(now), "JPY", 1, money.MaxMinor}}
		usage, err := boundless.UsageAt(spent, now, convert)
		if err != nil || usage.DailySpend != money.MaxMinor || usage.MonthlySpend != money.MaxMinor {
			t.Errorf("usage %+v, %v", usage, err)
		}
	}
	spent := agent.Counters{{agent.DayOf(now), "EUR", 1, money.MaxMinor}, {agent.DayOf(now), "JPY", 1, money.MaxMinor}}
	if got := codes(evaluate(t, boundless, sends(1, "USD"), spent, huge).Reasons); !slices.Equal(got,
		[]agent.ReasonCode{agent.DailyLimit, agent.MonthlyLimit}) {
		t.Errorf("spent: %q", got)
	}
	for _, minor := range []int64{0, -1} {
		if e, err := spender().Evaluate(sends(minor, "USD"), nil, now, atRates); err == nil || e.Decision != "" {
			t.Errorf("%d: %+v, %v", minor, e, err)
		}
	}
}

func TestAgent_EvaluateQuotesAndAccounts(t *testing.T) {
	t.Parallel()
	// A quote needs its permission and an account that pays and is allowed; nobody's account pays one that is
	// funded just in time. External accounts need their own permission. A paused agent can do neither.
	with := func(p agent.Permission, accounts ...ident.InternalAccount) agent.Agent {
		return spender(func(a *agent.Agent) { a.Policy.Permissions, a.Policy.AllowedAccounts = []agent.Permission{p}, accounts })
	}
	paused := with(agent.ExecuteQuotes, euros.ID)
	paused.Paused = true
	for name, c := range map[string]struct {
		got  agent.Evaluation
		want []agent.ReasonCode
	}{
		"quote":               {with(agent.CreateQuotes).EvaluateQuote(dollars.ID, false), nil},
		"quote from external": {with(agent.CreateQuotes).EvaluateQuote(ident.InternalAccount{}, true), nil},
		"quote from allowed":  {with(agent.CreateQuotes, dollars.ID).EvaluateQuote(dollars.ID, false), nil},
		"quote from other": {with(agent.CreateQuotes, euros.ID).EvaluateQuote(dollars.ID, false),
			[]agent.ReasonCode{agent.AccountNotAllowed}},
		"quote from external, not so": {with(agent.CreateQuotes, euros.ID).EvaluateQuote(ident.InternalAccount{}, true),
			[]agent.ReasonCode{agent.AccountNotAllowed}},
		"just in time":             {with(agent.CreateQuotes, euros.ID).EvaluateQuote(ident.InternalAccount{}, false), nil},
		"quote without permission": {with(agent.ExecuteQuotes).EvaluateQuote(dollars.ID, false), []agent.ReasonCode{agent.PermissionMissing}},
		"quote, all": {paused.EvaluateQuote(dollars.ID, false), []agent.ReasonCode{agent.AgentPaused, agent.PermissionMissing,
			agent.AccountNotAllowed}},
		"account":                    {with(agent.ManageExternalAccounts, euros.ID).EvaluateAccounts(), nil},
		"account without permission": {with(agent.CreateTransfers).EvaluateAccounts(), []agent.ReasonCode{agent.PermissionMissing}},
		"account, all":               {paused.EvaluateAccounts(), []agent.ReasonCode{agent.AgentPaused, agent.PermissionMissing}},
	} {
		if got := codes(c.got.Reasons); !slices.Equal(got, c.want) || (c.got.Decision == agent.Allowed) != (c.want == nil) ||
			(c.got.Err() == nil) != (c.want == nil) {
			t.Errorf("%s: %+v, want %q", name, c.got, c.want)
		}
	}
}

func TestEvaluation_ErrNamesEveryReason(t *testing.T) {
	t.Parallel()
	// A refusal is FORBIDDEN with the first reason in words that say what to do, and all reasons for programs.
	e := evaluate(t, spender(), sends(60_00, "USD"), agent.Counters{{agent.DayOf(now), "USD", 1, 160_50}}, atRates)
	refused, ok := fault.As(e.Err())
	if !ok || refused.Code != fault.Forbidden || refused.Reason != "PER_TRANSACTION_LIMIT" ||
		refused.Message != "The payment sends 60.00 USD, and the limit of a transaction is 50.00 USD. Send less." {
		t.Fatalf("%+v", refused)
	}
	all := refused.Details["reasons"].([]map[string]any)
	if len(all) != 2 || all[0]["message"] != refused.Message || all[1]["code"] != "DAILY_LIMIT" ||
		all[1]["message"] != "The payment sends 60.00 USD, and 39.50 USD of the daily limit of 200.00 USD is left. Send less, or wait until "+
			"the next day (UTC)." {
		t.Errorf("%v", all)
	}
	e = evaluate(t, spender(func(a *agent.Agent) { a.Policy.AllowedAccounts = []ident.InternalAccount{euros.ID} }),
		sends(1, "USD"), nil, atRates)
	if err := e.Err(); !strings.Contains(err.Error(), dollars.ID.String()) {
		t.Error(err)
	}
}
