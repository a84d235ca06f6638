package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/proposal"
	"causeway/ports"
)

// proposals is the table ledger_proposals.
var proposals = schema.New("ledger_proposals", keyOfPlatform, func(p *proposal.Proposal) schema.Columns {
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &p.Platform}, {Name: "action", Field: &p.Action}, {Name: "figures", Field: textOf(&p.Figures)},
		{Name: "proposer_token_id", Field: &p.By.Token}, {Name: "decider_token_id", Field: &p.DecidedBy.Token},
		{Name: "result", Field: &p.Result},
	}, proposalColumns(p))
})

// proposalColumns are the columns of every table of proposals.
func proposalColumns(p *proposal.Proposal) schema.Columns {
	failure := p.LastError
	if failure == nil {
		failure = &proposal.Failure{}
	}
	return schema.Columns{
		{Name: "id", Field: &p.ID}, {Name: "operation", Field: &p.Operation}, {Name: "request", Field: textOf(&p.Request)},
		{Name: "status", Field: &p.State}, {Name: "proposer", Field: &p.By.Actor}, {Name: "decider", Field: &p.DecidedBy.Actor},
		{Name: "note", Field: &p.Note}, {Name: "error_code", Field: &failure.Code}, {Name: "error_message", Field: &failure.Message},
		{Name: "error_at", Field: schema.Converted(
			func() time.Time { return failure.At },
			func(at time.Time) error {
				if !at.IsZero() {
					failure.At, p.LastError = at, failure
				}
				return nil
			})},
		{Name: "created_at", Field: &p.CreatedAt}, {Name: "expires_at", Field: &p.ExpiresAt}, {Name: "decided_at", Field: &p.DecidedAt},
		{Name: "proposer_person_id", Field: &p.ByPerson}, {Name: "decider_person_id", Field: &p.DecidedByPerson},
	}
}

// textOf is bytes in a column of type text; no bytes are the empty text.
func textOf(value *[]byte) any {
	return schema.Converted(
		func() string { return string(*value) },
		func(text string) error {
			if *value = nil; text != "" {
				*value = []byte(text)
			}
			return nil
		})
}

var (
	insertProposal = proposals.Insert("")
	updateProposal = proposals.Update("status", "decider_token_id", "decider", "note", "result", "error_code", "error_message",
		"error_at", "decided_at", "decider_person_id")
)

// CountPendingProposals uses ledger_proposals_pending.
func (u *Unit) CountPendingProposals(ctx context.Context, p ident.Platform, now time.Time) (pending int, err error) {
	err = u.query(ctx, `SELECT count(*) FROM ledger_proposals WHERE platform_id = $1 AND status = 'PENDING' AND expires_at > $2`,
		[]any{p, now}, func(rows pgx.Rows) error { return rows.Scan(&pending) })
	return pending, err
}

// CreateProposal implements foureyes.ProposalTx.
func (u *Unit) CreateProposal(ctx context.Context, p proposal.Proposal) error {
	return writeNow(ctx, u, insertProposal, p, nil)
}

// LockProposal uses the primary key.
func (u *Unit) LockProposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	return selectExisting(ctx, u.db, u.query, proposals, proposal.NotFound(id), `WHERE platform_id = $1 AND id = $2 FOR NO KEY UPDATE`, p, id)
}

// UpdateProposal uses the primary key. It is sent with the commit, after the postings of the change are queued.
func (u *Unit) UpdateProposal(ctx context.Context, p proposal.Proposal) error {
	return write(ctx, u, updateProposal, p)
}

// Proposal uses the primary key.
func (db *DB) Proposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Proposal, error) {
	return readByID(ctx, db, proposals, proposal.NotFound(id), p, id)
}

// Proposals uses the primary key.
func (db *DB) Proposals(ctx context.Context, p ident.Platform, f ports.ProposalFilter) (ports.Page[proposal.Proposal], error) {
	l := newList(proposals.Name, p)
	l.whereEqual("action", string(f.Action))
	l.whereProposalStatus(f.Status, f.Now)
	return selectPage(ctx, db, l, f.Paging, proposals)
}

// whereProposalStatus limits the list to proposals with a status at a time.
func (l *list) whereProposalStatus(status proposal.Status, now time.Time) {
	switch status {
	case proposal.Pending:
		l.where("status = 'PENDING' AND expires_at > ?", now)
	case proposal.Expired:
		l.where("status = 'PENDING' AND expires_at <= ?", now)
	default:
		l.whereEqual("status", string(status))
	}
}
