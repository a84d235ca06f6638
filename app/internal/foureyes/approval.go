package foureyes

import (
	"context"
	"errors"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// Approval is the approval of a proposal by a person, in units of work of type Tx.
type Approval[Tx any] struct {
	By    platform.Author
	Clock ports.Clock
	Do    func(ctx context.Context, fn func(context.Context, Tx) error) error
	// Lock returns the proposal, locked, with all tokens of its platform.
	Lock func(ctx context.Context, tx Tx) (proposal.Proposal, []platform.Token, error)
	// Update stores the failure of the proposal.
	Update func(ctx context.Context, tx Tx, p proposal.Proposal) error
	// Save stores the approved proposal.
	Save func(ctx context.Context, tx Tx, p proposal.Proposal) error
}

// CarryOut makes the change of an approved proposal in a unit of work, and returns the proposal with its result. It
// returns uow.ErrChanged if the change must be prepared again.
type CarryOut[Tx any] func(ctx context.Context, tx Tx, approved proposal.Proposal) (proposal.Proposal, error)

// Run carries out the proposal in one commit with its approval. A change that has become impossible is answered with
// its fault; the proposal keeps that fault and stays pending. prepare is called outside of units of work, and only for a
// person who may approve. Faults: those of Lock, of proposal.Proposal.Approve, and of the change.
func (a Approval[Tx]) Run(ctx context.Context, prepare func(context.Context) (CarryOut[Tx], error)) (proposal.Proposal, error) {
	err := a.Do(ctx, func(ctx context.Context, tx Tx) error {
		_, err := a.lockAndApprove(ctx, tx)
		return err
	})
	if err != nil {
		return proposal.Proposal{}, err
	}
	var approved proposal.Proposal
	var failed error // of the change
	err = uow.Repeat(func() error {
		var carryOut CarryOut[Tx]
		if carryOut, failed = prepare(ctx); failed != nil {
			return failed
		}
		return a.Do(ctx, func(ctx context.Context, tx Tx) (err error) {
			failed = nil
			if approved, err = a.lockAndApprove(ctx, tx); err != nil {
				return err
			}
			if approved, failed = carryOut(ctx, tx, approved); failed != nil {
				return failed
			}
			return a.Save(ctx, tx, approved)
		})
	})
	if failed != nil && !errors.Is(failed, uow.ErrChanged) {
		return proposal.Proposal{}, a.fail(ctx, failed)
	}
	return approved, err
}

func (a Approval[Tx]) lockAndApprove(ctx context.Context, tx Tx) (proposal.Proposal, error) {
	found, tokens, err := a.Lock(ctx, tx)
	if err != nil {
		return found, err
	}
	return found.Approve(a.By, tokens, Now(a.Clock))
}

// fail keeps the fault of a change with its proposal, if the person may approve it, and returns the fault.
func (a Approval[Tx]) fail(ctx context.Context, failed error) error {
	f, ok := fault.As(failed)
	if !ok || f.Code.Temporary() {
		return failed
	}
	err := a.Do(ctx, func(ctx context.Context, tx Tx) error {
		found, tokens, err := a.Lock(ctx, tx)
		if err != nil {
			return err
		}
		now := Now(a.Clock)
		if _, err := found.Approve(a.By, tokens, now); err != nil {
			return err
		}
		return a.Update(ctx, tx, found.Fail(f, now))
	})
	if err != nil {
		return err
	}
	return failed
}

// Now returns the time of a change, in whole microseconds.
func Now(clock ports.Clock) time.Time { return clock.Now().Truncate(time.Microsecond) }
