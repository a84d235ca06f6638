package foureyes

import (
	"context"
	"errors"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// Decisions lists, approves and rejects the proposals of one store, in units of work of type Tx.
type Decisions[T ProposalTx] struct {
	Reader ProposalReader
	Units  ports.UnitsOfWork
	Clock  ports.Clock
}

// Decision is who decides which proposal.
type Decision[T any] struct {
	Platform ident.Platform // as in ProposalTx
	ID       ident.Proposal
	By       platform.Author
	// Decided writes what belongs to a decided proposal, in the commit of the decision; nil if nothing does.
	Decided func(ctx context.Context, tx T, p proposal.Stated) error
}

// Prepared is a prepared change: it calls work in a unit of work, with what carries the change out there. That returns
// uow.ErrChanged if the change must be prepared again.
type Prepared[T, Change, Made any] func(ctx context.Context, work func(ctx context.Context, tx T, carryOut func(Change) (Made,
	error)) error) error

// CarryOut makes the change of an approved proposal, and returns the proposal with its result.
type CarryOut[T any] = Prepared[T, proposal.Proposal, proposal.Proposal]

// Proposal returns a proposal, or NOT_FOUND.
func (d Decisions[T]) Proposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Stated, error) {
	found, err := d.Reader.Proposal(ctx, p, id)
	return found.At(d.Clock.Now()), err
}

// Proposals lists proposals.
func (d Decisions[T]) Proposals(ctx context.Context, p ident.Platform, f ports.ProposalFilter) (ports.Page[proposal.Stated], error) {
	f.Now = d.Clock.Now()
	found, err := d.Reader.Proposals(ctx, p, f)
	var stated []proposal.Stated
	for _, item := range found.Items {
		stated = append(stated, item.At(f.Now))
	}
	return ports.PageOf(stated, found), err
}

// Prepare reads what carrying out a proposal needs.
type Prepare[T any] func(context.Context, proposal.Proposal) (CarryOut[T], error)

// Approve carries out a proposal in one commit with its approval. A change that has become impossible is answered with
// its fault; the proposal keeps that fault and stays pending. prepare is called outside of units of work, and only for a
// person who may approve. Faults: NOT_FOUND; those of proposal.Proposal.Approve, and of the change.
func (d Decisions[T]) Approve(ctx context.Context, by Decision[T], prepare Prepare[T]) (proposal.Stated, error) {
	var approved proposal.Proposal
	err := ports.Do(ctx, d.Units, func(ctx context.Context, tx T) (err error) {
		_, approved, err = d.lockAndApprove(ctx, tx, by)
		return err
	})
	if err != nil {
		return proposal.Stated{}, err
	}
	var failed error // of the change
	err = uow.Repeat(func() error {
		var run CarryOut[T]
		if run, failed = prepare(ctx, approved); failed != nil {
			return failed
		}
		return run(ctx, func(ctx context.Context, tx T, carryOut func(proposal.Proposal) (proposal.Proposal, error)) (err error) {
			failed = nil
			if _, approved, err = d.lockAndApprove(ctx, tx, by); err != nil {
				return err
			}
			if approved, failed = carryOut(approved); failed != nil {
				return failed
			}
			return d.save(ctx, tx, by, approved)
		})
	})
	if failed != nil && !errors.Is(failed, uow.ErrChanged) {
		return proposal.Stated{}, d.fail(ctx, by, failed)
	}
	return approved.At(d.Clock.Now()), err
}

func (d Decisions[T]) lockAndApprove(ctx context.Context, tx T, by Decision[T]) (found, approved proposal.Proposal, err error) {
	if found, err = tx.LockProposal(ctx, by.Platform, by.ID); err != nil {
		return found, found, err
	}
	people, err := tx.LockPeopleOf(ctx, found.Platform)
	if err != nil {
		return found, found, err
	}
	approved, err = found.Approve(by.By, people, Now(d.Clock))
	return found, approved, err
}

// fail keeps the fault of a change with its proposal, if the person may approve it, and returns the fault.
func (d Decisions[T]) fail(ctx context.Context, by Decision[T], failed error) error {
	f, ok := fault.As(failed)
	if !ok || f.Code.Temporary() {
		return failed
	}
	err := ports.Do(ctx, d.Units, func(ctx context.Context, tx T) error {
		found, approved, err := d.lockAndApprove(ctx, tx, by)
		if err != nil {
			return err
		}
		return tx.UpdateProposal(ctx, found.Fail(f, approved.DecidedAt))
	})
	if err != nil {
		return err
	}
	return failed
}

// Reject rejects a proposal; the proposer withdraws it so. Faults: NOT_FOUND; those of proposal.Proposal.Reject.
func (d Decisions[T]) Reject(ctx context.Context, by Decision[T], note string) (proposal.Stated, error) {
	var rejected proposal.Proposal
	err := ports.Do(ctx, d.Units, func(ctx context.Context, tx T) error {
		found, err := tx.LockProposal(ctx, by.Platform, by.ID)
		if err != nil {
			return err
		}
		people, err := tx.LockPeopleOf(ctx, found.Platform)
		if err != nil {
			return err
		}
		if rejected, err = found.Reject(by.By, people, note, Now(d.Clock)); err != nil {
			return err
		}
		return d.save(ctx, tx, by, rejected)
	})
	return rejected.At(d.Clock.Now()), err
}

// save stores a decided proposal, with what belongs to it.
func (d Decisions[T]) save(ctx context.Context, tx T, by Decision[T], p proposal.Proposal) error {
	if err := tx.UpdateProposal(ctx, p); err != nil || by.Decided == nil {
		return err
	}
	return by.Decided(ctx, tx, p.At(d.Clock.Now()))
}

// Create stores a new proposal, unless check refuses one beside so many that are pending.
func Create(ctx context.Context, tx ProposalTx, p proposal.Proposal, check func(pending int) error) error {
	pending, err := tx.CountPendingProposals(ctx, p.Platform, p.CreatedAt)
	if err != nil {
		return err
	}
	if err := check(pending); err != nil {
		return err
	}
	return tx.CreateProposal(ctx, p)
}

// Now returns the time of a change, in whole microseconds.
func Now(clock ports.Clock) time.Time { return clock.Now().Truncate(time.Microsecond) }
