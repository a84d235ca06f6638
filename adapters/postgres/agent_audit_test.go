package postgres_test

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// auditAgents returns every line of the audit of agents, in the order of the platforms, agents and days.
func (c *env) auditAgents(t *testing.T) (usage []ports.UsageLine, payments []ports.AgentPaymentLine) {
	t.Helper()
	err := errors.Join(
		c.EachAgentUsage(t.Context(), ident.Platform{}, func(l ports.UsageLine) error { usage = append(usage, l); return nil }),
		c.EachAgentPayment(t.Context(), ident.Platform{}, func(l ports.AgentPaymentLine) error { payments = append(payments, l); return nil }))
	if err != nil {
		t.Fatal(err)
	}
	return usage, payments
}

// approved returns the action of a payment, for its transfer or for its quote.
func approved(a agent.Agent, p transaction.Transaction) agent.Action {
	action := newTransferAction(a)
	action.Status, action.Transaction, action.Transfer.Amount = agent.ActionApproved, p.ID, p.Pricing.Sent
	if !p.Quote.IsZero() {
		action.Type, action.Transfer, action.Quote = agent.ExecuteQuote, nil, p.Quote
	}
	return action
}

func TestAgentAudit_WhatIsStored(t *testing.T) {
	t.Parallel()
	// An audit reads every counter with what the transactions say, and every approved action with its
	// transaction, also of agents that are deleted. What an agent has not started is in neither.
	c := newEnv(t)
	_, a := c.newAgentOf(t, "ana")
	_, b := c.newAgentOf(t, "bob")
	one, two, failed, quoted, others := newAgentPayment(a), newAgentPayment(a), newAgentPayment(a), newAgentPayment(a), newAgentPayment(b)
	one.Quote, two.Pricing.Sent = ident.NewQuote(generator.New, noon), money.Amount{Minor: 9, Currency: "EUR"}
	actions := []agent.Action{approved(a, one), approved(a, two), approved(a, failed), approved(b, others)}
	c.start(t, one, two, failed, others)
	quoted.AgentUsage, quoted.State = nil, transaction.Initial
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateAgentActions(ctx, append(actions, newAction(a))); err != nil {
			return err
		}
		if err := tx.CreateTransactions(ctx, []transaction.Transaction{quoted}); err != nil {
			return err
		}
		if err := tx.DeleteAgent(ctx, a.Platform, b.ID); err != nil {
			return err
		}
		return fail(ctx, tx, failed)
	})

	usage, payments := c.auditAgents(t)
	count := func(of ident.Platform) (counted int) {
		err := errors.Join(c.EachAgentUsage(t.Context(), of, func(ports.UsageLine) error { counted++; return nil }),
			c.EachAgentPayment(t.Context(), of, func(ports.AgentPaymentLine) error { counted++; return nil }))
		if err != nil {
			t.Fatal(err)
		}
		return counted
	}
	if of, others := count(a.Platform), count(ident.NewPlatform(generator.New, noon)); of != len(usage)+len(payments) || others != 0 {
		t.Errorf("of the platform %d lines, of another %d", of, others)
	}

	line := func(a agent.Agent, currency money.Currency, n, spent int64) ports.UsageLine {
		return ports.UsageLine{Platform: a.Platform, Agent: a.ID, Counted: agent.Counter{Day: today, Currency: currency,
			Transactions: n, Spent: spent},
			Exists: true, Transactions: n, Spent: spent}
	}
	if want := []ports.UsageLine{line(a, "EUR", 1, 9), line(a, "USD", 1, 12_50), line(b, "USD", 1, 12_50)}; !reflect.DeepEqual(usage,
		want) {
		t.Errorf("usage %+v\nwant %+v", usage, want)
	}
	var want []ports.AgentPaymentLine
	for i, p := range []transaction.Transaction{one, two, failed, others} {
		l := ports.AgentPaymentLine{Platform: p.Platform,
			Action: ports.AuditedAction{ID: actions[i].ID, Agent: p.Agent, Customer: p.Customer, Quote: p.Quote, Transaction: p.ID,
				Amount: p.Pricing.Sent, Sharing: 1},
			Transaction: ports.AuditedAgentTransaction{ID: p.ID, Agent: p.Agent, Customer: p.Customer, Quote: p.Quote, Started: true,
				Sent: p.Pricing.Sent}}
		if !p.Quote.IsZero() {
			l.Action.Amount = money.Amount{}
		}
		want = append(want, l)
	}
	if !reflect.DeepEqual(payments, want) {
		t.Errorf("payments %+v\nwant %+v", payments, want)
	}
}

