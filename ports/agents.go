package ports

import (
	"context"

	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
)

// AgentWriter changes agents and their device codes.
type AgentWriter interface {
	CreateAgent(ctx context.Context, a agent.Agent) error
	// LockAgent returns an agent, or AGENT_NOT_FOUND.
	LockAgent(ctx context.Context, p ident.Platform, id ident.Agent) (agent.Agent, error)
	// UpdateAgent writes what can change of a locked agent.
	UpdateAgent(ctx context.Context, a agent.Agent) error
	// DeleteAgent deletes an agent with its device codes and rejects its actions that wait for approval, or returns
	// AGENT_NOT_FOUND.
	DeleteAgent(ctx context.Context, p ident.Platform, id ident.Agent) error
	// DeleteAgentsOf is DeleteAgent for all agents of a customer.
	DeleteAgentsOf(ctx context.Context, p ident.Platform, id ident.Customer) error
	// ReplaceDeviceCode stores a code of a locked agent, and voids its older ones that were not redeemed.
	ReplaceDeviceCode(ctx context.Context, c agent.DeviceCode) error
	// LockDeviceCode returns a code of a locked agent, or DEVICE_CODE_NOT_FOUND.
	LockDeviceCode(ctx context.Context, p ident.Platform, hash agent.DeviceCodeHash) (agent.DeviceCode, error)
	// RedeemDeviceCode writes when a locked code was redeemed.
	RedeemDeviceCode(ctx context.Context, c agent.DeviceCode) error
}

// AgentReader reads agents and their device codes.
type AgentReader interface {
	// Agent returns an agent, or AGENT_NOT_FOUND.
	Agent(ctx context.Context, p ident.Platform, id ident.Agent) (agent.Agent, error)
	Agents(ctx context.Context, p ident.Platform, f AgentFilter) (Page[agent.Agent], error)
	// AgentTokens returns agents, whose customer is not deleted, by the hashes of their access tokens, with the
	// environment of their platform.
	AgentTokens(ctx context.Context, hashes []agent.TokenHash) (map[agent.TokenHash]AgentToken, error)
	// DeviceCodeHash returns the keyed hash of a code. The stored hash does not tell the code to who has the
	// database alone.
	DeviceCodeHash(ctx context.Context, code string) (agent.DeviceCodeHash, error)
	// DeviceCode returns the code with a hash, of any platform that the scope of the context shows, or
	// DEVICE_CODE_NOT_FOUND.
	DeviceCode(ctx context.Context, hash agent.DeviceCodeHash) (agent.DeviceCode, error)
}

// AgentToken is the access token of an agent.
type AgentToken struct {
	Platform    ident.Platform
	Environment platform.Environment
	Agent       ident.Agent
	Customer    ident.Customer
	Permissions []agent.Permission
	Hash        agent.TokenHash
}

// AgentFilter selects agents; zero fields match all.
type AgentFilter struct {
	Paging
	Customer          ident.Customer
	Paused, Connected *bool
	Created, Updated  period.Interval
}
