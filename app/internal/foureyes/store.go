package foureyes

import (
	"context"
	"time"

	"causeway/core/books"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// Store reads platforms, and runs units of work.
type Store interface {
	ports.UnitsOfWork
	// Platform returns a platform, or NOT_FOUND.
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
}

// Tx reads whether a change needs four eyes, and stores its proposal.
type Tx interface {
	ProposalTx
	// LockBooksSettings returns the settings, locked for a change. Call it before LockPeriods.
	LockBooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	// LockBooksSettingsShared returns the settings and locks them against changes until the unit of work ends; any
	// number of units of work can hold this lock at the same time. Call it before LockPeriods.
	LockBooksSettingsShared(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	Emit(ctx context.Context, events []event.Event) error
	SaveResponse(ctx context.Context, request *ports.IdempotentRequest, result any, err error) error
}

// PeopleTx reads who acts with which token.
type PeopleTx interface {
	// LockPeopleOf returns who acts with which token of a platform. The tokens do not change until the unit of work ends. The zero
	// platform has none.
	LockPeopleOf(ctx context.Context, p ident.Platform) (proposal.People, error)
}

// ProposalTx stores proposals of changes that need four eyes. Those of the books are of a platform; those of prices
// are of all, and ignore which is given.
type ProposalTx interface {
	PeopleTx
	// CountPendingProposals counts the proposals of a platform that are pending at a time.
	CountPendingProposals(ctx context.Context, p ident.Platform, now time.Time) (int, error)
	CreateProposal(ctx context.Context, p proposal.Proposal) error
	// LockProposal returns a proposal, locked for an update, or NOT_FOUND.
	LockProposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Proposal, error)
	// UpdateProposal stores the decision, or the failure, of a proposal that is pending.
	UpdateProposal(ctx context.Context, p proposal.Proposal) error
}

// ProposalReader reads proposals, of a platform as ProposalTx says.
type ProposalReader interface {
	// Proposal returns a proposal, or NOT_FOUND.
	Proposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Proposal, error)
	// Proposals returns a page of proposals. Those of prices have one action, and ignore that of the filter.
	Proposals(ctx context.Context, p ident.Platform, f ports.ProposalFilter) (ports.Page[proposal.Proposal], error)
}
