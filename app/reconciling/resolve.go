package reconciling

import (
	"context"

	"causeway/app/booking"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/reconcile"
	"causeway/ledger"
	"causeway/ports"
)

// Resolution is somebody's decision about a break.
type Resolution struct {
	Platform ident.Platform
	// Run is the one that found it; zero for whichever did.
	Run   ident.Reconciliation
	Break ident.Break
	reconcile.Order
	By string
}

// Resolve settles a break, by a note or by a correction that is posted with it. Faults:
// BREAK_NOT_FOUND; CONFLICT when it is resolved already; INVALID_INPUT.
func (r *Reconciling) Resolve(ctx context.Context, in Resolution, claim *ports.Claim) (reconcile.ShownBreak, error) {
	if bad := in.Check(); len(bad) > 0 {
		return reconcile.ShownBreak{}, fault.Invalid(bad...)
	}
	var done reconcile.ShownBreak
	err := r.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		broken, err := tx.LockBreak(ctx, in.Platform, in.Break)
		switch {
		case err != nil:
			return err
		case !in.Run.IsZero() && broken.Run != in.Run:
			return fault.New(fault.BreakNotFound, "No break has the id %s.", in.Break)
		case broken.Settlement != nil:
			return &fault.Error{Code: fault.Conflict, Reason: "Break resolved", Details: map[string]any{"resolvedBy": string(broken.Settlement.How)},
				Message: "The break is resolved already; nothing is left to decide about it."}
		}
		now := r.Clock.Now()
		settlement := reconcile.Settlement{Break: in.Break, How: reconcile.ByNote, Note: in.Note, By: in.By, At: now}
		if in.Against != "" {
			correction, err := in.Correction(in.Break, broken.Account, broken.Difference, now)
			if err != nil {
				return err
			}
			settlement.How, settlement.Posting = reconcile.ByPosting, correction.ID
			if err := tx.Post(ctx, []ledger.Posting{correction}); err != nil {
				return err
			}
		}
		if err := tx.SettleBreaks(ctx, in.Platform, []reconcile.Settlement{settlement}); err != nil {
			return err
		}
		done = broken
		done.Settlement = &settlement
		return booking.Keep(ctx, tx, claim, done, nil)
	})
	return done, err
}
