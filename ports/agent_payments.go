package ports

import (
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/period"
)

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
