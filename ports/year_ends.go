package ports

import (
	"context"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/yearend"
	"causeway/ledger"
)

// YearEndReader reads the closings of financial years.
type YearEndReader interface {
	// YearClosings returns all closings of a platform, with their reversals, by year and number.
	YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error)
}

// YearEndWriter closes financial years. Call LockPeriods first: years are closed one at a time, and no posting
// that is effective in a soft-closed month is added meanwhile.
type YearEndWriter interface {
	YearEndReader
	// ResultBalances returns the balances of all income and expense accounts at the end of a month, zero ones
	// included, by currency and path, and the number of the platform's last posting. The months before it are
	// closed. It reads the postings since the previous month was closed and does not block others.
	ResultBalances(ctx context.Context, p ident.Platform, m period.Month) (balances []ledger.NetBalance, seq int64, err error)
	// SaveYearClosing stores a closing without its reversal.
	SaveYearClosing(ctx context.Context, c yearend.Closing) error
	// SaveYearReversal stores the reversal of a closing.
	SaveYearReversal(ctx context.Context, c yearend.Closing, r yearend.Reversal) error
}
