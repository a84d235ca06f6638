package payments

import (
	"context"

	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// AgentAction returns an action, of any agent of the platform if by is zero, or AGENT_ACTION_NOT_FOUND.
func (s *Service) AgentAction(ctx context.Context, p ident.Platform, by ident.Agent, id ident.AgentAction) (AgentAction, error) {
	found, err := s.Store.AgentAction(ctx, p, id)
	if err == nil && !by.IsZero() && found.Agent != by {
		err = agent.ActionNotFound(id)
	}
	if err != nil {
		return AgentAction{}, err
	}
	views, err := s.withPayments(ctx, []agent.Action{found})
	if err != nil {
		return AgentAction{}, err
	}
	return views[0], nil
}

// AgentActions returns the actions that match the filter.
func (s *Service) AgentActions(ctx context.Context, p ident.Platform, f ports.AgentActionFilter) (ports.Page[AgentAction], error) {
	found, err := s.Store.AgentActions(ctx, p, f)
	if err != nil {
		return ports.Page[AgentAction]{}, err
	}
	items, err := s.withPayments(ctx, found.Items)
	return ports.Page[AgentAction]{Items: items, More: found.More, Total: found.Total, TotalIsMinimum: found.TotalIsMinimum}, err
}

// withPayments reads the quotes and the transactions of actions, with one query each.
func (s *Service) withPayments(ctx context.Context, actions []agent.Action) ([]AgentAction, error) {
	var quoteKeys []ports.QuoteKey
	var transactionKeys []ports.TransactionKey
	for _, a := range actions {
		switch {
		case !a.Quote.IsZero():
			quoteKeys = append(quoteKeys, ports.QuoteKey{Platform: a.Platform, ID: a.Quote})
		case !a.Transaction.IsZero():
			transactionKeys = append(transactionKeys, ports.TransactionKey{Platform: a.Platform, ID: a.Transaction})
		}
	}
	views := make([]AgentAction, len(actions))
	for i, a := range actions {
		views[i].Action = a
	}
	if len(quoteKeys) > 0 {
		states, err := s.Store.QuotesByKey(ctx, quoteKeys)
		if err != nil {
			return nil, err
		}
		for i, a := range actions {
			if state, exists := states[ports.QuoteKey{Platform: a.Platform, ID: a.Quote}]; exists {
				views[i].Quote = new(state.Quote.Of(state.Transaction))
				if !a.Transaction.IsZero() {
					views[i].Transaction = &state.Transaction
				}
			}
		}
	}
	if len(transactionKeys) > 0 {
		transactions, err := s.Store.TransactionsByKey(ctx, transactionKeys) // transfers have no payment instructions
		if err != nil {
			return nil, err
		}
		for i, a := range actions {
			if t, exists := transactions[ports.TransactionKey{Platform: a.Platform, ID: a.Transaction}]; exists {
				views[i].Transaction = &t
			}
		}
	}
	return views, nil
}

// RejectAgentAction rejects an action that waits; reason may be empty. Faults: AGENT_ACTION_NOT_FOUND,
// ACTION_NOT_PENDING_APPROVAL, INVALID_INPUT.
func (s *Service) RejectAgentAction(ctx context.Context, by platform.Principal, a ident.Agent, id ident.AgentAction, reason string,
	claim *ports.IdempotentRequest) (AgentAction, error) {
	view, err := s.AgentAction(ctx, by.Platform, a, id)
	if err != nil {
		return AgentAction{}, err
	}
	now := s.Clock.Now()
	entry := agent.Attempt{ID: ident.NewAgentAttempt(s.IDs.New, now), Platform: by.Platform, Agent: a, Customer: view.Customer, At: now,
		Operation: agent.OpReject, Decision: agent.Refused, Quote: view.Action.Quote, Action: id, Token: by.Token}
	switch {
	case view.Transfer != nil:
		entry.Internal, entry.External, entry.Amount = view.Transfer.Internal, view.Transfer.External, view.Transfer.Amount
	case view.Quote != nil:
		entry.Transaction, entry.Amount = view.Quote.Quote.Transaction, view.Quote.Quote.Pricing.Sent
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		locked, err := tx.LockAgentActions(ctx, by.Platform, []ident.AgentAction{id})
		if err != nil {
			return err
		}
		if view.Action, err = locked[id].Reject(reason, by.Token, now); err != nil {
			return err
		}
		if err := tx.SaveResponse(ctx, claim, view, nil); err != nil {
			return err
		}
		if err := tx.UpdateAgentActions(ctx, []agent.Action{view.Action}); err != nil {
			return err
		}
		return tx.SaveAgentAttempts(ctx, []agent.Attempt{entry})
	})
	if err != nil {
		return AgentAction{}, err
	}
	return view, nil
}
