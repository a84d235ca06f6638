package reconciliation

import (
	"context"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/uow"
	"causeway/core/ident"
	"causeway/core/reconcile"
	"causeway/core/transaction"
	"causeway/ports"
)

// Store runs units of work.
type Store interface {
	foureyes.Store[Tx]
}

// Tx stores statement lines, matches and breaks.
type Tx interface {
	foureyes.Tx
	uow.Tx
	SaveReceipts(ctx context.Context, receipts []transaction.Receipt) ([]ports.SavedReceipt, error)
	// LockReconciliation locks an account against other reconciliations until the unit of
	// work ends, and returns the run that imported the same file, or false. It also locks what
	// an import uses, so that a deadlock is met here and not by the methods below.
	LockReconciliation(ctx context.Context, a reconcile.Account, digest [32]byte) (reconcile.Run, bool, error)
	// PreviousStatement returns the last run of an account with a closing balance that ended
	// before a day and was of the same partner's account, or false.
	PreviousStatement(ctx context.Context, a reconcile.Account, number string, before reconcile.Day) (reconcile.Run, bool, error)
	// AddStatementLines stores the lines of a run. Lines that an earlier run imported are not
	// changed. It moves the others to the front of the lines, and returns them.
	AddStatementLines(ctx context.Context, run ident.Reconciliation, a reconcile.Account, lines []reconcile.Line) (added []reconcile.Line, err error)
	// LoadComparison adds what a statement of these days is compared with: the lines that the run has
	// added, lines and entries of these and nearby days, open breaks, and the days of earlier runs. It
	// clears each added line once the input has it.
	LoadComparison(ctx context.Context, run ident.Reconciliation, a reconcile.Account, days reconcile.DayRange, added []reconcile.Line, to ports.ComparisonInput) error
	// SaveReconciliationResult stores the result of a run.
	SaveReconciliationResult(ctx context.Context, run reconcile.Run, result ports.ReconciliationResult) error
	// AddReconciliation stores a run, after its lines and its result.
	balanceExplainer
	AddReconciliation(ctx context.Context, run reconcile.Run) error
	// LockBreak returns a break, locked for an update, or BREAK_NOT_FOUND.
	LockBreak(ctx context.Context, p ident.Platform, id ident.Break) (reconcile.BreakDetails, error)
	// ResolveBreaks stores resolutions of breaks; a break is resolved once.
	ResolveBreaks(ctx context.Context, p ident.Platform, resolutions []reconcile.Resolution) error
}
