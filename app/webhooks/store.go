package webhooks

import (
	"context"

	"causeway/core/ident"
	"causeway/ports"
)

// Store reads the secrets of platforms.
type Store interface {
	ports.UnitsOfWork[Tx]
	// WebhookSecrets returns the stored secrets of a platform, newest first. Some may have
	// ended.
	WebhookSecrets(ctx context.Context, p ident.Platform) ([]ports.SealedWebhookSecret, error)
}

// Tx changes the secrets of platforms.
type Tx interface {
	SaveResponse(ctx context.Context, request *ports.IdempotentRequest, result any, err error) error
	// LockWebhookSecrets returns the stored secrets of a platform, newest first, locked
	// against changes, or NOT_FOUND if there is no such platform.
	LockWebhookSecrets(ctx context.Context, p ident.Platform) ([]ports.SealedWebhookSecret, error)
	// ReplaceWebhookSecrets stores the given secrets instead of all others of the platform.
	ReplaceWebhookSecrets(ctx context.Context, p ident.Platform, secrets []ports.SealedWebhookSecret) error
}
