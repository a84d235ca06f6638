package yearend

import (
	"context"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/yearend"
	"causeway/ledger"
	"causeway/ports"
)

// Store reads the closings of financial years.
type Store interface {
	foureyes.Store
	BooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	PeriodOverview(ctx context.Context, p ident.Platform) (ports.PeriodOverview, error)
	YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error)
}

// Tx closes financial years. Call LockPeriods first: years are closed one at a time, and no posting that is effective in a
// soft-closed month is added meanwhile.
type Tx interface {
	foureyes.Tx
	BooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	Post(ctx context.Context, postings []ledger.Posting) error
	LockPeriods(ctx context.Context, p ident.Platform) (period.Calendar, error)
	Authorise(ctx context.Context, authorisations []period.Authorisation) error
	YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error)
	ResultBalances(ctx context.Context, p ident.Platform, m period.Month) (balances []ledger.NetBalance, seq int64, err error)
	// SaveYearClosing stores a closing without its reversal.
	SaveYearClosing(ctx context.Context, c yearend.Closing) error
	// SaveYearReversal stores the reversal of a closing.
	SaveYearReversal(ctx context.Context, c yearend.Closing, r yearend.Reversal) error
}

// LedgerReader reads committed postings and balances.
type LedgerReader interface {
	// Posting returns a posting, or false if there is none.
	Posting(ctx context.Context, platform ident.Platform, id uuid.UUID) (ledger.Posting, bool, error)
}
