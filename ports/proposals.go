package ports

import (
	"context"
	"time"

	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/proposal"
)

// ProposalWriter stores proposals of changes that need four eyes. Those of the books are of a platform; those of prices
// are of all, and ignore which is given.
type ProposalWriter interface {
	// CountPendingProposals counts the proposals of a platform that are pending at a time.
	CountPendingProposals(ctx context.Context, p ident.Platform, now time.Time) (int, error)
	CreateProposal(ctx context.Context, p proposal.Proposal) error
	// LockProposal returns a proposal, locked for an update, or NOT_FOUND.
	LockProposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Proposal, error)
	// UpdateProposal stores the decision, or the failure, of a proposal that is pending.
	UpdateProposal(ctx context.Context, p proposal.Proposal) error
}

// ProposalReader reads proposals, of a platform as ProposalWriter says.
type ProposalReader interface {
	// Proposal returns a proposal, or NOT_FOUND.
	Proposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Proposal, error)
	// Proposals returns a page of proposals. Those of prices have one action, and ignore that of the filter.
	Proposals(ctx context.Context, p ident.Platform, f ProposalFilter) (Page[proposal.Proposal], error)
}

// ProposalFilter selects proposals; empty fields match all.
type ProposalFilter struct {
	Paging
	Action books.Action
	// Status is the status at the time Now.
	Status proposal.Status
	Now    time.Time
}
