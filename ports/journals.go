package ports

import (
	"context"

	"causeway/core/ident"
	"causeway/core/journal"
)

// JournalReader reads journals that were made for a general ledger.
type JournalReader interface {
	// Journals returns a page of journals without their lines, the latest days first.
	Journals(ctx context.Context, p ident.Platform, f JournalFilter) (JournalPage, error)
	// Journal returns a journal, or false if there is none.
	Journal(ctx context.Context, p ident.Platform, number string) (journal.Journal, bool, error)
}

// JournalWriter stores journals. Call LockPeriods first: journals of a platform are made one at a time.
type JournalWriter interface {
	// JournalsOf returns the journals of a span with their lines, by number.
	JournalsOf(ctx context.Context, p ident.Platform, span journal.Span) ([]journal.Journal, error)
	// JournalSpans returns the spans of all journals that share days with a span.
	JournalSpans(ctx context.Context, p ident.Platform, span journal.Span) ([]journal.Span, error)
	// SaveJournals stores new journals.
	SaveJournals(ctx context.Context, p ident.Platform, journals []journal.Journal) error
}

// JournalFilter selects journals; without a span, all.
type JournalFilter struct {
	Span *journal.Span
	// After is the last journal of the previous page, which must exist; nil for the first page.
	After *journal.Journal
	Limit int
}

// JournalPage is a page of journals.
type JournalPage struct {
	Journals []journal.Journal
	More     bool
}
