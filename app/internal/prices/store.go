package prices

import (
	"context"

	"causeway/core/limit"
	"causeway/core/platform"
	"causeway/ports"
)

// Store reads terms and limits, of all platforms.
type Store interface {
	// PriceSettings returns the currencies and the fees of all open platforms, with their ids and nothing else.
	PriceSettings(ctx context.Context) ([]platform.Platform, error)
	// CorridorOverrides returns all overrides, of all platforms.
	CorridorOverrides(ctx context.Context) ([]ports.CorridorOverride, error)
	// LimitRules returns the rules of all platforms, in one order.
	LimitRules(ctx context.Context) ([]limit.Rule, error)
}
