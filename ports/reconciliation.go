package ports

import (
	"iter"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/reconcile"
)

// ComparisonInput receives what a statement is compared with, in the order of its methods. An error
// of theirs ends the loading. A reconcile.Comparison is one.
type ComparisonInput interface {
	Expect(covered []reconcile.DayRange, open []reconcile.OpenBreak)
	SetAside(open []reconcile.OpenBreak)
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
