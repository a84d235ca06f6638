package journals

import (
	"context"
	"time"

	runs "causeway/app/internal/monthend"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/journal"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// Store reads journals that were made for a general ledger.
type Store interface {
	ports.UnitsOfWork
	runs.YearClosings
	GLMappingVersion(ctx context.Context, p ident.Platform, version int) (books.MappingVersion, bool, error)
	// Journals returns a page of journals without their lines, the latest days first.
	Journals(ctx context.Context, p ident.Platform, f ports.JournalFilter) (ports.JournalPage, error)
	// Journal returns a journal, or false if there is none.
	Journal(ctx context.Context, p ident.Platform, number string) (journal.Journal, bool, error)
}

// Tx stores journals. Call LockPeriods first: journals of a platform are made one at a time.
type Tx interface {
	GLMapping(ctx context.Context, p ident.Platform, moment time.Time) (books.MappingVersion, error)
	// JournalsOf returns the journals of a span with their lines, by number.
	JournalsOf(ctx context.Context, p ident.Platform, span journal.Span) ([]journal.Journal, error)
	// JournalSpans returns the spans of all journals that share days with a span.
	JournalSpans(ctx context.Context, p ident.Platform, span journal.Span) ([]journal.Span, error)
	// SaveJournals stores new journals.
	SaveJournals(ctx context.Context, p ident.Platform, journals []journal.Journal) error
	LockPeriods(ctx context.Context, p ident.Platform) (period.Calendar, error)
	SaveResponse(ctx context.Context, request *ports.IdempotentRequest, result any, err error) error
}

// Finance reads the ledger for finance reports: committed postings only, and sums that
// never overflow.
type Finance interface {
	runs.RecordedPostings
	// Turnovers calls each for every account of a class (of all classes if empty), by
	// currency and path, with its turnover up to each cutoff. All are read from one
	// snapshot.
	Turnovers(ctx context.Context, p ident.Platform, class ledger.Class, cuts []ports.Cutoff, each func(ports.AccountTurnovers) error) error
}
