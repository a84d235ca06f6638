// Package agent defines the agents of customers: programs, such as assistants, that pay for a customer under
// a policy of the platform.
//
// It knows what an agent and its policy may be, how a program is paired with an agent by a device code, what a
// policy says about a payment after those that were counted, and the states of a payment that may have to be
// approved. It moves no money.
package agent

import (
	"fmt"
	"time"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
)

// Agent is a program that acts for one customer of a platform.
type Agent struct {
	ID       ident.Agent
	Platform ident.Platform
	Customer ident.Customer
	Name     string
	// Paused agents can start nothing.
	Paused bool
	Policy Policy
	// TokenHash is that of the access token; zero while no program is connected.
	TokenHash TokenHash
	// ConnectedAt is when a device code was redeemed; zero while no program is connected.
	ConnectedAt time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Connected reports whether a program has the access token of the agent.
func (a Agent) Connected() bool { return !a.ConnectedAt.IsZero() }

// CheckApprovable returns CONFLICT if no action of the agent can be approved now.
func (a Agent) CheckApprovable() error {
	if a.Paused {
		return fault.New(fault.Conflict, "The agent is paused, so nothing was decided and the action keeps waiting. Resume the agent with "+
			"PATCH /agents/{agentId}, and approve the action with another Idempotency-Key; or reject it.")
	}
	return nil
}

// maxName is the largest number of characters of a name.
const maxName = 100

// Request is a request to create an agent.
type Request struct {
	Name     string
	Customer ident.Customer
	Policy   PolicyChange
}

// New returns an agent of a customer, whose internal accounts are accounts. Faults: CUSTOMER_DELETED;
// INVALID_INPUT with every invalid field.
func New(r Request, owner customer.Customer, accounts []account.Internal, id ident.Agent, now time.Time) (Agent, error) {
	if id.IsZero() || owner.ID != r.Customer {
		return Agent{}, fmt.Errorf("an agent needs an id and its customer")
	}
	if owner.Deleted() {
		return Agent{}, fault.New(fault.CustomerDeleted, "The customer %s is deleted; it can have no agents.", owner.ID)
	}
	a := Agent{ID: id, Platform: owner.Platform, Customer: owner.ID, Name: r.Name, CreatedAt: now, UpdatedAt: now}
	var bad party.Problems
	bad.Text("name", a.Name, party.Required, maxName)
	a.Policy = r.Policy.create("policy.", accounts, &bad)
	return a, bad.Err()
}

// Change is a partial update of an agent. Nil does not change a field.
type Change struct {
	Name   *string
	Paused *bool
}

// Update returns the agent after a change. Faults: INVALID_INPUT.
func (a Agent) Update(ch Change, now time.Time) (Agent, error) {
	if ch.Name == nil && ch.Paused == nil {
		return a, fault.New(fault.InvalidInput, "The request changes nothing. Send name, isPaused or both.")
	}
	var bad party.Problems
	if ch.Name != nil {
		a.Name = *ch.Name
		bad.Text("name", a.Name, party.Required, maxName)
	}
	if ch.Paused != nil {
		a.Paused = *ch.Paused
	}
	a.UpdatedAt = a.nextUpdateTime(now)
	return a, bad.Err()
}

// UpdatePolicy returns the agent after a change of its policy; accounts are the internal accounts of its
// customer. Faults: INVALID_INPUT with every invalid field.
func (a Agent) UpdatePolicy(ch PolicyChange, accounts []account.Internal, now time.Time) (Agent, error) {
	var bad party.Problems
	a.Policy = ch.apply("", a.Policy, accounts, &bad)
	a.UpdatedAt = a.nextUpdateTime(now)
	return a, bad.Err()
}

// nextUpdateTime returns now, or a time after the last change if the clock went back.
func (a Agent) nextUpdateTime(now time.Time) time.Time {
	if now.After(a.UpdatedAt) {
		return now
	}
	return a.UpdatedAt.Add(time.Microsecond)
}

// NotFound returns AGENT_NOT_FOUND.
func NotFound(id ident.Agent) error {
	return fault.New(fault.AgentNotFound, "There is no agent %s.", id)
}

// WithUsage is an agent and its usage at the time of a call.
type WithUsage struct {
	Agent
	Usage Usage
}
