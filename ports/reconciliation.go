package ports

import (
	"context"
	"crypto/sha256"
	"iter"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/reconcile"
)

// ReconciliationWriter stores statement lines, matches and breaks.
type ReconciliationWriter interface {
	// LockReconciliation locks an account against other reconciliations until the unit of
	// work ends, and returns the run that imported the same file, or false. It also locks what
	// an import uses, so that a deadlock is met here and not by the methods below.
	LockReconciliation(ctx context.Context, a reconcile.Account, digest [sha256.Size]byte) (reconcile.Run, bool, error)
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
		to ComparisonInput) error
	// SaveReconciliationResult stores the result of a run.
	SaveReconciliationResult(ctx context.Context, run reconcile.Run, result ReconciliationResult) error
	// AddReconciliation stores a run, after its lines and its result.
	AddReconciliation(ctx context.Context, run reconcile.Run) error
	BalanceExplainer
	// LockBreak returns a break, locked for an update, or BREAK_NOT_FOUND.
	LockBreak(ctx context.Context, p ident.Platform, id ident.Break) (reconcile.BreakDetails, error)
	// ResolveBreaks stores resolutions of breaks; a break is resolved once.
	ResolveBreaks(ctx context.Context, p ident.Platform, resolutions []reconcile.Resolution) error
}

// BalanceExplainer reads what explains the difference between a partner's balance and the ledger's.
type BalanceExplainer interface {
	// ExplainBalance returns a comparison of the end of a day without the balances.
	ExplainBalance(ctx context.Context, a reconcile.Account, day reconcile.Day) (reconcile.BalanceComparison, error)
}

// ComparisonInput receives what a statement is compared with, in the order of its methods. An error
// of theirs ends the loading. A reconcile.Comparison is one.
type ComparisonInput interface {
	Expect(covered []reconcile.DayRange, open []reconcile.OpenBreak)
	AddEntry(reconcile.Entry) error
	AddLine(reconcile.Line) error
}

// ReconciliationResult holds the new matches, breaks and resolutions of a run. Each sequence may be
// read several times and is the same each time.
type ReconciliationResult struct {
	Matches     iter.Seq[MatchRecord]
	Breaks      iter.Seq[BreakRecord]
	Resolutions []reconcile.Resolution
}

// MatchRecord is a match to be stored.
type MatchRecord struct {
	ID          uuid.UUID
	Rule        reconcile.Rule
	Reference   string
	Days        int
	Explanation string
	Lines       []uuid.UUID
	Entries     []reconcile.EntryPosition
}

// BreakRecord is a break to store.
type BreakRecord struct {
	ID                ident.Break
	Reason            reconcile.Reason
	Line, OtherLine   uuid.UUID               // zero for none
	Entry, OtherEntry reconcile.EntryPosition // zero for none
	Reference         string
	Difference        int64
	Explanation       string
}

// ReconciliationReader reads runs with their lines and breaks.
type ReconciliationReader interface {
	BalanceExplainer
	// Reconciliation returns a run and the present counts of its lines and breaks, or
	// RECONCILIATION_NOT_FOUND.
	Reconciliation(ctx context.Context, p ident.Platform, id ident.Reconciliation) (reconcile.Run, ReconciliationCounts, error)
	// PartnerAccounts lists the partners' accounts that a platform has imported statements of.
	PartnerAccounts(ctx context.Context, p ident.Platform) ([]reconcile.PartnerAccount, error)
	Reconciliations(ctx context.Context, p ident.Platform, f ReconciliationFilter) (Page[reconcile.Run], error)
	StatementLines(ctx context.Context, p ident.Platform, run ident.Reconciliation, f StatementLineFilter) (Page[reconcile.LineDetails], error)
	// Breaks lists the breaks that a run has found, or those of all runs if run is zero.
	Breaks(ctx context.Context, p ident.Platform, run ident.Reconciliation, f BreakFilter) (Page[reconcile.BreakDetails], error)
	// Break returns a break, or BREAK_NOT_FOUND.
	Break(ctx context.Context, p ident.Platform, id ident.Break) (reconcile.BreakDetails, error)
}

// ReconciliationCounts holds the present numbers of lines and breaks of a run by status.
type ReconciliationCounts struct {
	Matched, InBreak, Resolved int // lines
	OpenBreaks, ResolvedBreaks int
}

// ReconciliationFilter selects runs; empty fields match all.
type ReconciliationFilter struct {
	Paging
	Path, Currency string
}

// StatementLineFilter selects lines; empty fields match all.
type StatementLineFilter struct {
	Paging
	Status reconcile.LineStatus
}

// BreakFilter selects breaks; empty fields match all.
type BreakFilter struct {
	Paging
	Path, Currency string
	Reason         reconcile.Reason
	// Status is OPEN, RESOLVED or empty for both.
	Status string
}
