package payments

import (
	"context"
	"slices"
	"time"

	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// CreateAgentQuote creates a quote for an agent, from and to accounts of its customer. Faults: those of CreateQuote,
// as if nothing but what is the customer's existed; FORBIDDEN with all reasons if the policy refuses; UNAUTHORIZED if
// the agent was deleted meanwhile.
func (s *Service) CreateAgentQuote(ctx context.Context, caller platform.Principal, r quote.Request,
	claim *ports.IdempotentRequest) (quote.WithStatus, error) {
	r.Platform, r.Agent, r.Owner = caller.Platform, caller.Agent, caller.Customer
	command, err := s.newQuoteCommand(ctx, r, claim)
	if err != nil {
		return quote.WithStatus{}, err
	}
	command.attempt = ident.NewAgentAttempt(s.IDs.New, s.Clock.Now())
	return s.runQuote(ctx, s.agentQuoteBatcher, command)
}

// AgentQuote returns a quote that the agent has created, or QUOTE_NOT_FOUND.
func (s *Service) AgentQuote(ctx context.Context, caller platform.Principal, id ident.Quote) (quote.WithStatus, error) {
	found, t, err := s.Store.Quote(ctx, caller.Platform, id)
	if err == nil && t.Agent != caller.Agent {
		err = fault.New(fault.QuoteNotFound, "There is no quote %s.", id)
	}
	if err != nil {
		return quote.WithStatus{}, err
	}
	return found.Of(t), nil
}

// lockQuotingAgents locks the agents that ask for quotes. It reads nothing if the platform does.
func lockQuotingAgents(ctx context.Context, tx Tx, commands []*quoteCommand,
	now time.Time) (map[ident.Agent]ports.CountedAgent, error) {
	var ids []ident.Agent
	for _, c := range commands {
		if !c.request.Agent.IsZero() && !slices.Contains(ids, c.request.Agent) {
			ids = append(ids, c.request.Agent)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return tx.LockAgents(ctx, commands[0].request.Platform, ids, agent.MonthOf(now))
}

// evaluate adds what the policy says to what was decided about a quote that an agent asks for, and records it. err
// is why there is no quote, or nil.
func (c *quoteCommand) evaluate(agents map[ident.Agent]ports.CountedAgent, t transaction.Transaction, err error,
	writes *quoteWrites) error {
	r := c.request
	a, exists := agents[r.Agent]
	switch {
	case !exists:
		return agent.InvalidToken()
	case isUnrecorded(err):
		return err
	}
	evaluation := a.EvaluateQuote(r.Source.Internal, !r.Source.External.IsZero())
	entry := agent.Attempt{ID: c.attempt, Platform: r.Platform, Agent: a.ID, Customer: a.Customer, At: writes.now,
		Operation: agent.OpCreateQuote,
		Decision:  evaluation.Decision, Reasons: evaluation.Reasons, Internal: r.Source.Internal, External: r.Destination.External}
	if entry.Internal.IsZero() {
		entry.Internal = r.Destination.Internal
	}
	if entry.External.IsZero() {
		entry.External = r.Source.External
	}
	switch refused := evaluation.Err(); {
	case refused != nil:
		err = refused
	case err != nil:
		if f, ok := fault.As(err); ok {
			entry.Error = f.Code
		}
	default:
		entry.Quote, entry.Transaction, entry.Amount = t.Quote, t.ID, t.Pricing.Sent
	}
	writes.attempts = append(writes.attempts, entry)
	return err
}
