package ports

import (
	"context"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
)

// PlatformWriter changes platforms and their tokens.
type PlatformWriter interface {
	CreatePlatform(ctx context.Context, p platform.Platform) error
	// LockPlatform returns a platform, locked for an update, or NOT_FOUND.
	LockPlatform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// LockPlatformShared returns a platform, or NOT_FOUND, and locks it against updates;
	// any number of units of work can hold this lock at the same time.
	LockPlatformShared(ctx context.Context, id ident.Platform) (platform.Platform, error)
	UpdatePlatform(ctx context.Context, p platform.Platform) error
	CreateToken(ctx context.Context, t platform.Token) error
	// LockTokens returns all tokens of a platform, locked for an update.
	LockTokens(ctx context.Context, p ident.Platform) ([]platform.Token, error)
	// DeleteToken deletes a token, or returns TOKEN_NOT_FOUND.
	DeleteToken(ctx context.Context, p ident.Platform, id ident.Token) error
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
}

// PlatformReader reads platforms and their tokens.
type PlatformReader interface {
	// Platform returns a platform, or NOT_FOUND.
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// Platforms returns at most limit platforms after one, or from the first if it is zero, in order of creation.
	Platforms(ctx context.Context, after ident.Platform, limit int) ([]platform.Platform, error)
	// PlatformCurrencies returns the settings of all platforms for their currencies.
	PlatformCurrencies(ctx context.Context) ([]PlatformCurrency, error)
	// Token returns a token, or TOKEN_NOT_FOUND.
	Token(ctx context.Context, p ident.Platform, id ident.Token) (platform.Token, error)
	Tokens(ctx context.Context, p ident.Platform, f TokenFilter) (Page[platform.Token], error)
	// TokensByClientID returns tokens by client id, with the environment of their
	// platform.
	TokensByClientID(ctx context.Context, clientIDs []string) (map[string]TokenWithEnvironment, error)
}

// PlatformCurrency holds the settings of a platform for one currency.
type PlatformCurrency struct {
	Platform ident.Platform
	platform.Currency
}

// TokenWithEnvironment is a token and the environment of its platform.
type TokenWithEnvironment struct {
	Token       platform.Token
	Environment platform.Environment
}

// TokenFilter selects tokens; zero fields match all.
type TokenFilter struct {
	Paging
	Name             string
	Created, Updated period.Interval
}
