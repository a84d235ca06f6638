package ports

import (
	"context"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/screening"
	"causeway/core/transaction"
)

// SanctionsLists stores the sanctions lists that customers are screened against.
type SanctionsLists interface {
	// ReplaceSanctionsList makes a list the one that is screened against, and stores runs with their
	// jobs that screen all customers: completely or not at all.
	ReplaceSanctionsList(ctx context.Context, list screening.LoadedList, entries []screening.Entry, runs []screening.Run) error
	// SanctionsLists returns the newest version of each list, by its name.
	SanctionsLists(ctx context.Context) ([]screening.LoadedList, error)
	// SanctionsEntries returns the entries of these versions.
	SanctionsEntries(ctx context.Context) ([]screening.Entry, error)
}

// StepScreenCustomers screens customers that are new or whose names changed. Its subjects are their ids.
const StepScreenCustomers transaction.Step = "screen-customers"

// StepScreenPlatform screens the next customers of a run. Its subject is the run.
const StepScreenPlatform transaction.Step = "screen-platform"

// ScreeningWriter records what screening found.
type ScreeningWriter interface {
	// ScreeningHitsOf returns the hits of a locked customer and its owners, oldest first.
	ScreeningHitsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]screening.Hit, error)
	CreateScreeningHits(ctx context.Context, hits []screening.Hit) error
	UpdateScreeningHit(ctx context.Context, h screening.Hit) error
	// LockScreeningRun returns a run, or false if it was deleted.
	LockScreeningRun(ctx context.Context, p ident.Platform, id uuid.UUID) (screening.Run, bool, error)
	UpdateScreeningRun(ctx context.Context, r screening.Run) error
}

// ScreeningReader reads what screening found.
type ScreeningReader interface {
	// OpenScreeningHits returns at most limit hits that wait for an operator, those first that wait longest:
	// of customers who are neither deleted nor rejected.
	OpenScreeningHits(ctx context.Context, p ident.Platform, limit int) ([]screening.Hit, error)
	// CustomerScreeningHits returns the hits of a customer and its owners, oldest first.
	CustomerScreeningHits(ctx context.Context, p ident.Platform, c ident.Customer) ([]screening.Hit, error)
	// ScreeningRun returns a run, or false if it was deleted.
	ScreeningRun(ctx context.Context, p ident.Platform, id uuid.UUID) (screening.Run, bool, error)
	// LastScreeningRuns returns the newest run of each platform.
	LastScreeningRuns(ctx context.Context) ([]screening.Run, error)
}
