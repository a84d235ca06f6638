package ports

import (
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
)

// UsageLine is a counter, of an agent or of limits, and what its transactions say.
type UsageLine struct {
	Platform ident.Platform
	Agent    ident.Agent
	Scope    limit.Scope // of limits; empty for an agent, and for payments that count no more
	// Counted has the day and the currency. Exists is false if there is no such counter.
	Counted agent.Counter
	Exists  bool
	// Transactions and Spent are those of the transactions that count: which the agent has started or the limits were checked for, and
	// that are not given back.
	Transactions, Spent int64
	// Misflagged is one of its transactions that is given back and has not failed, or has failed and is not given
	// back; zero if there is none.
	Misflagged ident.Transaction
}

// AgentPaymentLine is an approved action and its transaction.
type AgentPaymentLine struct {
	Platform ident.Platform
	// Action is zero if an agent has started the transaction and no approved action has it.
	Action AuditedAction
	// Transaction is zero if there is none with the id in the action.
	Transaction AuditedAgentTransaction
}

// AuditedAction is what an approved action says about its payment.
type AuditedAction struct {
	ID          ident.AgentAction
	Agent       ident.Agent
	Customer    ident.Customer
	Quote       ident.Quote // zero for a transfer
	Transaction ident.Transaction
	// Amount is that of a transfer; zero for a quote.
	Amount money.Amount
	// Sharing is the number of actions with this transaction.
	Sharing int
}

// AuditedAgentTransaction is what a transaction says about its agent.
type AuditedAgentTransaction struct {
	ID       ident.Transaction
	Agent    ident.Agent
	Customer ident.Customer
	Quote    ident.Quote
	// Started reports whether the agent has started it, so that it counts towards its limits.
	Started bool
	Sent    money.Amount
}
