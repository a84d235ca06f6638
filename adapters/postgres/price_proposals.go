package postgres

import (
	"context"
	"slices"
	"time"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/proposal"
	"causeway/ports"
)

// pricesProposed is the table corridor_proposals. A row without a platform is for all.
var pricesProposed = schema.New("corridor_proposals", []string{"id"}, func(p *proposal.Proposal) schema.Columns {
	p.Action = books.ActionPrice
	return slices.Concat(schema.Columns{{Name: "platform_id", Field: &p.Platform}}, proposalColumns(p))
})

var (
	insertPriceProposal = pricesProposed.Insert("")
	updatePriceProposal = pricesProposed.Update("status", "decider", "note", "error_code", "error_message", "error_at", "decided_at",
		"decider_person_id")
)

// CountPendingProposals scans the table: it has a row for each proposal of an operator.
func (t *PricingTx) CountPendingProposals(ctx context.Context, _ ident.Platform, now time.Time) (pending int, err error) {
	_, err = storage.ReadRow(ctx, t.tx.Read, `SELECT count(*) FROM corridor_proposals WHERE status = 'PENDING' AND expires_at > $1`,
		[]any{now}, &pending)
	return pending, err
}

// CreateProposal stores a proposal for its platform, or for all.
func (t *PricingTx) CreateProposal(ctx context.Context, p proposal.Proposal) error {
	return writeIn(ctx, t.db, t.tx, insertPriceProposal, p)
}

// LockProposal needs no lock of the row: only transactions that have locked corridor_overrides write it.
func (t *PricingTx) LockProposal(ctx context.Context, _ ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	return selectPriceProposal(ctx, t.db, t.tx.Read, id)
}

// UpdateProposal uses the primary key.
func (t *PricingTx) UpdateProposal(ctx context.Context, p proposal.Proposal) error {
	return writeIn(ctx, t.db, t.tx, updatePriceProposal, p)
}

// Proposal uses the primary key.
func (db Pricing) Proposal(ctx context.Context, _ ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	return selectPriceProposal(ctx, db.DB, db.read, id)
}

func selectPriceProposal(ctx context.Context, db *DB, read storage.Reader, id ident.Proposal) (proposal.Proposal, error) {
	return selectExisting(ctx, db, read, pricesProposed, proposal.PriceNotFound(id), `WHERE id = $1`, id)
}

// Proposals scans the table: it has a row for each proposal of an operator.
func (db Pricing) Proposals(ctx context.Context, _ ident.Platform, f ports.ProposalFilter) (ports.Page[proposal.Proposal], error) {
	l := list{from: pricesProposed.Name}
	l.whereProposalStatus(f.Status, f.Now)
	return selectPage(ctx, db.DB, l, f.Paging, pricesProposed)
}
