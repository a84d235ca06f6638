package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/proposal"
	"causeway/ports"
)

// priceProposalRow is a row of corridor_proposals. A row without a platform is for all.
type priceProposalRow struct {
	bun.BaseModel `bun:"table:corridor_proposals"`

	PlatformID uuid.NullUUID   `bun:"platform_id"`
	Proposal   proposalColumns `bun:"embed:"`
}

func (row *priceProposalRow) proposal() proposal.Proposal {
	p := row.Proposal.proposal()
	p.Action = books.ActionPrice
	p.Platform.SetUUID(row.PlatformID.UUID)
	return p
}

// CountPendingProposals scans the table: it has a row for each proposal of an operator.
func (t pricingTx) CountPendingProposals(ctx context.Context, _ ident.Platform, now time.Time) (int, error) {
	pending, err := t.tx.NewSelect().Model((*priceProposalRow)(nil)).Where("status = 'PENDING' AND expires_at > ?", now).Count(ctx)
	return int(pending), err
}

// CreateProposal implements ports.ProposalWriter.
func (t pricingTx) CreateProposal(ctx context.Context, p proposal.Proposal) error {
	_, err := t.tx.NewInsert().Model(&priceProposalRow{PlatformID: nullID(p.Platform.UUID()), Proposal: newProposalColumns(p)}).Exec(ctx)
	return err
}

// LockProposal needs no lock of the row: only transactions that have locked corridor_overrides write it.
func (t pricingTx) LockProposal(ctx context.Context, _ ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	return t.db.selectPriceProposal(ctx, t.tx.NewSelect(), id)
}

// UpdateProposal uses the primary key.
func (t pricingTx) UpdateProposal(ctx context.Context, p proposal.Proposal) error {
	_, err := t.tx.NewUpdate().Model(&priceProposalRow{Proposal: newProposalColumns(p)}).WherePK().
		Column("status", "decider", "note", "error_code", "error_message", "error_at", "decided_at").Exec(ctx)
	return err
}

// priceProposals reads corridor_proposals.
type priceProposals struct{ db *DB }

// PriceProposals returns a reader of the proposals to change prices.
func (db *DB) PriceProposals() ports.ProposalReader { return priceProposals{db} }

// Proposal uses the primary key.
func (r priceProposals) Proposal(ctx context.Context, _ ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	return r.db.selectPriceProposal(ctx, r.db.bun.NewSelect(), id)
}

func (db *DB) selectPriceProposal(ctx context.Context, query *bun.SelectQuery, id ident.Proposal) (proposal.Proposal, error) {
	return selectOne(ctx, db, query.Where("id = ?", id.UUID()), (*priceProposalRow).proposal, proposal.PriceNotFound(id))
}

// Proposals scans the table: it has a row for each proposal of an operator.
func (r priceProposals) Proposals(ctx context.Context, _ ident.Platform, f ports.ProposalFilter) (ports.Page[proposal.Proposal], error) {
	l := bunList{query: r.db.readBun.NewSelect()}
	l.whereProposalStatus(f.Status, f.Now)
	return selectBunPage(ctx, r.db, l, f.Paging, (*priceProposalRow).proposal)
}
