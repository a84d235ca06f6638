package ports

import (
	"context"
	"iter"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/reconcile"
)

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
