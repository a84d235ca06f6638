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

// CountPendingPriceProposals scans the table: it has a row for each proposal of an operator.
func (t pricingTx) CountPendingPriceProposals(ctx context.Context, now time.Time) (int, error) {
	pending, err := t.tx.NewSelect().Model((*priceProposalRow)(nil)).Where("status = 'PENDING' AND expires_at > ?", now).Count(ctx)
	return int(pending), err
}

// CreatePriceProposal implements ports.PricingTx.
func (t pricingTx) CreatePriceProposal(ctx context.Context, p proposal.Proposal) error {
	_, err := t.tx.NewInsert().Model(&priceProposalRow{PlatformID: nullID(p.Platform.UUID()), Proposal: newProposalColumns(p)}).Exec(ctx)
	return err
}

// PriceProposal needs no lock of the row: only transactions that have locked corridor_overrides write it.
func (t pricingTx) PriceProposal(ctx context.Context, id ident.Proposal) (proposal.Proposal, error) {
	return t.db.selectPriceProposal(ctx, t.tx.NewSelect(), id)
}

// UpdatePriceProposal uses the primary key.
func (t pricingTx) UpdatePriceProposal(ctx context.Context, p proposal.Proposal) error {
	_, err := t.tx.NewUpdate().Model(&priceProposalRow{Proposal: newProposalColumns(p)}).WherePK().
		Column("status", "decider", "note", "error_code", "error_message", "error_at", "decided_at").Exec(ctx)
	return err
}

// PriceProposal uses the primary key.
func (db *DB) PriceProposal(ctx context.Context, id ident.Proposal) (proposal.Proposal, error) {
	return db.selectPriceProposal(ctx, db.bun.NewSelect(), id)
}

func (db *DB) selectPriceProposal(ctx context.Context, query *bun.SelectQuery, id ident.Proposal) (proposal.Proposal, error) {
	return selectOne(ctx, db, query.Where("id = ?", id.UUID()), (*priceProposalRow).proposal, proposal.PriceNotFound(id))
}

// PriceProposals scans the table: it has a row for each proposal of an operator.
func (db *DB) PriceProposals(ctx context.Context, f ports.ProposalFilter) (ports.Page[proposal.Proposal], error) {
	l := bunList{query: db.readBun.NewSelect()}
	l.whereProposalStatus(f.Status, f.Now)
	return selectBunPage(ctx, db, l, f.Paging, (*priceProposalRow).proposal)
}
