package ports

import (
	"context"
	"crypto/sha256"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/reconcile"
)

// ReconciliationWriter keeps what partners' statements say and what became of it.
type ReconciliationWriter interface {
	// LockReconciliation keeps others from reconciling the account until the unit of work
	// ends, and finds the run that has read the same file; false when there is none.
	LockReconciliation(ctx context.Context, a reconcile.Account, digest [sha256.Size]byte) (reconcile.Run, bool, error)
	// AddStatementLines stores lines under the run that has read them. Those that an
	// earlier one has shown stay as they are, and are counted.
	AddStatementLines(ctx context.Context, run ident.Reconciliation, a reconcile.Account, lines []reconcile.Line) (known int, err error)
	// ComparisonInput reads what a statement of these days is compared with: lines and entries
	// of some more days, the breaks that are open, and the days of earlier runs.
	ComparisonInput(ctx context.Context, a reconcile.Account, of reconcile.DayRange) (ComparisonInput, error)
	// SaveReconciliation stores a run with what it found.
	SaveReconciliation(ctx context.Context, run reconcile.Run, found ReconciliationResult) error
	// LockBreak loads a break for a decision, or answers BREAK_NOT_FOUND.
	LockBreak(ctx context.Context, p ident.Platform, id ident.Break) (reconcile.BreakDetails, error)
	// ResolveBreaks stores what resolved breaks; a break is resolved once.
	ResolveBreaks(ctx context.Context, p ident.Platform, settlements []reconcile.Resolution) error
}

// ComparisonInput is what a statement is compared with.
type ComparisonInput struct {
	Lines      []reconcile.Line
	Entries    []reconcile.Entry
	OpenBreaks []reconcile.OpenBreak
	Covered    []reconcile.DayRange
}

// ReconciliationResult is what a comparison found new, with the ids it is to have.
type ReconciliationResult struct {
	Matches     []MatchRecord
	Breaks      []BreakRecord
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

// BreakRecord is a break to be stored.
type BreakRecord struct {
	ID                ident.Break
	Reason            reconcile.Reason
	Line, OtherLine   uuid.UUID               // zero for none
	Entry, OtherEntry reconcile.EntryPosition // zero for none
	Reference         string
	Difference        int64
	Explanation       string
}

// ReconciliationReader reads runs and what is in them. What belongs to another platform
// is not found.
type ReconciliationReader interface {
	// Reconciliation answers RECONCILIATION_NOT_FOUND when there is none. Standing is
	// what has become of it by now.
	Reconciliation(ctx context.Context, p ident.Platform, id ident.Reconciliation) (reconcile.Run, ReconciliationCounts, error)
	Reconciliations(ctx context.Context, p ident.Platform, f ReconciliationFilter) (Page[reconcile.Run], error)
	StatementLines(ctx context.Context, p ident.Platform, run ident.Reconciliation, f StatementLineFilter) (Page[reconcile.LineDetails], error)
	Breaks(ctx context.Context, p ident.Platform, run ident.Reconciliation, f BreakFilter) (Page[reconcile.BreakDetails], error)
}

// ReconciliationCounts counts what has become of the lines and breaks of a run by now.
type ReconciliationCounts struct {
	Matched, InBreak, Resolved int // lines
	OpenBreaks, ResolvedBreaks int
}

// ReconciliationFilter narrows a list of runs.
type ReconciliationFilter struct {
	Paging
	Path, Currency string
}

// StatementLineFilter narrows a list of lines.
type StatementLineFilter struct {
	Paging
	Status reconcile.LineStatus
}

// BreakFilter narrows a list of breaks.
type BreakFilter struct {
	Paging
	Reason reconcile.Reason
	// Status is OPEN or RESOLVED; empty for both.
	Status string
}