func TestAgentAudit_ShowsDamage(t *testing.T) {
	t.Parallel()
	// Whatever is changed behind the back of the service is in the lines.
	for name, test := range map[string]struct {
		damage string // $1 is the transaction
		usage  func(*ports.UsageLine, transaction.Transaction)
		// payment is the change of the only line; lines is how many there then are, one unless it is set.
		payment func(*ports.AgentPaymentLine)
		lines   int
	}{
		"counter": {damage: "UPDATE agent_usage SET transactions = 3, spent = 4 WHERE $1::uuid IS NOT NULL",
			usage: func(l *ports.UsageLine, _ transaction.Transaction) {
				l.Counted.Transactions, l.Counted.Spent = 3, 4
			}},
		"no counter": {damage: "DELETE FROM agent_usage WHERE $1::uuid IS NOT NULL",
			usage: func(l *ports.UsageLine, _ transaction.Transaction) {
				l.Counted.Transactions, l.Counted.Spent, l.Exists = 0, 0, false
			}},
		"amount": {damage: "UPDATE transactions SET sent_minor = 7 WHERE id = $1",
			usage:   func(l *ports.UsageLine, _ transaction.Transaction) { l.Spent = 7 },
			payment: func(l *ports.AgentPaymentLine) { l.Transaction.Sent.Minor = 7 }},
		"flag": {damage: "UPDATE transactions SET usage_given_back = true WHERE id = $1",
			usage: func(l *ports.UsageLine, p transaction.Transaction) {
				l.Transactions, l.Spent, l.Misflagged = 0, 0, p.ID
			}},
		"agent of the action": {damage: "UPDATE agent_actions SET agent_id = transaction_id WHERE transaction_id = $1",
			payment: func(l *ports.AgentPaymentLine) {
				l.Action.Agent.SetUUID(l.Action.Transaction.UUID())
			}},
		"no transaction": {damage: "DELETE FROM transactions WHERE id = $1",
			usage:   func(l *ports.UsageLine, _ transaction.Transaction) { l.Transactions, l.Spent = 0, 0 },
			payment: func(l *ports.AgentPaymentLine) { l.Transaction = ports.AuditedAgentTransaction{} }},
		"no action": {damage: "DELETE FROM agent_actions WHERE transaction_id = $1",
			payment: func(l *ports.AgentPaymentLine) { l.Action = ports.AuditedAction{} }},
		"not approved": {damage: "UPDATE agent_actions SET status = 'REJECTED', transaction_id = NULL WHERE transaction_id = $1",
			payment: func(l *ports.AgentPaymentLine) { l.Action = ports.AuditedAction{} }},
		"two actions": {
			damage: `WITH copied AS (INSERT INTO agent_actions SELECT platform_id, gen_random_uuid(), agent_id, customer_id, action_type, status, quote_id,
				internal_account_id, external_account_id, currency, amount, rail, signature, transaction_id, reason, failure_code, decided_by, decided_at, created_at, updated_at
				FROM agent_actions WHERE transaction_id = $1 RETURNING 1) SELECT * FROM copied`,
			payment: func(l *ports.AgentPaymentLine) { l.Action.Sharing = 2 }, lines: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newEnv(t)
			_, a := c.newAgentOf(t, "ana")
			payment := newAgentPayment(a)
			c.start(t, payment)
			c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
				return tx.CreateAgentActions(ctx, []agent.Action{approved(a, payment)})
			})
			usage, payments := c.auditAgents(t)
			pgtest.ExecAsSuperuser(t, c.url, "DROP INDEX agent_action_transaction_unique")

			exec(t, connect(t, c.url), test.damage, payment.ID.UUID())

			if test.usage != nil {
				test.usage(&usage[0], payment)
			}
			if test.payment != nil {
				test.payment(&payments[0])
			}
			gotUsage, gotPayments := c.auditAgents(t)
			if test.lines > 0 && len(gotPayments) == test.lines { // those of the copies are alike
				gotPayments = gotPayments[:1]
				gotPayments[0].Action.ID = payments[0].Action.ID
			}
			if !reflect.DeepEqual(gotUsage, usage) || !reflect.DeepEqual(gotPayments, payments) {
				t.Errorf("usage %+v, want %+v\npayments %+v, want %+v", gotUsage, usage, gotPayments, payments)
			}
		})
	}
}

func TestAgentAudit_ReadsAllBatches(t *testing.T) {
	t.Parallel()
	// More agents and payments than a batch, of two platforms, are each read once, and an error of the caller
	// ends the reading.
	c := newEnv(t)
	const agents, payments = 250, 1001
	started := map[ident.Transaction]bool{}
	for _, p := range []ident.Platform{c.platform.ID, c.otherPlatform.ID} {
		var all []transaction.Transaction
		for i := range payments {
			a := agent.Agent{Platform: p, Customer: ident.NewCustomer(generator.New, noon)}
			a.ID.SetUUID(uuid.UUID{0: byte(i % agents), 6: 0x70, 15: 1})
			all = append(all, newAgentPayment(a))
			started[all[i].ID] = true
		}
		c.start(t, all...)
		var actions []agent.Action
		for _, t := range all[:payments-1] {
			actions = append(actions, approved(agent.Agent{ID: t.Agent, Platform: p, Customer: t.Customer}, t))
		}
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateAgentActions(ctx, actions) })
	}

	usage, lines := c.auditAgents(t)

	var sum int64
	for _, l := range usage {
		sum += l.Transactions
	}
	ordered := slices.IsSortedFunc(usage, func(a, b ports.UsageLine) int {
		return cmp.Or(a.Platform.Compare(b.Platform), a.Agent.Compare(b.Agent))
	})
	if len(usage) != 2*agents || sum != 2*payments || !ordered {
		t.Errorf("%d lines of %d payments, ordered: %t", len(usage), sum, ordered)
	}
	alone := 0
	for _, l := range lines {
		if !started[l.Transaction.ID] {
			t.Fatalf("%s is read twice", l.Transaction.ID)
		}
		delete(started, l.Transaction.ID)
		if l.Action.ID.IsZero() {
			alone++
		}
	}
	if len(started) != 0 || alone != 2 {
		t.Errorf("%d payments are not read, %d have no action", len(started), alone)
	}
	stop := errors.New("stop")
	calls := 0
	if err := c.EachAgentUsage(t.Context(), ident.Platform{}, func(ports.UsageLine) error { calls++; return stop }); !errors.Is(err,
		stop) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if err := c.EachAgentPayment(t.Context(), ident.Platform{}, func(ports.AgentPaymentLine) error { calls++; return stop }); !errors.Is(err,
		stop) || calls != 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
