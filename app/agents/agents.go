// Package agents manages the agents of customers: the platform creates them with a policy, a program is paired
// with each by a device code, and what they did can be read.
//
// It moves no money: payments of agents are in app/payments.
package agents

import (
	"context"
	"time"

	"causeway/app/internal/batch"
	"causeway/app/internal/prices"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// Config holds what the use cases need.
type Config struct {
	Store Store
	// Prices convert what agents have spent into the currencies of their limits.
	Prices *prices.Prices
	Clock  ports.Clock
	IDs    ports.IDs
}

// Service implements the use cases.
type Service struct {
	Config
	tokens *batch.Batcher[agent.TokenHash, *ports.AgentToken]
}

// New returns a Service.
func New(c Config) *Service { return &Service{Config: c, tokens: newTokenReader(c.Store)} }

// Created is a new agent and the code that pairs a program with it.
type Created struct {
	Agent agent.WithUsage
	Code  IssuedCode
}

// Create creates an agent of a customer, with a device code. The code is in the first response only: the
// response that is stored for a repeated request does not contain it. Faults: INVALID_INPUT with every invalid
// field, USER_NOT_FOUND, CUSTOMER_DELETED.
func (s *Service) Create(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest, r agent.Request) (
	Created, error) {
	accounts, err := s.accountsOf(ctx, p, r.Customer)
	if err != nil {
		return Created{}, err
	}
	code, hash, err := s.newCode(ctx)
	if err != nil {
		return Created{}, err
	}
	var created Created
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		now := s.Clock.Now()
		// The lock makes a concurrent deletion of the customer wait, so that it finds this agent.
		owner, err := tx.LockCustomer(ctx, p, r.Customer)
		if err != nil {
			return err
		}
		a, err := agent.New(r, owner, accounts, ident.NewAgent(s.IDs.New, now), now)
		if err != nil {
			return err
		}
		issued, err := a.IssueCode(hash, now)
		if err != nil {
			return err
		}
		usage, err := a.UsageAt(nil, now, nil) // nothing to convert yet
		if err != nil {
			return err
		}
		created = Created{agent.WithUsage{Agent: a, Usage: usage}, IssuedCode{DeviceCode: issued}}
		if err := tx.SaveResponse(ctx, request, created, nil); err != nil {
			return err
		}
		if err := tx.CreateAgent(ctx, a); err != nil {
			return err
		}
		if err := s.record(ctx, tx, p, by, platform.CreatedAgent, a.ID, agent.Changed(agent.Agent{}, a)); err != nil {
			return err
		}
		return tx.ReplaceDeviceCode(ctx, issued)
	})
	if err != nil {
		return Created{}, err
	}
	created.Code.Code = code
	if request != nil {
		request.Render(created, nil) // the response to this request has the code
	}
	return created, nil
}

// Get returns an agent with its usage. Faults: AGENT_NOT_FOUND; SERVICE_UNAVAILABLE if a market rate is missing.
func (s *Service) Get(ctx context.Context, p ident.Platform, id ident.Agent) (agent.WithUsage, error) {
	found, err := s.Store.Agent(ctx, p, id)
	if err != nil {
		return agent.WithUsage{}, err
	}
	return s.withUsage(ctx, found)
}

// Self returns the agent that calls, with its usage, or UNAUTHORIZED if it was deleted since its token was checked.
func (s *Service) Self(ctx context.Context, caller platform.Principal) (agent.WithUsage, error) {
	found, err := s.Get(ctx, caller.Platform, caller.Agent)
	if fault.Is(err, fault.AgentNotFound) {
		err = agent.InvalidToken()
	}
	return found, err
}

// List returns the agents that match the filter, with their usage.
func (s *Service) List(ctx context.Context, p ident.Platform, f ports.AgentFilter) (ports.Page[agent.WithUsage], error) {
	found, err := s.Store.Agents(ctx, p, f)
	if err != nil {
		return ports.Page[agent.WithUsage]{}, err
	}
	items, err := s.withUsages(ctx, p, found.Items)
	return ports.PageOf(items, found), err
}

