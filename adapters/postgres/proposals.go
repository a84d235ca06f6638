package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/uptrace/bun"

	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// proposalRow is a row of ledger_proposals.
type proposalRow struct {
	bun.BaseModel `bun:"table:ledger_proposals"`

	PlatformID      uuid.UUID       `bun:"platform_id,pk"`
	Action          string          `bun:"action"`
	Figures         string          `bun:"figures"`
	ProposerTokenID uuid.NullUUID   `bun:"proposer_token_id"`
	DeciderTokenID  uuid.NullUUID   `bun:"decider_token_id"`
	Result          string          `bun:"result"`
	Proposal        proposalColumns `bun:"embed:"`
}

// proposalColumns are the columns of every table of proposals.
type proposalColumns struct {
	ID           uuid.UUID  `bun:"id,pk"`
	Operation    string     `bun:"operation"`
	Request      string     `bun:"request"`
	Status       string     `bun:"status"`
	Proposer     string     `bun:"proposer"`
	Decider      string     `bun:"decider"`
	Note         string     `bun:"note"`
	ErrorCode    string     `bun:"error_code"`
	ErrorMessage string     `bun:"error_message"`
	ErrorAt      *time.Time `bun:"error_at"`
	CreatedAt    time.Time  `bun:"created_at"`
	ExpiresAt    time.Time  `bun:"expires_at"`
	DecidedAt    *time.Time `bun:"decided_at"`
}

func newProposalRow(p proposal.Proposal) *proposalRow {
	return &proposalRow{PlatformID: p.Platform.UUID(), Action: string(p.Action), ProposerTokenID: nullID(p.By.Token.UUID()), DeciderTokenID: nullID(p.DecidedBy.Token.UUID()),
		Figures: string(p.Figures), Result: p.Result, Proposal: newProposalColumns(p)}
}

func newProposalColumns(p proposal.Proposal) proposalColumns {
	columns := proposalColumns{
		ID: p.ID.UUID(), Operation: p.Operation, Request: string(p.Request), Status: string(p.State),
		Proposer: p.By.Actor, Decider: p.DecidedBy.Actor, Note: p.Note, CreatedAt: p.CreatedAt, ExpiresAt: p.ExpiresAt,
	}
	if f := p.LastError; f != nil {
		columns.ErrorCode, columns.ErrorMessage, columns.ErrorAt = string(f.Code), f.Message, &f.At
	}
	if !p.DecidedAt.IsZero() {
		columns.DecidedAt = &p.DecidedAt
	}
	return columns
}

func (row *proposalRow) proposal() proposal.Proposal {
	p := row.Proposal.proposal()
	p.Action, p.Result = books.Action(row.Action), row.Result
	if row.Figures != "" {
		p.Figures = []byte(row.Figures)
	}
	p.Platform.SetUUID(row.PlatformID)
	p.By.Token.SetUUID(row.ProposerTokenID.UUID)
	p.DecidedBy.Token.SetUUID(row.DeciderTokenID.UUID)
	return p
}

func (c proposalColumns) proposal() proposal.Proposal {
	p := proposal.Proposal{
		Operation: c.Operation, Request: []byte(c.Request), State: proposal.Status(c.Status),
		By: platform.Author{Actor: c.Proposer}, DecidedBy: platform.Author{Actor: c.Decider}, Note: c.Note,
		CreatedAt: c.CreatedAt.UTC(), ExpiresAt: c.ExpiresAt.UTC(), DecidedAt: timeOrZero(c.DecidedAt),
	}
	p.ID.SetUUID(c.ID)
	if c.ErrorAt != nil {
		p.LastError = &proposal.Failure{Code: fault.Code(c.ErrorCode), Message: c.ErrorMessage, At: c.ErrorAt.UTC()}
	}
	return p
}

// CountPendingProposals uses ledger_proposals_pending.
func (u *unit) CountPendingProposals(ctx context.Context, p ident.Platform, now time.Time) (pending int, err error) {
	err = u.query(ctx, `SELECT count(*) FROM ledger_proposals WHERE platform_id = $1 AND status = 'PENDING' AND expires_at > $2`,
		[]any{pgID(p.UUID()), pgTime(now)}, func(rows pgx.Rows) error { return rows.Scan(&pending) })
	return pending, err
}

// CreateProposal implements ports.ProposalWriter.
func (u *unit) CreateProposal(ctx context.Context, p proposal.Proposal) error {
	return u.insert(ctx, newProposalRow(p))
}

// LockProposal uses the primary key.
func (u *unit) LockProposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	if err := u.flush(ctx); err != nil {
		return proposal.Proposal{}, err
	}
	query := u.db.bun.NewSelect().Conn(u.sqlConn).Where("platform_id = ? AND id = ?", p.UUID(), id.UUID()).For("NO KEY UPDATE")
	found, err := selectOne(ctx, u.db, query, (*proposalRow).proposal, proposal.NotFound(id))
	return found, translate(err)
}

// UpdateProposal uses the primary key. It is sent with the commit, after the postings of the change are queued.
func (u *unit) UpdateProposal(_ context.Context, p proposal.Proposal) error {
	row := newProposalRow(p)
	u.queueExec(`UPDATE ledger_proposals SET status = $3, decider_token_id = $4, decider = $5, note = $6, result = $7,
		error_code = $8, error_message = $9, error_at = $10, decided_at = $11 WHERE platform_id = $1 AND id = $2`,
		pgID(row.PlatformID), pgID(row.Proposal.ID), row.Proposal.Status, pgID(row.DeciderTokenID.UUID), row.Proposal.Decider, row.Proposal.Note, row.Result,
		row.Proposal.ErrorCode, row.Proposal.ErrorMessage, row.Proposal.ErrorAt, row.Proposal.DecidedAt)
	return nil
}

// Proposal uses the primary key.
func (db *DB) Proposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	query := db.bun.NewSelect().Where("platform_id = ? AND id = ?", p.UUID(), id.UUID())
	return selectOne(ctx, db, query, (*proposalRow).proposal, proposal.NotFound(id))
}

// Proposals uses the primary key.
func (db *DB) Proposals(ctx context.Context, p ident.Platform, f ports.ProposalFilter) (ports.Page[proposal.Proposal], error) {
	l := bunList{query: db.readBun.NewSelect().Where("platform_id = ?", p.UUID())}
	l.whereEqual("action", string(f.Action))
	l.whereProposalStatus(f.Status, f.Now)
	return selectBunPage(ctx, db, l, f.Paging, (*proposalRow).proposal)
}

// whereProposalStatus limits the list to proposals with a status at a time.
func (l *bunList) whereProposalStatus(status proposal.Status, now time.Time) {
	switch status {
	case proposal.Pending:
		l.where("status = 'PENDING' AND expires_at > ?", now)
	case proposal.Expired:
		l.where("status = 'PENDING' AND expires_at <= ?", now)
	default:
		l.whereEqual("status", string(status))
	}
}

// scanApproval returns the approval that is stored with a change.
func scanApproval(p, token pgtype.UUID, actor string) (a platform.Approval) {
	a.Proposal.SetUUID(p.Bytes)
	a.By.Token.SetUUID(token.Bytes)
	a.By.Actor = actor
	return a
}
