package ports

import (
	"causeway/core/journal"
)

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
