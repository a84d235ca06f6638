package accounts

import (
	"context"
	"time"

	"causeway/app/internal/strongauth"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/core/vasp"
	"causeway/ledger"
	"causeway/ports"
)

// Store reads accounts and their owners.
type Store interface {
	ports.UnitsOfWork
	// Agent returns an agent, or AGENT_NOT_FOUND.
	Agent(ctx context.Context, p ident.Platform, id ident.Agent) (agent.Agent, error)
	// Customer returns a customer, also a deleted one, or USER_NOT_FOUND.
	Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	// ExternalAccount returns an account that is not deleted, or
	// EXTERNAL_ACCOUNT_NOT_FOUND.
	ExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount) (account.External, error)
	// Platform returns a platform.
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// VASPDirectory returns the directory of custodians that was imported last, or false.
	VASPDirectory(ctx context.Context) (vasp.Import, bool, error)
	// AccountsByVASP returns how many accounts of all platforms have each of the names of custodians. Names without any are omitted.
	AccountsByVASP(ctx context.Context, names []string) (map[string]int64, error)
	ExternalAccounts(ctx context.Context, p ident.Platform, f ports.ExternalAccountFilter) (ports.Page[account.External], error)
	InternalAccounts(ctx context.Context, p ident.Platform, f ports.InternalAccountFilter) (ports.Page[account.Internal], error)
}

// Tx changes external accounts, and counts those that agents have added.
type Tx interface {
	strongauth.Tx
	// LockPlatformShared returns a platform, and locks it against updates.
	LockPlatformShared(ctx context.Context, id ident.Platform) (platform.Platform, error)
	LockCustomer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	// SCASession returns a session of a customer that counts at a time, or SCA_SESSION_REQUIRED.
	SCASession(ctx context.Context, p ident.Platform, id ident.Customer, now time.Time) (sca.Session, error)
	// SetTrusted stores since when the customer trusts a locked account.
	SetTrusted(ctx context.Context, a account.External) error
	// LockAgents returns agents of a platform with their counters of a month ("2026-03") and the number of actions that
	// wait, and locks the agents in one order, so that no other payment of them, and no change of their policy, is decided until the end of
	// the unit of
	// work. What does not exist is omitted.
	LockAgents(ctx context.Context, p ident.Platform, ids []ident.Agent, month string) (map[ident.Agent]ports.CountedAgent, error)
	// SaveAgentAttempts adds entries to the audit trail. One whose id exists already is skipped.
	SaveAgentAttempts(ctx context.Context, attempts []agent.Attempt) error
	// CreateExternalAccount returns CONFLICT if the same account exists already.
	CreateExternalAccount(ctx context.Context, a account.External) error
	// LockExternalAccount returns an account that is not deleted, or EXTERNAL_ACCOUNT_NOT_FOUND, and locks it.
	LockExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount) (account.External, error)
	// UpdateOwnership writes the status, the challenge and the proof of a locked account.
	UpdateOwnership(ctx context.Context, a account.External) error
	CreateVASPDirectory(ctx context.Context, i vasp.Import) error
	Emit(ctx context.Context, events []event.Event) error
	AddJobs(ctx context.Context, jobs []ports.Job) error
	FinishJobs(ctx context.Context, jobs []ports.Job) error
	// DeleteExternalAccount marks an account as deleted, or returns
	// EXTERNAL_ACCOUNT_NOT_FOUND.
	DeleteExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount, at time.Time) error
	SaveResponse(ctx context.Context, request *ports.IdempotentRequest, result any, err error) error
}

// LedgerReader reads committed postings and balances.
type LedgerReader interface {
	// Balances returns the present balance of each account, in minor units with the sign
	// of its class; zero for an account never posted to.
	Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error)
}
