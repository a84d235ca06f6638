// Package proposals is the second half of four eyes: it lists the proposed changes of the books, and approves and
// rejects them. An approved change is carried out in the commit of its approval.
package proposals

import (
	"context"
	"fmt"

	"causeway/app/internal/foureyes"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store ports.Store
	Clock ports.Clock
	IDs   ports.IDs
	// Executors carry out the operations that may need four eyes.
	Executors []foureyes.Executor
}

// Service holds the use cases.
type Service struct {
	Config
	executors map[string]foureyes.Executor // by operation
}

// New returns a Service. Two executors of one operation are a mistake in the program.
func New(c Config) *Service {
	s := &Service{c, map[string]foureyes.Executor{}}
	for _, e := range c.Executors {
		if _, known := s.executors[e.Operation()]; known {
			panic("proposals: two executors of " + e.Operation())
		}
		s.executors[e.Operation()] = e
	}
	return s
}

// StatedProposal is a proposal with its status now.
type StatedProposal struct {
	proposal.Proposal
	Status proposal.Status
}

// Proposal returns a proposal, or NOT_FOUND.
func (s *Service) Proposal(ctx context.Context, p ident.Platform, id ident.Proposal) (StatedProposal, error) {
	found, err := s.Store.Proposal(ctx, p, id)
	return s.stated(found), err
}

// Proposals lists the proposals of a platform.
func (s *Service) Proposals(ctx context.Context, p ident.Platform, f ports.ProposalFilter) (page ports.Page[StatedProposal], err error) {
	f.Now = s.Clock.Now()
	found, err := s.Store.Proposals(ctx, p, f)
	page = ports.Page[StatedProposal]{More: found.More, Total: found.Total, TotalIsMinimum: found.TotalIsMinimum}
	for _, item := range found.Items {
		page.Items = append(page.Items, s.stated(item))
	}
	return page, err
}

func (s *Service) stated(p proposal.Proposal) StatedProposal {
	return StatedProposal{p, p.Status(s.Clock.Now())}
}

// Approve carries out a proposal in one commit with its approval. A change that has become impossible is answered
// with its fault, as is one that would come to other figures; the proposal keeps that fault and stays pending. Faults:
// NOT_FOUND; those of proposal.Proposal.Approve and Carried, and of the change.
func (s *Service) Approve(ctx context.Context, p ident.Platform, by platform.Author, key *ports.IdempotentRequest, id ident.Proposal) (StatedProposal, error) {
	found, err := s.Store.Proposal(ctx, p, id)
	if err != nil {
		return StatedProposal{}, err
	}
	executor, ok := s.executors[found.Operation]
	if !ok {
		return StatedProposal{}, fmt.Errorf("no executor of %s, the operation of %s", found.Operation, id)
	}
	approval := foureyes.Approval[ports.Tx]{By: by, Clock: s.Clock, Do: s.Store.Do,
		Lock: func(ctx context.Context, tx ports.Tx) (proposal.Proposal, []platform.Token, error) {
			return lock(ctx, tx, p, id)
		},
		Update: func(ctx context.Context, tx ports.Tx, p proposal.Proposal) error { return tx.UpdateProposal(ctx, p) },
		Save:   func(ctx context.Context, tx ports.Tx, p proposal.Proposal) error { return s.save(ctx, tx, key, p) },
	}
	approved, err := approval.Run(ctx, func(ctx context.Context) (foureyes.CarryOut[ports.Tx], error) {
		execute, err := executor.PrepareRequest(ctx, p, found.Request)
		return func(ctx context.Context, tx ports.Tx, approved proposal.Proposal) (proposal.Proposal, error) {
			change := foureyes.Change{Platform: p, ID: id.UUID(), By: approved.By, Approval: platform.Approval{Proposal: id, By: by}, At: approved.DecidedAt}
			return carryOut(ctx, tx, execute, change, approved)
		}, err
	})
	return s.stated(approved), err
}

// carryOut makes the change of an approved proposal and returns the proposal with its result.
func carryOut(ctx context.Context, tx ports.Tx, execute foureyes.Prepared, c foureyes.Change, approved proposal.Proposal) (proposal.Proposal, error) {
	made, figures, err := execute(ctx, tx, c)
	if err != nil {
		return approved, err
	}
	return approved.Carried(made, figures)
}

func lock(ctx context.Context, tx ports.Tx, p ident.Platform, id ident.Proposal) (proposal.Proposal, []platform.Token, error) {
	found, err := tx.LockProposal(ctx, p, id)
	if err != nil {
		return found, nil, err
	}
	tokens, err := tx.LockTokens(ctx, p)
	return found, tokens, err
}

// Reject rejects a proposal; the proposer withdraws it so. Faults: NOT_FOUND; those of proposal.Proposal.Reject.
func (s *Service) Reject(ctx context.Context, p ident.Platform, by platform.Author, key *ports.IdempotentRequest, id ident.Proposal, note string) (StatedProposal, error) {
	var rejected proposal.Proposal
	err := s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		found, err := tx.LockProposal(ctx, p, id)
		if err != nil {
			return err
		}
		if rejected, err = found.Reject(by, note, foureyes.Now(s.Clock)); err != nil {
			return err
		}
		return s.save(ctx, tx, key, rejected)
	})
	return s.stated(rejected), err
}

// save stores a decided proposal, with its event and the response.
func (s *Service) save(ctx context.Context, tx ports.Tx, key *ports.IdempotentRequest, p proposal.Proposal) error {
	if err := tx.UpdateProposal(ctx, p); err != nil {
		return err
	}
	if err := foureyes.Emit(ctx, tx, s.IDs, p, p.DecidedAt); err != nil {
		return err
	}
	return tx.SaveResponse(ctx, key, s.stated(p), nil)
}
