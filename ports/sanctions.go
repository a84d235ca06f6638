package ports

import (
	"context"

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
