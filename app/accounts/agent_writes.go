package accounts

import (
	"context"

	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// CreateForAgent registers an account of the customer of an agent, if the policy allows it, and records that it
// asked for it. Faults: those of Create; FORBIDDEN with all reasons if the policy refuses; UNAUTHORIZED if the agent
// was deleted meanwhile.
func (s *Service) CreateForAgent(ctx context.Context, caller platform.Principal, request *ports.IdempotentRequest,
	r Request) (account.External, error) {
	if r.Customer.IsZero() {
		r.Customer = caller.Customer
	}
	if r.Customer != caller.Customer {
		return account.External{}, fault.New(fault.UserNotFound, "There is no customer %s.", r.Customer)
	}
	created, beneficiaries, err := s.newAccount(ctx, caller, r)
	if err != nil {
		return account.External{}, err
	}
	now, err := s.evaluate(ctx, caller)
	if err != nil {
		return account.External{}, err
	}
	var unverified error
	if now.Decision == agent.Allowed { // otherwise its beneficiary is none of the agent's business
		created, unverified = verify(ctx, beneficiaries, created)
	}
	if f, ok := fault.As(unverified); unverified != nil && (!ok || f.Code.Temporary()) {
		return account.External{}, unverified
	}
	attempt := accountAttempt{caller: caller, request: request, operation: agent.OpCreateExternalAccount, account: created.ID,
		result: created, evaluation: now,
		run: func(ctx context.Context, tx Tx) error { return tx.CreateExternalAccount(ctx, created) }}
	err = s.attempt(ctx, attempt, unverified)
	if fault.Is(err, fault.Conflict) { // nothing of that unit of work is stored
		err = s.attempt(ctx, attempt, err)
	}
	if err != nil {
		return account.External{}, err
	}
	return created, nil
}

// DeleteForAgent deletes an account of the customer of an agent, if the policy allows it, and records that it asked
// for it. Faults: EXTERNAL_ACCOUNT_NOT_FOUND; FORBIDDEN with all reasons if the policy refuses; UNAUTHORIZED if the
// agent was deleted meanwhile.
func (s *Service) DeleteForAgent(ctx context.Context, caller platform.Principal, id ident.ExternalAccount) error {
	if _, err := s.GetForAgent(ctx, caller, id); err != nil {
		return err
	}
	return s.attempt(ctx, accountAttempt{caller: caller, operation: agent.OpDeleteExternalAccount, account: id,
		run: func(ctx context.Context, tx Tx) error {
			return s.delete(ctx, tx, caller.Platform, id)
		}}, nil)
}

// evaluate returns what the policy of an agent says now about external accounts.
func (s *Service) evaluate(ctx context.Context, caller platform.Principal) (agent.Evaluation, error) {
	a, err := s.callingAgent(ctx, caller)
	return a.EvaluateAccounts(), err
}

// callingAgent returns the agent that calls, or UNAUTHORIZED if it was deleted since its token was checked.
func (s *Service) callingAgent(ctx context.Context, caller platform.Principal) (agent.Agent, error) {
	a, err := s.Store.Agent(ctx, caller.Platform, caller.Agent)
	if fault.Is(err, fault.AgentNotFound) {
		err = agent.InvalidToken()
	}
	return a, err
}

// accountAttempt is a change of an external account that an agent asks for.
type accountAttempt struct {
	caller    platform.Principal
	request   *ports.IdempotentRequest
	operation agent.Operation
	account   ident.ExternalAccount
	run       func(context.Context, Tx) error
	result    any // of run
	// evaluation is what the policy said before; one that refused is final.
	evaluation agent.Evaluation
}

// attempt runs what an agent asks for if its policy allows it and failed is nil, and records it, in one unit of work.
func (s *Service) attempt(ctx context.Context, a accountAttempt, failed error) error {
	var outcome error
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		now := s.Clock.Now()
		locked, err := tx.LockAgents(ctx, a.caller.Platform, []ident.Agent{a.caller.Agent}, agent.MonthOf(now))
		if err != nil {
			return err
		}
		asking, exists := locked[a.caller.Agent]
		if !exists {
			return agent.InvalidToken()
		}
		evaluation := a.evaluation
		if evaluation.Decision != agent.Refused {
			evaluation = asking.EvaluateAccounts()
		}
		entry := agent.Attempt{ID: ident.NewAgentAttempt(s.IDs.New, now), Platform: asking.Platform, Agent: asking.ID,
			Customer: asking.Customer, At: now,
			Operation: a.operation, Decision: evaluation.Decision, Reasons: evaluation.Reasons}
		if outcome = evaluation.Err(); outcome == nil {
			outcome = failed
			if f, ok := fault.As(failed); ok {
				entry.Error = f.Code
			}
		}
		if outcome == nil || a.operation == agent.OpDeleteExternalAccount { // else there is no such account
			entry.External = a.account
		}
		// The response is saved first, as in Create.
		if err := tx.SaveResponse(ctx, a.request, a.result, outcome); err != nil {
			return err
		}
		if outcome == nil {
			if err := a.run(ctx, tx); err != nil {
				return err
			}
		}
		return tx.SaveAgentAttempts(ctx, []agent.Attempt{entry})
	})
	if err != nil {
		return err
	}
	return outcome
}
