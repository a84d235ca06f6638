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

// operatorProposals is a table of the proposals that operators make and decide by commands. It has a row for each, and is scanned.
type operatorProposals struct {
	*schema.Table[proposal.Proposal]
	insert, update schema.Statement[proposal.Proposal]
	notFound       func(ident.Proposal) error
}

func newOperatorProposals(name string, notFound func(ident.Proposal) error,
	own func(*proposal.Proposal) schema.Columns) operatorProposals {
	t := schema.New(name, []string{"id"}, func(p *proposal.Proposal) schema.Columns { return slices.Concat(own(p), proposalColumns(p)) })
	return operatorProposals{t, t.Insert(""), t.Update("status", "decider", "note", "error_code", "error_message", "error_at", "decided_at",
		"decider_person_id"), notFound}
}

var (
	// priceProposals is the table corridor_proposals. A row without a platform is for all.
	priceProposals = newOperatorProposals("corridor_proposals", proposal.PriceNotFound, func(p *proposal.Proposal) schema.Columns {
		p.Action = books.ActionPrice
		return schema.Columns{{Name: "platform_id", Field: &p.Platform}}
	})
	connectionProposals = newOperatorProposals("rail_proposals", proposal.ConnectionNotFound, func(p *proposal.Proposal) schema.Columns {
		p.Action = books.ActionConnection
		return nil
	})
)

// one uses the primary key.
func (t operatorProposals) one(ctx context.Context, db *DB, read storage.Reader, id ident.Proposal) (proposal.Proposal, error) {
	return selectExisting(ctx, db, read, t.Table, t.notFound(id), `WHERE id = $1`, id)
}

func (t operatorProposals) page(ctx context.Context, db *DB, f ports.ProposalFilter) (ports.Page[proposal.Proposal], error) {
	l := list{from: t.Name}
	l.whereProposalStatus(f.Status, f.Now)
	return selectPage(ctx, db, l, f.Paging, t.Table)
}

// operatorTx is a transaction with the rights of the login: the service proposes nothing, and changes only what is proposed. No two that
// change the same run beside each other.
type operatorTx struct {
	db       *DB
	tx       storage.Tx
	proposed operatorProposals
}

// LockPeopleOf implements foureyes.PeopleTx. Operators have no tokens.
func (t operatorTx) LockPeopleOf(ctx context.Context, p ident.Platform) (proposal.People, error) {
	return lockPeople(ctx, t.db, t.tx.Read, p)
}

// FourEyesPlatforms reads the latest settings of every platform, by the primary key.
func (t operatorTx) FourEyesPlatforms(ctx context.Context, a books.Action) ([]ident.Platform, error) {
	return queryValues[ident.Platform](ctx, t.tx.Read, `
		SELECT platform_id FROM (SELECT DISTINCT ON (platform_id) platform_id, four_eyes FROM ledger_settings ORDER BY platform_id, version DESC) latest
		WHERE $1 = ANY (four_eyes) ORDER BY platform_id`, a)
}

// CountPendingProposals implements foureyes.ProposalTx.
func (t operatorTx) CountPendingProposals(ctx context.Context, _ ident.Platform, now time.Time) (pending int, err error) {
	_, err = storage.ReadRow(ctx, t.tx.Read, `SELECT count(*) FROM `+t.proposed.Name+` WHERE status = 'PENDING' AND expires_at > $1`,
		[]any{now}, &pending)
	return pending, err
}

// CreateProposal implements foureyes.ProposalTx.
func (t operatorTx) CreateProposal(ctx context.Context, p proposal.Proposal) error {
	return writeIn(ctx, t.db, t.tx, t.proposed.insert, p)
}

// LockProposal needs no lock of the row: only transactions that have locked what it is about write it.
func (t operatorTx) LockProposal(ctx context.Context, _ ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	return t.proposed.one(ctx, t.db, t.tx.Read, id)
}

// UpdateProposal uses the primary key.
func (t operatorTx) UpdateProposal(ctx context.Context, p proposal.Proposal) error {
	return writeIn(ctx, t.db, t.tx, t.proposed.update, p)
}

// Proposal implements foureyes.ProposalReader.
func (db Pricing) Proposal(ctx context.Context, _ ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	return priceProposals.one(ctx, db.DB, db.read, id)
}

// Proposals implements foureyes.ProposalReader.
func (db Pricing) Proposals(ctx context.Context, _ ident.Platform, f ports.ProposalFilter) (ports.Page[proposal.Proposal], error) {
	return priceProposals.page(ctx, db.DB, f)
}

// Proposal implements foureyes.ProposalReader.
func (db Connections) Proposal(ctx context.Context, _ ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	return connectionProposals.one(ctx, db.DB, db.read, id)
}

// Proposals implements foureyes.ProposalReader.
func (db Connections) Proposals(ctx context.Context, _ ident.Platform, f ports.ProposalFilter) (ports.Page[proposal.Proposal], error) {
	return connectionProposals.page(ctx, db.DB, f)
}
