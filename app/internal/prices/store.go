package prices

import (
	"context"

	"causeway/ports"
)

// Store reads terms and limits, of all platforms.
type Store interface {
	// PlatformCurrencies returns the settings of all platforms for their currencies.
	PlatformCurrencies(ctx context.Context) ([]ports.PlatformCurrency, error)
	// CorridorOverrides returns all overrides, of all platforms.
	CorridorOverrides(ctx context.Context) ([]ports.CorridorOverride, error)
}
