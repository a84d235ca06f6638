package agents

import (
	"context"

	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Store reads agents, their device codes and what they did.
type Store interface {
	ports.UnitsOfWork
	// AgentTokens returns agents, whose customer is not deleted, by the hashes of their access tokens, with the
	// environment of their platform.
	AgentTokens(ctx context.Context, hashes []agent.TokenHash) (map[agent.TokenHash]ports.AgentToken, error)
	// AgentCounters returns the counters of agents in a month ("2026-03"). Agents without any are omitted.
	AgentCounters(ctx context.Context, p ident.Platform, ids []ident.Agent, month string) (map[ident.Agent]agent.Counters, error)
	AgentActions(ctx context.Context, p ident.Platform, f ports.AgentActionFilter) (ports.Page[agent.Action], error)
	// ApprovalReasons returns why the policy asked for the approval of actions. Those whose entries were deleted are omitted.
	ApprovalReasons(ctx context.Context, p ident.Platform, actions []ident.AgentAction) (map[ident.AgentAction][]agent.Reason, error)
	AgentAttempts(ctx context.Context, p ident.Platform, f ports.AgentAttemptFilter) (ports.Page[agent.Attempt], error)
	Agent(ctx context.Context, p ident.Platform, id ident.Agent) (agent.Agent, error)
	Agents(ctx context.Context, p ident.Platform, f ports.AgentFilter) (ports.Page[agent.Agent], error)
	// DeviceCodeHash returns the keyed hash of a code. The stored hash does not tell the code to who has the
	// database alone.
	DeviceCodeHash(ctx context.Context, code string) (agent.DeviceCodeHash, error)
	// DeviceCode returns the code with a hash, of any platform that the scope of the context shows, or
	// DEVICE_CODE_NOT_FOUND.
	DeviceCode(ctx context.Context, hash agent.DeviceCodeHash) (agent.DeviceCode, error)
	// InternalAccountsOf returns all accounts of owners; a zero customer is the platform.
	InternalAccountsOf(ctx context.Context, p ident.Platform, owners []ident.Customer) (map[ident.Customer][]account.Internal, error)
}

// Tx changes agents and their device codes.
type Tx interface {
	CreateAgent(ctx context.Context, a agent.Agent) error
	// LockAgent returns an agent, or AGENT_NOT_FOUND.
	LockAgent(ctx context.Context, p ident.Platform, id ident.Agent) (agent.Agent, error)
	// UpdateAgent writes what can change of a locked agent.
	UpdateAgent(ctx context.Context, a agent.Agent) error
	// DeleteAgent deletes an agent with its device codes and rejects its actions that wait for approval, or returns
	// AGENT_NOT_FOUND.
	DeleteAgent(ctx context.Context, p ident.Platform, id ident.Agent) error
	// ReplaceDeviceCode stores a code of a locked agent, and voids its older ones that were not redeemed.
	ReplaceDeviceCode(ctx context.Context, c agent.DeviceCode) error
	// LockDeviceCode returns a code of a locked agent, or DEVICE_CODE_NOT_FOUND.
	LockDeviceCode(ctx context.Context, p ident.Platform, hash agent.DeviceCodeHash) (agent.DeviceCode, error)
	// RedeemDeviceCode writes when a locked code was redeemed.
	RedeemDeviceCode(ctx context.Context, c agent.DeviceCode) error
	// LockCustomer returns a customer, also a deleted one, or USER_NOT_FOUND.
	LockCustomer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
	SaveResponse(ctx context.Context, request *ports.IdempotentRequest, result any, err error) error
}
