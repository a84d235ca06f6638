package pricing

import (
	"context"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Store changes the operator's overrides of corridor terms. The service only reads them;
// operators change them, with the rights of the owner of the database.
type Store interface {
	// UnitsOfWork have the rights of the login, and no two of them run beside each other. Only the owner of the database proposes a change.
	ports.UnitsOfWork
	// ProposalReader reads the proposals to change prices.
	foureyes.ProposalReader
	// CorridorOverrides returns all overrides, of all platforms.
	CorridorOverrides(ctx context.Context) ([]ports.CorridorOverride, error)
	// Platform returns a platform, or NOT_FOUND.
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// CorridorChanges returns the history, oldest first.
	CorridorChanges(ctx context.Context, f ports.CorridorChangeFilter) ([]ports.CorridorChange, error)
}

// Tx is a transaction that changes the pricing.
type Tx interface {
	foureyes.ProposalTx
	CorridorOverrides(ctx context.Context) ([]ports.CorridorOverride, error)
	// FourEyesPlatforms returns the platforms whose present settings of the books list an action.
	FourEyesPlatforms(ctx context.Context, a books.Action) ([]ident.Platform, error)
	// SaveOverride replaces an override, and stores who did so in the history. An empty override is deleted.
	SaveOverride(ctx context.Context, o ports.CorridorOverride, by ports.CorridorAuthor) error
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
}
