package reconciliation

import (
	"context"
	"time"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/uow"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// Store runs units of work.
type Store interface {
	foureyes.Store
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
	AddStatementLines(ctx context.Context, run ident.Reconciliation, a reconcile.Account,
		lines []reconcile.Line) (added []reconcile.Line, err error)
	// LoadComparison adds what a statement of these days is compared with: the lines that the run has
	// added, lines and entries of these and nearby days, open breaks, and the days of earlier runs. It
	// clears each added line once the input has it.
	LoadComparison(ctx context.Context, run ident.Reconciliation, a reconcile.Account, days reconcile.DayRange, added []reconcile.Line,
		to ports.ComparisonInput) error
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

// Finance reads the ledger for finance reports: committed postings only, and sums that
// never overflow.
type Finance interface {
	// AccountsAtCutoff returns the accounts at a path, in one currency or, if empty, in
	// all, with their balances at a cutoff; none if the path was never posted to.
	AccountsAtCutoff(ctx context.Context, p ident.Platform, path string, currency money.Currency,
		cut ports.Cutoff) ([]ports.LedgerAccount, error)
}

// LedgerReader reads committed postings and balances.
type LedgerReader interface {
	// BalanceAt returns the balance of an account at the end of a moment, by recorded or
	// effective time. Errors: ledger.ErrNotInChart, ledger.ErrOverflow.
	BalanceAt(ctx context.Context, account ledger.Account, by ports.TimeKind, moment time.Time) (int64, error)
}

// RailStatementStore queues the statements of connections until they are reconciled.
type RailStatementStore interface {
	// TakeRailStatement returns the statement that is due longest, and makes it due again after a time.
	TakeRailStatement(ctx context.Context, again time.Duration) (ports.QueuedStatement, bool, error)
	// RailStatementFailed stores why a statement could not be reconciled, and when to try again.
	RailStatementFailed(ctx context.Context, s ports.QueuedStatement, problem string, retryAt time.Time) error
	// RailStatementReconciled ends a statement, deletes its content, and stores its balances as RailBalanceStore does.
	RailStatementReconciled(ctx context.Context, s ports.QueuedStatement, now time.Time) error
}

// ReconciliationReader reads runs with their lines and breaks.
type ReconciliationReader interface {
	balanceExplainer
	// Reconciliation returns a run and the present counts of its lines and breaks, or
	// RECONCILIATION_NOT_FOUND.
	Reconciliation(ctx context.Context, p ident.Platform, id ident.Reconciliation) (reconcile.Run, ports.ReconciliationCounts, error)
	// PartnerAccounts lists the partners' accounts that a platform has imported statements of.
	PartnerAccounts(ctx context.Context, p ident.Platform) ([]reconcile.PartnerAccount, error)
	Reconciliations(ctx context.Context, p ident.Platform, f ports.ReconciliationFilter) (ports.Page[reconcile.Run], error)
	StatementLines(ctx context.Context, p ident.Platform, run ident.Reconciliation,
		f ports.StatementLineFilter) (ports.Page[reconcile.LineDetails], error)
	// Breaks lists the breaks that a run has found, or those of all runs if run is zero.
	Breaks(ctx context.Context, p ident.Platform, run ident.Reconciliation, f ports.BreakFilter) (ports.Page[reconcile.BreakDetails], error)
	// Break returns a break, or BREAK_NOT_FOUND.
	Break(ctx context.Context, p ident.Platform, id ident.Break) (reconcile.BreakDetails, error)
}
