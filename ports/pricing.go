package ports

import (
	"context"
	"time"

	"causeway/core/books"
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
	// ChangePricing calls fn in a transaction with the rights of the owner of the database, beside which no other one
	// runs. An error of fn rolls it back, and is returned.
	ChangePricing(ctx context.Context, fn func(context.Context, PricingTx) error) error
	// CorridorChanges returns the history, oldest first.
	CorridorChanges(ctx context.Context, f CorridorChangeFilter) ([]CorridorChange, error)
	// PriceProposals reads the proposals to change prices.
	PriceProposals() ProposalReader
}

// PriceAudit reads what the check of prices compares.
type PriceAudit interface {
	// PricesAndChanges returns all overrides and the whole history, oldest first, of one moment. Terms that cannot be read
	// are money.ErrInvalidRate.
	PricesAndChanges(ctx context.Context) ([]CorridorOverride, []CorridorChange, error)
}

// PricingTx is a transaction that changes the pricing.
type PricingTx interface {
	PricingReader
	ProposalWriter
	// FourEyesPlatforms returns the platforms whose present settings of the books list an action.
	FourEyesPlatforms(ctx context.Context, a books.Action) ([]ident.Platform, error)
	// SaveOverride replaces an override, and stores who did so in the history. An empty override is deleted.
	SaveOverride(ctx context.Context, o CorridorOverride, by CorridorAuthor) error
}

// CorridorAuthor is who changes an override, and why.
type CorridorAuthor struct {
	// By is the operator of the command; that of a proposal, if the change was proposed. If it is empty, the history
	// names the login.
	By, Note string
	// Approval is that of four eyes; zero without.
	Approval platform.Approval
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
	Number int64 // in the history of all corridors
	At     time.Time
	// The operator of a change by hand is the login.
	CorridorAuthor
	Before, After corridor.Override
}
