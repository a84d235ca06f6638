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
	Store Store
	Clock ports.Clock
	IDs   ports.IDs
	// Executors carry out the operations that may need four eyes.
	Executors []foureyes.Executor
}

// Service holds the use cases: besides approving and rejecting, those of foureyes.Decisions.
type Service struct {
	Config
	foureyes.Decisions[foureyes.Tx]
	executors map[string]foureyes.Executor // by operation
}

// New returns a Service. Two executors of one operation are a mistake in the program.
func New(c Config) *Service {
	s := &Service{Config: c, executors: map[string]foureyes.Executor{}}
	s.Decisions = foureyes.Decisions[foureyes.Tx]{Reader: c.Store, Units: c.Store, Clock: c.Clock}
	for _, e := range c.Executors {
		if _, known := s.executors[e.Operation()]; known {
			panic("proposals: two executors of " + e.Operation())
		}
		s.executors[e.Operation()] = e
	}
	return s
}

// Approve carries out a proposal in one commit with its approval. A change that has become impossible is answered
// with its fault, as is one that would come to other figures; the proposal keeps that fault and stays pending. Faults:
// NOT_FOUND; those of proposal.Proposal.Approve and Carried, and of the change.
func (s *Service) Approve(
	ctx context.Context, p ident.Platform, by platform.Author, key *ports.IdempotentRequest, id ident.Proposal,
) (proposal.Stated, error) {
	prepare := func(ctx context.Context, found proposal.Proposal) (foureyes.CarryOut[foureyes.Tx], error) {
		executor, ok := s.executors[found.Operation]
		if !ok {
			return nil, fmt.Errorf("no executor of %s, the operation of %s", found.Operation, id)
		}
		prepared, err := executor.PrepareRequest(ctx, p, found.Request)
		return func(ctx context.Context, work func(context.Context, foureyes.Tx, func(proposal.Proposal) (proposal.Proposal,
			error)) error) error {
			return prepared(ctx, func(ctx context.Context, tx foureyes.Tx, carryOut func(foureyes.Change) (foureyes.Made, error)) error {
				return work(ctx, tx, func(approved proposal.Proposal) (proposal.Proposal, error) {
					made, err := carryOut(foureyes.Change{
						Platform: p, ID: id.UUID(), By: approved.Author(), Approval: platform.Approval{Proposal: id, By: by}, At: approved.DecidedAt,
					})
					if err != nil {
						return approved, err
					}
					return approved.Carried(made.ID, made.Figures)
				})
			})
		}, err
	}
	return s.Decisions.Approve(ctx, s.decision(p, by, key, id), prepare)
}

// Reject rejects a proposal; the proposer withdraws it so. Faults: NOT_FOUND; those of proposal.Proposal.Reject.
func (s *Service) Reject(
	ctx context.Context, p ident.Platform, by platform.Author, key *ports.IdempotentRequest, id ident.Proposal, note string,
) (proposal.Stated, error) {
	return s.Decisions.Reject(ctx, s.decision(p, by, key, id), note)
}

// decision is a decision that has an event and a response.
func (s *Service) decision(
	p ident.Platform, by platform.Author, key *ports.IdempotentRequest, id ident.Proposal,
) foureyes.Decision[foureyes.Tx] {
	decided := func(ctx context.Context, tx foureyes.Tx, p proposal.Stated) error {
		if err := foureyes.Emit(ctx, tx, s.IDs, p.Proposal, p.DecidedAt); err != nil {
			return err
		}
		return tx.SaveResponse(ctx, key, p, nil)
	}
	return foureyes.Decision[foureyes.Tx]{Platform: p, ID: id, By: by, Decided: decided}
}
