package audit

import (
	"context"
	"fmt"

	"causeway/core/ident"
	"causeway/ports"
)

// checkAgents checks the counters and the approved actions of agents. Each is read with its transactions at once,
// so payments that run meanwhile are no violations.
func (c *run) checkAgents(ctx context.Context) error {
	err := c.store.EachAgentUsage(ctx, c.only, func(l ports.UsageLine) error {
		c.report.countChecked(RuleAgentUsage)
		if err := c.checkUsage(l); err != nil {
			c.report.addFinding(RuleAgentUsage, "%s on %s, %s in %s: %v", l.Agent, l.Platform, l.Counted.Day, l.Counted.Currency, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check usage of agents: %w", err)
	}
	err = c.store.EachAgentPayment(ctx, c.only, func(l ports.AgentPaymentLine) error {
		c.report.countChecked(RuleAgentActions)
		if err := checkAgentPayment(l.Action, l.Transaction); err != nil {
			c.report.addFinding(RuleAgentActions, "%s on %s: %v", nameAgentPayment(l), l.Platform, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check actions of agents: %w", err)
	}
	return nil
}

// checkLimits checks the counters of limits, as those of agents.
func (c *run) checkLimits(ctx context.Context) error {
	err := c.store.EachLimitUsage(ctx, c.only, func(l ports.UsageLine) error {
		c.report.countChecked(RuleLimitUsage)
		if err := c.checkUsage(l); err != nil {
			c.report.addFinding(RuleLimitUsage, "%s of %s on %s in %s: %v", l.Scope, l.Platform, l.Counted.Day, l.Counted.Currency, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check usage of limits: %w", err)
	}
	return nil
}

func (c *run) checkUsage(l ports.UsageLine) error {
	counted := l.Counted
	switch {
	case !l.Misflagged.IsZero():
		return fmt.Errorf("whether %s counts does not match its status", l.Misflagged)
	case !l.Exists && (l.Transactions == 0 || counted.Day < c.since.Counters):
		return nil
	case !l.Exists:
		return fmt.Errorf("there is no counter, and %d transactions have sent %d", l.Transactions, l.Spent)
	case counted.Transactions != l.Transactions || counted.Spent != l.Spent:
		return fmt.Errorf("%d transactions and %d are counted, and %d transactions have sent %d", counted.Transactions, counted.Spent,
			l.Transactions, l.Spent)
	}
	return nil
}

func checkAgentPayment(a ports.AuditedAction, t ports.AuditedAgentTransaction) error {
	switch {
	case a.ID.IsZero():
		return fmt.Errorf("%s has started it, and no approved action has it", t.Agent)
	case t.ID.IsZero():
		return fmt.Errorf("its transaction %s does not exist", a.Transaction)
	case a.Sharing > 1:
		return fmt.Errorf("its transaction %s belongs to %d actions", a.Transaction, a.Sharing)
	case t.Agent != a.Agent:
		return fmt.Errorf("its agent is %s, and that of its transaction %s is %s", a.Agent, t.ID, agentOrNone(t.Agent))
	case !t.Started:
		return fmt.Errorf("its transaction %s does not count for the agent", t.ID)
	case t.Customer != a.Customer:
		return fmt.Errorf("its transaction %s is of another customer", t.ID)
	case t.Quote != a.Quote:
		return fmt.Errorf("its transaction %s is not that of its quote", t.ID)
	case a.Quote.IsZero() && t.Sent != a.Amount:
		return fmt.Errorf("it is a transfer of %s, and its transaction %s has sent %s", a.Amount, t.ID, t.Sent)
	}
	return nil
}

func agentOrNone(a ident.Agent) string {
	if a.IsZero() {
		return "none"
	}
	return a.String()
}

func nameAgentPayment(l ports.AgentPaymentLine) string {
	if l.Action.ID.IsZero() {
		return l.Transaction.ID.String()
	}
	return l.Action.ID.String()
}