// Update changes the name of an agent, or whether it is paused. Faults: AGENT_NOT_FOUND, INVALID_INPUT.
func (s *Service) Update(ctx context.Context, p ident.Platform, by platform.Author, id ident.Agent, change agent.Change) (agent.WithUsage,
	error) {
	return s.update(ctx, p, by, id, func(a agent.Agent) (agent.Agent, error) { return a.Update(change, s.Clock.Now()) })
}

// UpdatePolicy changes the policy of an agent, which is effective at its next request. Faults:
// AGENT_NOT_FOUND, INVALID_INPUT with every invalid field.
func (s *Service) UpdatePolicy(ctx context.Context, p ident.Platform, by platform.Author, id ident.Agent, change agent.PolicyChange) (
	agent.WithUsage, error) {
	found, err := s.Store.Agent(ctx, p, id)
	if err != nil {
		return agent.WithUsage{}, err
	}
	accounts, err := s.accountsOf(ctx, p, found.Customer) // only new ones can be added
	if err != nil {
		return agent.WithUsage{}, err
	}
	return s.update(ctx, p, by, id, func(a agent.Agent) (agent.Agent, error) { return a.UpdatePolicy(change, accounts, s.Clock.Now()) })
}

func (s *Service) update(ctx context.Context, p ident.Platform, by platform.Author, id ident.Agent,
	decide func(agent.Agent) (agent.Agent, error)) (agent.WithUsage, error) {
	var updated agent.Agent
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		locked, err := tx.LockAgent(ctx, p, id)
		if err != nil {
			return err
		}
		if updated, err = decide(locked); err != nil {
			return err
		}
		if err := tx.UpdateAgent(ctx, updated); err != nil {
			return err
		}
		changes := agent.Changed(locked, updated)
		if len(changes) == 0 {
			return nil
		}
		return s.record(ctx, tx, p, by, platform.UpdatedAgent, id, changes)
	})
	if err != nil {
		return agent.WithUsage{}, err
	}
	changed, err := s.withUsage(ctx, updated)
	if f, ok := fault.As(err); ok {
		err = &fault.Error{Code: f.Code, Reason: f.Reason, RetryAfter: f.RetryAfter, Message: "The agent was changed, and its usage cannot be " +
			"shown. " + f.Message}
	}
	return changed, err
}

// Delete deletes an agent. Its access token is refused from the next request on. Faults: AGENT_NOT_FOUND.
func (s *Service) Delete(ctx context.Context, p ident.Platform, by platform.Author, id ident.Agent) error {
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.DeleteAgent(ctx, p, id); err != nil {
			return err
		}
		return s.record(ctx, tx, p, by, platform.DeletedAgent, id, nil)
	})
}

// record records who has created, changed or deleted an agent.
func (s *Service) record(ctx context.Context, tx Tx, p ident.Platform, by platform.Author, kind platform.OperatorActionKind, id ident.Agent,
	changes []diff.Field) error {
	now := s.Clock.Now()
	return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(now), Platform: p, Kind: kind, Subject: id.UUID(),
		Name: id.String(), Actor: by.Name(), Person: by.Person, At: now, Changes: changes})
}

func (s *Service) accountsOf(ctx context.Context, p ident.Platform, id ident.Customer) ([]account.Internal, error) {
	found, err := s.Store.InternalAccountsOf(ctx, p, []ident.Customer{id})
	return found[id], err
}

func (s *Service) withUsage(ctx context.Context, a agent.Agent) (agent.WithUsage, error) {
	found, err := s.withUsages(ctx, a.Platform, []agent.Agent{a})
	if err != nil {
		return agent.WithUsage{}, err
	}
	return found[0], nil
}

