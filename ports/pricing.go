package ports

import (
	"context"
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
)

// PricingReader reads the operator's overrides of corridor terms.
type PricingReader interface {
	// CorridorOverrides returns all overrides, of all platforms.
	CorridorOverrides(ctx context.Context) ([]CorridorOverride, error)
}

// Pricing changes the operator's overrides of corridor terms. The service only reads them;
// operators change them, with the rights of the owner of the database.
type Pricing interface {
	PricingReader
	// Platform returns a platform, or NOT_FOUND.
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// ChangeCorridor replaces the override of a key by the result of decide, whose
	// argument is all overrides, locked; an empty override deletes it. The note is stored
	// in the history.
	ChangeCorridor(ctx context.Context, key CorridorKey, note string, decide func([]CorridorOverride) (corridor.Override, error)) error
	// CorridorChanges returns the history, oldest first.
	CorridorChanges(ctx context.Context, f CorridorChangeFilter) ([]CorridorChange, error)
}

// CorridorKey identifies an override; a zero Platform stands for all platforms.
type CorridorKey struct {
	Platform ident.Platform
	From, To money.Currency
}

// CorridorOverride is an override of the terms of a corridor; a zero Platform stands for all
// platforms.
type CorridorOverride struct {
	Platform ident.Platform
	From, To money.Currency
	Terms    corridor.Override
}

// CorridorChangeFilter selects changes; zero fields match all. A platform selects its own
// changes and those for all platforms.
type CorridorChangeFilter struct {
	Platform ident.Platform
	From, To money.Currency
}

// CorridorChange is a change of one override.
type CorridorChange struct {
	CorridorKey
	At time.Time
	// By is the operator of the command, or the login of a change by hand.
	By, Note      string
	Before, After corridor.Override
}
