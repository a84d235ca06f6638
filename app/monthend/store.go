package monthend

import (
	"context"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	runs "causeway/app/internal/monthend"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// Store reads runs that post at the end of a month.
type Store interface {
	foureyes.Store
	BooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	MonthEndRun(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error)
	MonthEndRunBefore(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error)
	// MonthEndRuns returns the last run of a kind for each month that has one, in order.
	MonthEndRuns(ctx context.Context, p ident.Platform, kind ledger.Kind) ([]monthend.Run, error)
	PeriodOverview(ctx context.Context, p ident.Platform) (ports.PeriodOverview, error)
}

// Tx stores runs. Call LockPeriods first: runs are added one at a time, and what a Tx reads then does not change until its end.
type Tx interface {
	runs.Tx
	foureyes.Tx
	BooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	Post(ctx context.Context, postings []ledger.Posting) error
	MonthEndRun(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error)
	MonthEndRunBefore(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error)
	// SaveMonthEndRun stores a run; its result is stored with SaveExchangeResult, SavePaymentsInTransit or SaveAllowances.
	SaveMonthEndRun(ctx context.Context, run monthend.Run) error
	SaveExchangeResult(ctx context.Context, run monthend.Run, result monthend.ExchangeResult) error
	SavePaymentsInTransit(ctx context.Context, run monthend.Run, lines []monthend.InTransit) error
	SaveAllowances(ctx context.Context, run monthend.Run, allowances []monthend.Allowance) error
	LockPeriods(ctx context.Context, p ident.Platform) (period.Calendar, error)
	Authorise(ctx context.Context, authorisations []period.Authorisation) error
}

// LedgerReader reads committed postings and balances.
type LedgerReader interface {
	// Posting returns a posting, or false if there is none.
	Posting(ctx context.Context, platform ident.Platform, id uuid.UUID) (ledger.Posting, bool, error)
}