// withUsages reads the counters of all agents with one query.
func (s *Service) withUsages(ctx context.Context, p ident.Platform, found []agent.Agent) ([]agent.WithUsage, error) {
	now := s.Clock.Now()
	counters, err := s.counters(ctx, p, found, now)
	if err != nil {
		return nil, err
	}
	convert := func(a money.Amount, to money.Currency) (money.Amount, error) { return s.Prices.Convert(ctx, a, to) }
	items := make([]agent.WithUsage, len(found))
	for i, a := range found {
		items[i].Agent = a
		if items[i].Usage, err = a.UsageAt(counters[a.ID], now, convert); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// counters returns what agents have sent in the month of a time.
func (s *Service) counters(ctx context.Context, p ident.Platform, found []agent.Agent, at time.Time) (map[ident.Agent]agent.Counters,
	error) {
	if len(found) == 0 {
		return nil, nil
	}
	ids := make([]ident.Agent, len(found))
	for i, a := range found {
		ids[i] = a.ID
	}
	return s.Store.AgentCounters(ctx, p, ids, agent.MonthOf(at))
}

// Activity is what operators see of an agent. It needs no market rates.
type Activity struct {
	agent.Agent
	// Counters are those of the month.
	Counters agent.Counters
	// Waiting are the first actions that wait for approval.
	Waiting ports.Page[agent.Action]
}

// Activity returns an agent with what it has sent this month, and what waits for approval. Fault: AGENT_NOT_FOUND.
func (s *Service) Activity(ctx context.Context, p ident.Platform, id ident.Agent) (Activity, error) {
	found, err := s.Store.Agent(ctx, p, id)
	if err != nil {
		return Activity{}, err
	}
	shown, err := s.activities(ctx, p, 100, found)
	if err != nil {
		return Activity{}, err
	}
	return shown[0], nil
}

// Activities returns the agents that match the filter, as Activity does, with one of the actions that wait and their number.
func (s *Service) Activities(ctx context.Context, p ident.Platform, f ports.AgentFilter) (ports.Page[Activity], error) {
	found, err := s.Store.Agents(ctx, p, f)
	if err != nil {
		return ports.Page[Activity]{}, err
	}
	items, err := s.activities(ctx, p, 1, found.Items...)
	return ports.PageOf(items, found), err
}

func (s *Service) activities(ctx context.Context, p ident.Platform, waiting int, found ...agent.Agent) ([]Activity, error) {
	counters, err := s.counters(ctx, p, found, s.Clock.Now())
	if err != nil {
		return nil, err
	}
	items := make([]Activity, len(found))
	for i, a := range found {
		items[i] = Activity{Agent: a, Counters: counters[a.ID]}
		items[i].Waiting, err = s.Store.AgentActions(ctx, p, ports.AgentActionFilter{Paging: ports.Paging{Limit: waiting}, Agent: a.ID,
			Status: agent.ActionPending})
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

// Attempts returns the entries of the audit trail of an agent, also of a deleted one. Faults: AGENT_NOT_FOUND if
// there never was such an agent, or all its entries are deleted.
func (s *Service) Attempts(ctx context.Context, p ident.Platform, f ports.AgentAttemptFilter) (ports.Page[agent.Attempt], error) {
	page, err := s.Store.AgentAttempts(ctx, p, f)
	if err != nil || len(page.Items) > 0 {
		return page, err
	}
	_, notFound := s.Store.Agent(ctx, p, f.Agent)
	if !fault.Is(notFound, fault.AgentNotFound) {
		return page, notFound
	}
	known, err := s.Store.AgentAttempts(ctx, p, ports.AgentAttemptFilter{Agent: f.Agent, Paging: ports.Paging{Limit: 1}})
	if err == nil && len(known.Items) == 0 {
		err = notFound
	}
	return page, err
}

// ReasonsOf returns why the policy asked for the approval of actions, as it was when the agent asked. Those are omitted of which nothing is
// kept any more.
func (s *Service) ReasonsOf(ctx context.Context, p ident.Platform, actions []ident.AgentAction) (
	map[ident.AgentAction][]agent.Reason, error) {
	return s.Store.ApprovalReasons(ctx, p, actions)
}
