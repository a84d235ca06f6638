package ports

import (
	"context"

	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/transaction"
)

// AgentPaymentWriter changes what agents do: their usage, actions and audit trail.
type AgentPaymentWriter interface {
	// LockAgents returns agents of a platform with their counters of a month ("2026-03") and the number of actions that
	// wait, and locks the agents in one order, so that no other payment of them, and no change of their policy, is decided until the end of
	// the unit of
	// work. What does not exist is omitted.
	LockAgents(ctx context.Context, p ident.Platform, ids []ident.Agent, month string) (map[ident.Agent]CountedAgent, error)
	// AddAgentUsage counts payments that start now, of locked agents.
	AddAgentUsage(ctx context.Context, p ident.Platform, counted []AgentCount) error
	// GiveBackAgentUsage takes locked transactions out of the counters if their AgentUsage is given back and the
	// stored one is not. It comes before UpdateTransactions, which stores that.
	GiveBackAgentUsage(ctx context.Context, transactions []transaction.Transaction) error
	// CreateAgentActions stores actions. One whose id exists already, from a repeated attempt, is skipped.
	CreateAgentActions(ctx context.Context, actions []agent.Action) error
	// LockAgentActions returns actions of a platform, and locks them in one order. What does not exist is omitted.
	LockAgentActions(ctx context.Context, p ident.Platform, ids []ident.AgentAction) (map[ident.AgentAction]agent.Action, error)
	// LockWaitingAgentActions returns the actions of a platform that wait for approval to execute quotes, at most one
	// for each quote, and locks them in one order.
	LockWaitingAgentActions(ctx context.Context, p ident.Platform, quotes []ident.Quote) (map[ident.Quote]agent.Action, error)
	// UpdateAgentActions writes what can change of locked actions.
	UpdateAgentActions(ctx context.Context, actions []agent.Action) error
	// SaveAgentAttempts adds entries to the audit trail. One whose id exists already is skipped.
	SaveAgentAttempts(ctx context.Context, attempts []agent.Attempt) error
}

// AgentPaymentReader reads what agents did.
type AgentPaymentReader interface {
	// AgentCounters returns the counters of agents in a month ("2026-03"). Agents without any are omitted.
	AgentCounters(ctx context.Context, p ident.Platform, ids []ident.Agent, month string) (map[ident.Agent]agent.Counters, error)
	// AgentAction returns an action, or AGENT_ACTION_NOT_FOUND.
	AgentAction(ctx context.Context, p ident.Platform, id ident.AgentAction) (agent.Action, error)
	AgentActions(ctx context.Context, p ident.Platform, f AgentActionFilter) (Page[agent.Action], error)
	// QuotesByKey returns quotes with their transactions. What does not exist is omitted.
	QuotesByKey(ctx context.Context, keys []QuoteKey) (map[QuoteKey]QuoteState, error)
	// AgentAttempts returns entries of the audit trail.
	AgentAttempts(ctx context.Context, p ident.Platform, f AgentAttemptFilter) (Page[agent.Attempt], error)
}

// CountedAgent is an agent with its counters of a month.
type CountedAgent struct {
	agent.Agent
	Counters agent.Counters
	// Waiting is the number of its actions that wait for approval; agent.MaxWaiting also if there are more.
	Waiting int
}

// AgentCount is what is added to a counter of an agent.
type AgentCount struct {
	Agent ident.Agent
	agent.Counter
}

// AgentActionFilter selects actions; zero fields match all.
type AgentActionFilter struct {
	Paging
	Agent    ident.Agent
	Customer ident.Customer
	Status   agent.ActionStatus
	Created  period.Interval
}

// AgentAttemptFilter selects entries of the audit trail; zero fields match all.
type AgentAttemptFilter struct {
	Paging
	Agent       ident.Agent
	Transaction ident.Transaction
	// Action selects the entries about an action from before it had a transaction.
	Action   ident.AgentAction
	Decision agent.Decision
	At       period.Interval
}
