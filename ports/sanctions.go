package ports

import (
	"context"

	"causeway/core/screening"
)

// SanctionsLists stores the sanctions lists that customers are screened against.
type SanctionsLists interface {
	// ReplaceSanctionsList makes a list the one that is screened against: completely or not at all.
	ReplaceSanctionsList(ctx context.Context, list screening.LoadedList, entries []screening.Entry) error
	// SanctionsLists returns the newest version of each list, by its name.
	SanctionsLists(ctx context.Context) ([]screening.LoadedList, error)
	// SanctionsEntries returns the entries of these versions.
	SanctionsEntries(ctx context.Context) ([]screening.Entry, error)
}
