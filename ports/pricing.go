package ports

import (
	"context"
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
)

// Pricing is the operator's table of terms and its history. The service reads it;
// only an operator changes it, with the rights of whoever owns the database.
type Pricing interface {
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	CorridorOverrides(ctx context.Context) ([]CorridorOverride, error)
	// ChangeCorridor replaces one line of the table by what decide makes of the whole
	// table; an override of nothing takes the line away. Nobody changes the table in
	// between. The note stands in the history.
	ChangeCorridor(ctx context.Context, line CorridorKey, note string, decide func([]CorridorOverride) (corridor.Override, error)) error
	// CorridorChanges returns the history, oldest first.
	CorridorChanges(ctx context.Context, f CorridorChangeFilter) ([]CorridorChange, error)
}

// CorridorKey names a line of the operator's table; a zero Platform means all.
type CorridorKey struct {
	Platform ident.Platform
	From, To money.Currency
}

// CorridorChangeFilter narrows the history. Zero values do not; a platform finds
// its own changes and those for all.
type CorridorChangeFilter struct {
	Platform ident.Platform
	From, To money.Currency
}

// CorridorChange is one change of one line.
type CorridorChange struct {
	CorridorKey
	At time.Time
	// By is the login to the database.
	By, Note      string
	Before, After corridor.Override
}
