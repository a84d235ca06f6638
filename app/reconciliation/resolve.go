package reconciliation

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
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
	By platform.Author
}

// Resolve resolves a break with a note, and with a correction if there is an offset account. A correction is an
// adjustment, so that it may make a proposal; a note alone changes no balance and never does.
// Faults: BREAK_NOT_FOUND; CONFLICT if it is resolved already; INVALID_INPUT; those of foureyes.Run.
func (r *Service) Resolve(ctx context.Context, in ResolveRequest, request *ports.IdempotentRequest) (
	proposal.Outcome[reconcile.BreakDetails], error) {
	if in.Offset == "" {
		return foureyes.RunAlone(ctx, r.foureyes(), r.resolution(), in.Platform, in.By, request, newResolveRequest(in))
	}
	return foureyes.Run(ctx, r.foureyes(), r.resolution(), in.Platform, in.By, request, newResolveRequest(in))
}

// ResolveAlone is Resolve by an operator on the command line, who needs no second person but for a correction on a
// production platform.
func (r *Service) ResolveAlone(ctx context.Context, in ResolveRequest) (proposal.Outcome[reconcile.BreakDetails], error) {
	return foureyes.RunAlone(ctx, r.foureyes(), r.resolution(), in.Platform, in.By, nil, newResolveRequest(in))
}

// Executors carry out the approved proposals of corrections.
func (r *Service) Executors() []foureyes.Executor {
	return []foureyes.Executor{r.resolution().Executor(r.foureyes())}
}

func (r *Service) foureyes() foureyes.Config[Tx] {
	return foureyes.Config[Tx]{Store: r.Store, Clock: r.Clock, IDs: r.IDs}
}

// resolveRequest is the stored form of a request to resolve a break.
type resolveRequest struct {
	Run    ident.Reconciliation    `json:"reconciliationId,omitzero"`
	Break  ident.Break             `json:"breakId"`
	Note   string                  `json:"note"`
	Offset reconcile.OffsetAccount `json:"against,omitempty"`
}

func newResolveRequest(in ResolveRequest) resolveRequest {
	return resolveRequest{in.Run, in.Break, in.Note, in.Offset}
}

func (r resolveRequest) command() reconcile.ResolveCommand {
	return reconcile.ResolveCommand{Note: r.Note, Offset: r.Offset}
}

func (r *Service) resolution() foureyes.Operation[Tx, resolveRequest, reconcile.BreakDetails] {
	return foureyes.Operation[Tx, resolveRequest, reconcile.BreakDetails]{ID: "resolveReconciliationBreak", Action: books.ActionAdjustment,
		TwoPersons: func(r resolveRequest) bool { return r.Offset != "" }, // it changes what is held at a partner
		Check: func(_ context.Context, _ ident.Platform, r resolveRequest) error {
			if bad := r.command().Check(); len(bad) > 0 {
				return fault.Invalid(bad...)
			}
			return nil
		}, Execute: resolve, Figures: correctionFigures}
}

// correctionFigures are what an approver has to know of a break beside its id: what is posted, and where. They never
// change.
func correctionFigures(b reconcile.BreakDetails) (any, error) {
	return struct {
		Account    string `json:"account"`
		Currency   string `json:"currency"`
		Difference int64  `json:"difference"`
		Reason     string `json:"reason"`
	}{b.Account.Path, string(b.Account.Currency), b.Difference, string(b.Reason)}, nil
}

func resolve(ctx context.Context, tx Tx, c foureyes.Change, r resolveRequest) (done reconcile.BreakDetails, made string, err error) {
	found, err := tx.LockBreak(ctx, c.Platform, r.Break)
	switch {
	case err != nil:
		return done, "", err
	case !r.Run.IsZero() && found.Run != r.Run:
		return done, "", fault.New(fault.BreakNotFound, "No break has the id %s.", r.Break)
	case found.Resolution != nil:
		return done, "", &fault.Error{Code: fault.Conflict, Reason: "Break resolved",
			Details: map[string]any{"resolvedBy": string(found.Resolution.Method)},
			Message: "The break is already resolved."}
	}
	resolution := reconcile.Resolution{Break: r.Break, Method: reconcile.ResolvedByNote, Note: r.Note, By: resolvedBy(c.By),
		Person: c.By.Person, Approval: c.Approval, At: c.At}
	if !c.By.Token.IsZero() {
		resolution.Actor = c.By.Actor
	}
	if r.Offset != "" {
		correction, err := postCorrection(ctx, tx, found, r, c.At)
		if err != nil {
			return done, "", err
		}
		resolution.Method, resolution.Posting = reconcile.ResolvedByPosting, correction
	}
	if err := tx.ResolveBreaks(ctx, c.Platform, []reconcile.Resolution{resolution}); err != nil {
		return done, "", err
	}
	found.Resolution = &resolution
	return found, r.Break.String(), nil
}

// resolvedBy names the author of a resolution: a token, or a person at the command line.
func resolvedBy(by platform.Author) string {
	if by.Token.IsZero() {
		return "operator " + by.Actor
	}
	return by.Token.String()
}

// postCorrection posts the difference of a break and returns the id of the posting.
func postCorrection(ctx context.Context, tx Tx, found reconcile.BreakDetails, r resolveRequest, now time.Time) (uuid.UUID, error) {
	effective := found.CorrectedAt(now)
	correction, err := r.command().Correction(r.Break, found.Account, found.Difference, effective)
	if err != nil {
		return uuid.Nil, err
	}
	if correction.Kind == ledger.KindUnmatchedReceived {
		receipt, err := unmatchedReceipt(found, effective)
		if err != nil {
			return uuid.Nil, err
		}
		if err := saveUnmatchedReceipt(ctx, tx, receipt); err != nil {
			return uuid.Nil, err
		}
		funds := []ports.UnmatchedFunds{{Platform: correction.Platform, Posting: correction.ID, Receipt: receipt.ID}}
		if err := tx.SaveUnmatched(ctx, funds); err != nil {
			return uuid.Nil, err
		}
	}
	return correction.ID, tx.Post(ctx, []ledger.Posting{correction})
}

// saveUnmatchedReceipt stores the receipt of a correction. If a payment with the partner's id was
// received, the receipt has the id of the break in its place.
func saveUnmatchedReceipt(ctx context.Context, tx Tx, r transaction.Receipt) error {
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
func unmatchedReceipt(found reconcile.BreakDetails, at time.Time) (transaction.Receipt, error) {
	rail, ok := corridor.AtPath(found.Account.Path)
	if !ok {
		return transaction.Receipt{}, fault.Invalid(fault.Field{Field: "against",
			Message: "cannot be UNMATCHED: " + found.Account.Path + " is not a chain of the service, which could not return the funds; use " +
				"another account, or a note"})
	}
	r := transaction.Receipt{PartnerID: found.ID.String(), Platform: found.Account.Platform, Rail: rail,
		Amount: money.Amount{Minor: found.Difference, Currency: found.Account.Currency}, At: at}
	r.ID.SetUUID(found.ID.UUID())
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
