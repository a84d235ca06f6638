package signedrequests

import (
	"context"

	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

// Store reads requests to sign.
type Store interface {
	ports.UnitsOfWork
	SignedRequest(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.SignedRequest, error)
}

// Tx stores requests to sign, and marks them as used.
type Tx interface {
	SaveResponse(ctx context.Context, request *ports.IdempotentRequest, result any, err error) error
	CreateSignedRequest(ctx context.Context, r wallet.SignedRequest) error
	// LockSignedRequest returns a request, or UNAUTHORIZED with the reason "Invalid Request-Id".
	LockSignedRequest(ctx context.Context, p ident.Platform, id ident.SignedRequest) (wallet.SignedRequest, error)
	// UseSignedRequest writes when a locked request was used.
	UseSignedRequest(ctx context.Context, r wallet.SignedRequest) error
}
