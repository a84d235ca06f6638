package ports

import (
	"context"

	"causeway/core/ident"
	"causeway/core/verification"
)

// KYCLinkWriter changes links to the pages of a verification.
type KYCLinkWriter interface {
	CreateKYCLink(ctx context.Context, l verification.Link) error
	// LockKYCLink returns the link with a token, or NOT_FOUND.
	LockKYCLink(ctx context.Context, p ident.Platform, token verification.SecretHash) (verification.Link, error)
	// UpdateKYCLink writes when a locked link was opened, and its session.
	UpdateKYCLink(ctx context.Context, l verification.Link) error
}

// KYCLinkReader reads links to the pages of a verification.
type KYCLinkReader interface {
	// KYCLinkOfSession returns the link with a session, or NOT_FOUND.
	KYCLinkOfSession(ctx context.Context, p ident.Platform, session verification.SecretHash) (verification.Link, error)
}
