package main

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestAgents(t *testing.T) {
	t.Parallel()
	// Agents are listed and shown with their policy, what they have sent exactly, and what waits for approval;
	// without their names.
	url, idGenerator, now := pgtest.New(t), ids.New(), systemClock{}.Now()
	db := openDB(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2, Clock: systemClock{},
		IDs: idGenerator, TxOf: newTx})
	p := portstest.SandboxPlatform(t, idGenerator, now)
	ana, ben := portstest.ApprovedCustomer(idGenerator, now, p.ID, "ana"), portstest.ApprovedCustomer(idGenerator, now, p.ID, "ben")
	dollars, err := account.NewInternal(ident.NewInternalAccount(idGenerator.New, now), p.ID, ana.ID, "USD", now)
	if err != nil {
		t.Fatal(err)
	}
	spender := newTestAgent(t, idGenerator, ana, now, []account.Internal{dollars},
		agent.PolicyChange{Permissions: &[]string{"CREATE_TRANSFERS"}})
	spender.ConnectedAt = now
	idle := newTestAgent(t, idGenerator, ben, now.Add(time.Second), nil, agent.PolicyChange{AllowedAccounts: new([]ident.InternalAccount{})})
	idle.Paused = true
	waiting := agent.NewTransferAction(ident.NewAgentAction(idGenerator.New, now), spender, "ana", agent.TransferOut,
		agent.Transfer{Internal: dollars.ID, External: ident.NewExternalAccount(idGenerator.New, now),
			Amount: money.Amount{Minor: 25_00, Currency: "USD"}}, now)
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreatePlatform(ctx, p); err != nil {
			return err
		}
		for _, c := range []customer.Customer{ana, ben} {
			if err := tx.CreateCustomer(ctx, c); err != nil {
				return err
			}
		}
		if err := tx.OpenInternalAccounts(ctx, []account.Internal{dollars}); err != nil {
			return err
		}
		for _, a := range []agent.Agent{spender, idle} {
			if err := tx.CreateAgent(ctx, a); err != nil {
				return err
			}
		}
		if err := tx.AddAgentUsage(ctx, p.ID, []ports.AgentCount{
			{Agent: spender.ID, Counter: agent.Counter{Day: agent.DayOf(now), Currency: "USD", Transactions: 2, Spent: 15_50}},
			{Agent: spender.ID, Counter: agent.Counter{Day: agent.DayOf(now), Currency: "JPY", Transactions: 1, Spent: 300}},
		}); err != nil {
			return err
		}
		return tx.CreateAgentActions(ctx, []agent.Action{waiting})
	})
	agents := func(args ...string) (string, int) {
		t.Helper()
		var out, errOut strings.Builder
		status := run(t.Context(), append(append([]string{"agents"}, args...), "--database-url", url), &out, &errOut)
		return out.String() + errOut.String(), status
	}

	for name, c := range map[string]struct {
		args   []string
		want   []string
		absent string
	}{
		"list": {[]string{"list"}, []string{
			`^agent +customer +state +per transaction +sent today +waiting\n` + idle.ID.String() + ` +` + ben.ID.String() +
				` +paused +50.00 USD +- +0\n`,
			`\n` + spender.ID.String() + ` +` + ana.ID.String() + ` +connected +50.00 USD +300 JPY, 15.50 USD \(3\) +1\n$`}, "Assistant"},
		"waiting":  {[]string{"list", "--waiting"}, []string{spender.ID.String()}, idle.ID.String()},
		"customer": {[]string{"list", "--customer", ben.ID.String()}, []string{idle.ID.String()}, spender.ID.String()},
		"limit":    {[]string{"list", "--limit", "1"}, []string{idle.ID.String()}, spender.ID.String()},
		"show": {[]string{"show", spender.ID.String()}, []string{
			`customer +` + ana.ID.String() + `\n`, `state +connected\n`, `permissions +CREATE_TRANSFERS\n`, `mode +AUTO\n`,
			`per transaction +50.00 USD\n`, `per day +200.00 USD\n`,
			`transactions per day +-\n`, `per month +-\n`, `approval above +20.00 EUR\n`, `allowed account +` + dollars.ID.String() + `\n`,
			`rule +` + dollars.ID.String() + `: mode -, per transaction 10.00 USD\n`, `sent today +300 JPY, 15.50 USD \(3\)\n`,
			`sent this month +300 JPY, 15.50 USD \(3\)\n`,
			`waits for approval +` + waiting.ID.String() + ` since [-0-9T:Z]+: TRANSFER_OUT of 25.00 USD between ` + dollars.ID.String() +
				` and ExternalAccount:`}, "Assistant"},
		"show paused": {[]string{"show", idle.ID.String()}, []string{`state +paused\n`, `allowed accounts +none\n`, `sent today +-\n`}, "waits"},
	} {
		out, status := agents(c.args...)
		for _, want := range c.want {
			if status != 0 || !regexp.MustCompile(want).MatchString(out) || strings.Contains(out, c.absent) {
				t.Errorf("%s: %d, without %s in\n%s", name, status, want, out)
			}
		}
	}
	for want, args := range map[string][]string{
		"There are no such agents.": {"list", "--customer", ident.NewCustomer(idGenerator.New, now).String()},
		"--limit must be from 1":    {"list", "--limit", "0"},
		"--customer":                {"list", "--customer", "ben"},
		"There is no agent":         {"show", ident.NewAgent(idGenerator.New, now).String()},
		"AGENT must be an id":       {"show", "ana"},
	} {
		if out, status := agents(args...); (status != 0) == strings.HasPrefix(want, "There are") || !strings.Contains(out, want) {
			t.Errorf("%v: %d\n%s", args, status, out)
		}
	}
}

// newTestAgent returns an agent that may send 50 USD at once and 200 USD a day.
func newTestAgent(t *testing.T, idGenerator ports.IDs, owner customer.Customer, now time.Time, accounts []account.Internal,
	change agent.PolicyChange) agent.Agent {
	t.Helper()
	daily, threshold := new(int64(200_00)), new(int64(20_00))
	policy := agent.PolicyChange{Permissions: &[]string{"CREATE_QUOTES"}, DefaultMode: new("AUTO"),
		Limits:    &agent.LimitsChange{Currency: new("USD"), PerTransaction: new(int64(50_00)), Daily: &daily},
		Threshold: &agent.ThresholdChange{Currency: new("EUR"), Amount: &threshold}}
	if change.Permissions != nil {
		policy.Permissions = change.Permissions
	}
	policy.AllowedAccounts = change.AllowedAccounts
	for _, a := range accounts {
		policy.AllowedAccounts = &[]ident.InternalAccount{a.ID}
		policy.AccountRules = &[]agent.AccountRuleRequest{{Account: a.ID, PerTransaction: new(int64(10_00))}}
	}
	created, err := agent.New(agent.Request{Name: "Assistant", Customer: owner.ID, Policy: policy}, owner, accounts,
		ident.NewAgent(idGenerator.New, now), now)
	if err != nil {
		t.Fatal(err)
	}
	return created
}
