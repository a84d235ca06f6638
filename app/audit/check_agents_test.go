package audit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"causeway/app/audit"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// storedAgents is an AgentAudit with one line of each kind.
type storedAgents struct {
	usage   ports.UsageLine
	payment ports.AgentPaymentLine
	err     error
}

func (s storedAgents) EachAgentUsage(_ context.Context, _ ident.Platform, visit func(ports.UsageLine) error) error {
	return errors.Join(visit(s.usage), s.err)
}

// EachLimitUsage has the line of the agent.
func (s storedAgents) EachLimitUsage(_ context.Context, _ ident.Platform, visit func(ports.UsageLine) error) error {
	return visit(s.usage)
}

func (s storedAgents) EachAgentPayment(_ context.Context, _ ident.Platform, visit func(ports.AgentPaymentLine) error) error {
	return errors.Join(visit(s.payment), s.err)
}

func TestCheck_CountersAndActionsOfAgents(t *testing.T) {
	t.Parallel()
	// A counter equals the transactions that its agent has started, each of which counts unless it has failed, and
	// an approved action has its own transaction. Whatever differs is named.
	env := newEnv(t)
	a, other := ident.NewAgent(env.IDs.New, noon), ident.NewAgent(env.IDs.New, noon)
	tx := ident.NewTransaction(env.IDs.New, noon)
	q := ident.NewQuote(env.IDs.New, noon)
	five := money.Amount{Minor: 5, Currency: "USD"}
	usage := ports.UsageLine{Platform: env.platform, Agent: a, Counted: agent.Counter{Day: "2026-11-20", Currency: "USD", Transactions: 2,
		Spent: 7}, Exists: true, Transactions: 2, Spent: 7}
	payment := ports.AgentPaymentLine{Platform: env.platform,
		Action: ports.AuditedAction{ID: ident.NewAgentAction(env.IDs.New, noon), Agent: a, Customer: env.Customer.ID, Transaction: tx,
			Amount: five, Sharing: 1},
		Transaction: ports.AuditedAgentTransaction{ID: tx, Agent: a, Customer: env.Customer.ID, Started: true, Sent: five}}
	for name, c := range map[string]struct {
		edit func(*ports.UsageLine, *ports.AgentPaymentLine)
		rule audit.Rule
		want string
	}{
		"as it should be": {func(*ports.UsageLine, *ports.AgentPaymentLine) {}, "", ""},
		"of a quote": {func(_ *ports.UsageLine, p *ports.AgentPaymentLine) {
			p.Action.Quote, p.Transaction.Quote, p.Action.Amount = q, q, money.Amount{}
		}, "", ""},
		"given back, and deleted": {func(u *ports.UsageLine, _ *ports.AgentPaymentLine) {
			u.Exists, u.Transactions, u.Spent, u.Counted.Transactions, u.Counted.Spent = false, 0, 0, 0, 0
		}, "", ""},
		"after its retention": {func(u *ports.UsageLine, _ *ports.AgentPaymentLine) {
			u.Counted = agent.Counter{Day: "2025-11-19", Currency: "USD"}
			u.Exists = false
		}, "", ""},

		"no counter": {func(u *ports.UsageLine, _ *ports.AgentPaymentLine) {
			u.Counted = agent.Counter{Day: "2025-11-20", Currency: "USD"}
			u.Exists = false
		}, audit.RuleAgentUsage, "2025-11-20 in USD: there is no counter, and 2 transactions have sent 7"},
		"number": {func(u *ports.UsageLine, _ *ports.AgentPaymentLine) { u.Transactions = 3 }, audit.RuleAgentUsage,
			"2 transactions and 7 are counted, and 3 transactions have sent 7"},
		"amount": {func(u *ports.UsageLine, _ *ports.AgentPaymentLine) { u.Counted.Spent = 6 }, audit.RuleAgentUsage,
			"2 transactions and 6 are counted, and 2 transactions have sent 7"},
		"old counter": {func(u *ports.UsageLine, _ *ports.AgentPaymentLine) { u.Counted.Day, u.Spent = "2025-01-01", 8 },
			audit.RuleAgentUsage, "sent 8"},
		"without payments": {func(u *ports.UsageLine, _ *ports.AgentPaymentLine) { u.Transactions, u.Spent = 0, 0 }, audit.RuleAgentUsage,
			"0 transactions have sent 0"},
		"flag": {func(u *ports.UsageLine, _ *ports.AgentPaymentLine) { u.Misflagged = tx }, audit.RuleAgentUsage,
			"whether " + tx.String() + " counts"},

		"no action": {func(_ *ports.UsageLine, p *ports.AgentPaymentLine) { p.Action = ports.AuditedAction{} }, audit.RuleAgentActions,
			tx.String() + " on " + env.platform.String() + ": " + a.String() + " has started it"},
		"no transaction": {func(_ *ports.UsageLine, p *ports.AgentPaymentLine) {
			p.Transaction = ports.AuditedAgentTransaction{}
		}, audit.RuleAgentActions, "its transaction " + tx.String() + " does not exist"},
		"two actions": {func(_ *ports.UsageLine, p *ports.AgentPaymentLine) { p.Action.Sharing = 2 }, audit.RuleAgentActions,
			"belongs to 2 actions"},
		"of another agent": {func(_ *ports.UsageLine, p *ports.AgentPaymentLine) { p.Transaction.Agent = other },
			audit.RuleAgentActions, "is " + other.String()},
		"of no agent": {func(_ *ports.UsageLine, p *ports.AgentPaymentLine) { p.Transaction.Agent = ident.Agent{} },
			audit.RuleAgentActions, "is none"},
		"not counted": {func(_ *ports.UsageLine, p *ports.AgentPaymentLine) { p.Transaction.Started = false },
			audit.RuleAgentActions, "does not count"},
		"of another customer": {func(_ *ports.UsageLine, p *ports.AgentPaymentLine) { p.Transaction.Customer = ident.Customer{} },
			audit.RuleAgentActions, "another customer"},
		"of a quote, unlike it": {func(_ *ports.UsageLine, p *ports.AgentPaymentLine) { p.Transaction.Quote = q }, audit.RuleAgentActions,
			"not that of its quote"},
		"another amount": {func(_ *ports.UsageLine, p *ports.AgentPaymentLine) { p.Transaction.Sent.Minor = 6 },
			audit.RuleAgentActions, "a transfer of 0.05 USD, and its transaction " + tx.String() + " has sent 0.06 USD"},
	} {
		stored := storedAgents{usage: usage, payment: payment}
		c.edit(&stored.usage, &stored.payment)
		report, err := env.newService(nil, func(s *sources) { s.AgentAudit, s.since.Counters = stored, "2025-11-20" }).Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range report.Rules {
			if (r.Rule == audit.RuleAgentUsage || r.Rule == audit.RuleAgentActions) && r.Checked != 1 {
				t.Errorf("%s: checked %d for %q", name, r.Checked, r.Rule)
			}
		}
		if c.rule == audit.RuleAgentUsage { // the counter of a limit is checked alike
			report.Findings = slices.DeleteFunc(report.Findings, func(f audit.Finding) bool {
				return f.Rule == audit.RuleLimitUsage && strings.Contains(f.Message, c.want)
			})
			if len(report.Findings) != 1 {
				t.Errorf("%s: %v", name, report.Findings)
			}
		}
		if c.want == "" && !report.Clean() || c.want != "" && (len(report.Findings) != 1 || report.Findings[0].Rule != c.rule ||
			!strings.Contains(report.Findings[0].Message, c.want)) {
			t.Errorf("%s: %v, want %q", name, report.Findings, c.want)
		}
	}
	failing := errors.New("connection lost")
	broken := storedAgents{usage: usage, payment: payment, err: failing}
	if _, err := env.newService(nil, func(s *sources) { s.AgentAudit = broken }).Check(t.Context()); !errors.Is(err, failing) {
		t.Errorf("lost connection: %v", err)
	}
}
