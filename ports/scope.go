package ports

import (
	"context"

	"causeway/core/ident"
)

// Scope is what the database shows to a call: the rows of one platform, of all platforms, or,
// the zero value, of none. It is a second wall behind the conditions of the queries, so it is set
// where a platform is authenticated or a worker starts, not where a query is made.
type Scope struct {
	Platform     ident.Platform
	AllPlatforms bool
}

type scopeKey struct{}

// ForPlatform returns a context whose calls see the rows of one platform.
func ForPlatform(ctx context.Context, p ident.Platform) context.Context {
	return context.WithValue(ctx, scopeKey{}, Scope{Platform: p})
}

// ForAllPlatforms returns a context whose calls see the rows of all platforms. It is for workers
// and for reads that find out which platform a caller belongs to.
func ForAllPlatforms(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, Scope{AllPlatforms: true})
}

// ScopeOf returns the scope of a context, and whether it has one.
func ScopeOf(ctx context.Context) (Scope, bool) {
	scope, ok := ctx.Value(scopeKey{}).(Scope)
	return scope, ok
}
