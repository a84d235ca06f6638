package payments_test

import (
	"context"
	"testing"

	"causeway/adapters/postgres"
	"causeway/app/internal/audittest"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// agentEnv is an environment with an agent of Customer, which may do everything with up to 1000 dollars at once.
type agentEnv struct {
	*env
	t      *testing.T
	agent  agent.Agent
	caller platform.Principal
	// from is an account of Customer with 10,000 dollars, bank a bank account in dollars, and wallet one in bitcoin.
	from         account.Internal
	bank, wallet account.External
}

func newAgentEnv(t *testing.T, e *env, edits ...func(*agent.Policy)) *agentEnv {
	t.Helper()
	a := &agentEnv{env: e, t: t, from: e.account(e.Customer.ID, "USD", 10_000_00), bank: e.NewBankAccount("123456789"),
		wallet: e.NewWallet("spark1good")}
	a.agent, a.caller = a.newAgent(e.Customer.ID, edits...)
	return a
}

// newAgent stores another agent of a customer.
func (e *agentEnv) newAgent(owner ident.Customer, edits ...func(*agent.Policy)) (agent.Agent, platform.Principal) {
	e.t.Helper()
	now := e.Clock.Now()
	a := agent.Agent{ID: ident.NewAgent(e.IDs.New, now), Platform: e.Platform.ID, Customer: owner, Name: "Shopping assistant",
		CreatedAt: now, UpdatedAt: now,
		Policy: agent.Policy{Permissions: agent.Permissions, DefaultMode: agent.Auto, Limits: agent.SpendingLimits{Currency: "USD",
			PerTransaction: 1000_00}}}
	for _, edit := range edits {
		edit(&a.Policy)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateAgent(ctx, a) })
	return a, platform.Principal{Platform: e.Platform.ID, Environment: platform.Sandbox, Agent: a.ID, Customer: owner}
}

// change changes the agent as the platform does.
func (e *agentEnv) change(edit func(*agent.Agent)) {
	e.t.Helper()
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		locked, err := tx.LockAgent(ctx, e.Platform.ID, e.agent.ID)
		if err != nil {
			return err
		}
		edit(&locked)
		return tx.UpdateAgent(ctx, locked)
	})
}

func requireApproval(p *agent.Policy) { p.DefaultMode = agent.ApprovalRequired }

func (e *agentEnv) out(minor int64) transaction.TransferOut {
	return transaction.TransferOut{From: e.from.ID, To: e.bank.ID, Amount: minor}
}

func (e *agentEnv) in(minor int64) transaction.TransferIn {
	return transaction.TransferIn{From: e.bank.ID, To: e.from.ID, Amount: minor}
}

// quoteRequest asks to send minor dollars from the account to a wallet.
func (e *agentEnv) quoteRequest(minor int64) quote.Request {
	return quote.Request{Source: quote.Source{Internal: e.from.ID}, Destination: quote.Destination{External: e.wallet.ID},
		Side: quote.Sending, Amount: minor}
}

func (e *agentEnv) agentQuote(minor int64) quote.Quote {
	e.t.Helper()
	created, err := e.CreateAgentQuote(e.t.Context(), e.caller, e.quoteRequest(minor), nil)
	if err != nil {
		e.t.Fatal(err)
	}
	return created.Quote
}

// usage returns what the agent has spent in the month of now, which must be in dollars.
func (e *agentEnv) usage() (sum agent.Counter) {
	e.t.Helper()
	found, err := e.Store.AgentCounters(e.t.Context(), e.Platform.ID, []ident.Agent{e.agent.ID}, agent.MonthOf(e.Clock.Now()))
	if err != nil {
		e.t.Fatal(err)
	}
	for _, c := range found[e.agent.ID] {
		sum.Transactions, sum.Spent = sum.Transactions+c.Transactions, sum.Spent+c.Spent
		if c.Currency != "USD" {
			e.t.Errorf("counted %+v", c)
		}
	}
	return sum
}

// wantUsage compares what the agent has spent in the month of now, and checks that all counters, actions and
// transactions of agents agree.
func (e *agentEnv) wantUsage(transactions, spent int64) {
	e.t.Helper()
	if got := e.usage(); got.Transactions != transactions || got.Spent != spent {
		e.t.Errorf("the agent has spent %d in %d transactions, want %d in %d", got.Spent, got.Transactions, spent, transactions)
	}
	for _, f := range audittest.Check(e.t, e.Env).Findings {
		e.t.Error(f)
	}
}

// trail returns the trail of the agent, oldest first, each entry as "operation decision error".
func (e *agentEnv) trail() (entries []agent.Attempt, lines []string) {
	e.t.Helper()
	page, err := e.Store.AgentAttempts(e.t.Context(), e.Platform.ID, ports.AgentAttemptFilter{Agent: e.agent.ID,
		Paging: ports.Paging{Limit: 100, Ascending: true}})
	if err != nil {
		e.t.Fatal(err)
	}
	for _, a := range page.Items {
		line := string(a.Operation) + " " + string(a.Decision)
		if a.Error != "" {
			line += " " + string(a.Error)
		}
		lines = append(lines, line)
	}
	return page.Items, lines
}

var dollarsOf = func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
