package reconciliation

import (
	"context"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// ResolveRequest resolves a break of a platform.
type ResolveRequest struct {
	Platform ident.Platform
	// Run is the run that found the break; zero for any.
	Run   ident.Reconciliation
	Break ident.Break
	reconcile.ResolveCommand
	By string
}

// Resolve resolves a break with a note, and with a correction if there is an offset account.
// Faults: BREAK_NOT_FOUND; CONFLICT if it is resolved already; INVALID_INPUT.
func (r *Service) Resolve(ctx context.Context, in ResolveRequest, request *ports.IdempotentRequest) (reconcile.BreakDetails, error) {
	if bad := in.Check(); len(bad) > 0 {
		return reconcile.BreakDetails{}, fault.Invalid(bad...)
	}
	var done reconcile.BreakDetails
	err := r.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		found, err := tx.LockBreak(ctx, in.Platform, in.Break)
		switch {
		case err != nil:
			return err
		case !in.Run.IsZero() && found.Run != in.Run:
			return fault.New(fault.BreakNotFound, "No break has the id %s.", in.Break)
		case found.Resolution != nil:
			return &fault.Error{Code: fault.Conflict, Reason: "Break resolved", Details: map[string]any{"resolvedBy": string(found.Resolution.Method)},
				Message: "The break is already resolved."}
		}
		now := r.Clock.Now()
		resolution := reconcile.Resolution{Break: in.Break, Method: reconcile.ResolvedByNote, Note: in.Note, By: in.By, At: now}
		if in.Offset != "" {
			correction, err := in.Correction(in.Break, found.Account, found.Difference, now)
			if err != nil {
				return err
			}
			resolution.Method, resolution.Posting = reconcile.ResolvedByPosting, correction.ID
			if correction.Kind == ledger.KindUnmatchedReceived {
				receipt, err := unmatchedReceipt(found, now)
				if err != nil {
					return err
				}
				if err := saveUnmatchedReceipt(ctx, tx, receipt); err != nil {
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
		if err := tx.ResolveBreaks(ctx, in.Platform, []reconcile.Resolution{resolution}); err != nil {
			return err
		}
		done = found
		done.Resolution = &resolution
		return uow.SaveResponse(ctx, tx, request, done, nil)
	})
	return done, err
}

// saveUnmatchedReceipt stores the receipt of a correction. If a payment with the partner's id was
// received, the receipt has the id of the break in its place.
func saveUnmatchedReceipt(ctx context.Context, tx ports.Tx, r transaction.Receipt) error {
	saved, err := tx.SaveReceipts(ctx, []transaction.Receipt{r})
	if err != nil || saved[0].IsNew {
		return err
	}
	r.PartnerID = r.ID.String()
	_, err = tx.SaveReceipts(ctx, []transaction.Receipt{r})
	return err
}

// unmatchedReceipt returns the receipt of the funds that a correction posts to unmatched funds, so
// that they are listed there and can be assigned. Its id is that of the break. Fault: INVALID_INPUT
// for an unknown chain, because the funds could not be returned by it.
func unmatchedReceipt(found reconcile.BreakDetails, now time.Time) (transaction.Receipt, error) {
	rail, ok := corridor.AtPath(found.Account.Path)
	if !ok {
		return transaction.Receipt{}, fault.Invalid(fault.Field{Field: "against",
			Message: "cannot be UNMATCHED: " + found.Account.Path + " is not a chain of the service, which could not return the funds; use another account, or a note"})
	}
	r := transaction.Receipt{PartnerID: found.ID.String(), Platform: found.Account.Platform, Rail: rail,
		Amount: money.Amount{Minor: found.Difference, Currency: found.Account.Currency}, At: now}
	ident.SetUUID(&r.ID, found.ID.UUID())
	if found.Line == nil {
		return r, nil
	}
	if found.Line.ServicerReference != "" {
		r.PartnerID = found.Line.ServicerReference
	}
	if len(found.Line.References) > 0 {
		r.Reference = found.Line.References[0]
	}
	return r.Storable(), nil
}
