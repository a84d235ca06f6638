package payments

import (
	"time"

	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
)

// record adds an entry to the trail of an agent; err is why the payment has not started, if it has not.
func (r *agentRun) record(c *agentCommand, a agent.Agent, asked askedPayment, operation agent.Operation, action agent.Action, err error) {
	entry := c.newAttempt(a, operation, r.Now)
	entry.Decision, entry.Reasons, entry.Amount = asked.evaluation.Decision, asked.evaluation.Reasons, asked.payment.Amount
	entry.Token, entry.Transaction = c.approver, action.Transaction
	if state, exists := r.quotes[c.execution.quote]; exists {
		entry.Transaction = state.Transaction.ID
	}
	if entry.Decision == "" { // what it names does not exist any more
		entry.Decision = agent.Refused
	}
	if f, ok := fault.As(err); ok && (asked.evaluation.Err() == nil || asked.stateErr != nil) {
		entry.Error = f.Code
	}
	if err == nil || c.approves() {
		entry.Action = action.ID
	}
	if c.recorded.Decision != "" && (c.recorded.Decision != entry.Decision || c.recorded.Error != entry.Error) {
		c.attempt = ident.NewAgentAttempt(r.service.IDs.New, r.Now) // the last one may be committed, with another outcome
		entry.ID = c.attempt
	}
	c.recorded = entry
	r.attempts = append(r.attempts, entry)
}

// recordForeignQuote records that an agent wanted to execute a quote that is not its own, and exists.
func (r *agentRun) recordForeignQuote(c *agentCommand, a agent.Agent, err error) {
	if _, exists := r.quotes[c.execution.quote]; !exists || !fault.Is(err, fault.QuoteNotFound) {
		return
	}
	entry := c.newAttempt(a, agent.OpExecuteQuote, r.Now)
	entry.Decision, entry.Error = agent.Refused, fault.QuoteNotFound
	r.attempts = append(r.attempts, entry)
}

// newAttempt returns an entry that has no decision yet.
func (c *agentCommand) newAttempt(a agent.Agent, operation agent.Operation, now time.Time) agent.Attempt {
	entry := agent.Attempt{ID: c.attempt, Platform: c.platform, Agent: a.ID, Customer: a.Customer, At: now, Operation: operation,
		Quote: c.request.Quote}
	switch {
	case c.request.Out != nil:
		entry.Internal, entry.External = c.request.Out.From, c.request.Out.To
	case c.request.In != nil:
		entry.Internal, entry.External = c.request.In.To, c.request.In.From
	}
	return entry
}
