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
	updatePriceProposal = pricesProposed.Update("status", "decider", "note", "error_code", "error_message", "error_at", "decided_at")
)

// CountPendingProposals scans the table: it has a row for each proposal of an operator.
func (t pricingTx) CountPendingProposals(ctx context.Context, _ ident.Platform, now time.Time) (pending int, err error) {
	_, err = storage.ReadRow(ctx, t.tx.Read, `SELECT count(*) FROM corridor_proposals WHERE status = 'PENDING' AND expires_at > $1`,
		[]any{now}, &pending)
	return pending, err
}

// CreateProposal implements ports.ProposalWriter.
func (t pricingTx) CreateProposal(ctx context.Context, p proposal.Proposal) error {
	return writeIn(ctx, t.db, t.tx, insertPriceProposal, p)
}

// LockProposal needs no lock of the row: only transactions that have locked corridor_overrides write it.
func (t pricingTx) LockProposal(ctx context.Context, _ ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	return selectPriceProposal(ctx, t.db, t.tx.Read, id)
}

// UpdateProposal uses the primary key.
func (t pricingTx) UpdateProposal(ctx context.Context, p proposal.Proposal) error {
	return writeIn(ctx, t.db, t.tx, updatePriceProposal, p)
}

// priceProposals reads corridor_proposals.
type priceProposals struct{ db *DB }

// PriceProposals returns a reader of the proposals to change prices.
func (db *DB) PriceProposals() ports.ProposalReader { return priceProposals{db} }

// Proposal uses the primary key.
func (r priceProposals) Proposal(ctx context.Context, _ ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	return selectPriceProposal(ctx, r.db, r.db.read, id)
}

func selectPriceProposal(ctx context.Context, db *DB, read storage.Reader, id ident.Proposal) (proposal.Proposal, error) {
	return selectExisting(ctx, db, read, pricesProposed, proposal.PriceNotFound(id), `WHERE id = $1`, id)
}

// Proposals scans the table: it has a row for each proposal of an operator.
func (r priceProposals) Proposals(ctx context.Context, _ ident.Platform, f ports.ProposalFilter) (ports.Page[proposal.Proposal], error) {
	l := list{from: pricesProposed.Name}
	l.whereProposalStatus(f.Status, f.Now)
	return selectPage(ctx, r.db, l, f.Paging, pricesProposed)
}
