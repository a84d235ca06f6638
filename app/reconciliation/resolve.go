package reconciliation

import (
	"context"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// ResolveRequest is somebody's decision about a break.
type ResolveRequest struct {
	Platform ident.Platform
	// Run is the one that found it; zero for whichever did.
	Run   ident.Reconciliation
	Break ident.Break
	reconcile.ResolveCommand
	By string
}

// Resolve settles a break, by a note or by a correction that is posted with it. Faults:
// BREAK_NOT_FOUND; CONFLICT when it is resolved already; INVALID_INPUT.
func (r *Service) Resolve(ctx context.Context, in ResolveRequest, claim *ports.IdempotentRequest) (reconcile.BreakDetails, error) {
	if bad := in.Check(); len(bad) > 0 {
		return reconcile.BreakDetails{}, fault.Invalid(bad...)
	}
	var done reconcile.BreakDetails
	err := r.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		broken, err := tx.LockBreak(ctx, in.Platform, in.Break)
		switch {
		case err != nil:
			return err
		case !in.Run.IsZero() && broken.Run != in.Run:
			return fault.New(fault.BreakNotFound, "No break has the id %s.", in.Break)
		case broken.Resolution != nil:
			return &fault.Error{Code: fault.Conflict, Reason: "Break resolved", Details: map[string]any{"resolvedBy": string(broken.Resolution.Method)},
				Message: "The break is resolved already; nothing is left to decide about it."}
		}
		now := r.Clock.Now()
		settlement := reconcile.Resolution{Break: in.Break, Method: reconcile.ResolvedByNote, Note: in.Note, By: in.By, At: now}
		if in.Offset != "" {
			correction, err := in.Correction(in.Break, broken.Account, broken.Difference, now)
			if err != nil {
				return err
			}
			settlement.Method, settlement.Posting = reconcile.ResolvedByPosting, correction.ID
			if correction.Kind == ledger.KindUnmatchedReceived {
				receipt := unmatchedReceipt(broken, now)
				if _, err := tx.SaveReceipts(ctx, []transaction.Receipt{receipt}); err != nil {
					return err
				}
				funds := []ports.UnmatchedFunds{{Platform: correction.Platform, Posting: correction.ID, Receipt: receipt.ID}}
				if err := tx.SaveUnmatched(ctx, funds); err != nil {
					return err
				}
			}
			if err := tx.Post(ctx, []ledger.Posting{correction}); err != nil {
				return err
			}
		}
		if err := tx.ResolveBreaks(ctx, in.Platform, []reconcile.Resolution{settlement}); err != nil {
			return err
		}
		done = broken
		done.Resolution = &settlement
		return uow.SaveResponse(ctx, tx, claim, done, nil)
	})
	return done, err
}

// unmatchedReceipt is the receipt of money that a correction puts among the unmatched funds, so
// that it is listed there and can be assigned. The id is the break's: with it, the
// correction is the posting that takes the receipt in.
func unmatchedReceipt(b reconcile.BreakDetails, now time.Time) transaction.Receipt {
	r := transaction.Receipt{PartnerID: b.ID.String(), Platform: b.Account.Platform, PartnerAccount: b.Account.Path,
		Amount: money.Amount{Minor: b.Difference, Currency: b.Account.Currency}, At: now}
	ident.SetUUID(&r.ID, b.ID.UUID())
	if b.Line == nil {
		return r
	}
	if b.Line.ServicerReference != "" {
		r.PartnerID = b.Line.ServicerReference
	}
	if len(b.Line.References) > 0 {
		r.Reference = b.Line.References[0]
	}
	return r
}
