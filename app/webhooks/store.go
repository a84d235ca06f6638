package webhooks

import (
	"context"
	"time"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Store reads the secrets of platforms.
type Store interface {
	ports.UnitsOfWork
	// Platform returns a platform, or NOT_FOUND.
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// SetListener says until when a platform has a listener.
	SetListener(ctx context.Context, p ident.Platform, until time.Time) error
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
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
}

// WebhookLog reads the events of a platform with their deliveries, and requeues events.
type WebhookLog interface {
	// Deliveries returns a page of deliveries, without bodies.
	Deliveries(ctx context.Context, p ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error)
	// Delivery returns a delivery, or NOT_FOUND.
	Delivery(ctx context.Context, p ident.Platform, id ident.Webhook) (ports.Delivery, error)
	// Redeliver puts events back into the queue, except those that are in it, and returns
	// how many.
	Redeliver(ctx context.Context, p ident.Platform, selection ports.Redelivery, now time.Time) (int, error)
	// Endpoint returns the endpoint of a platform, or NOT_FOUND.
	Endpoint(ctx context.Context, p ident.Platform) (ports.Endpoint, error)
	// Record stores an event that was sent outside the queue, with its attempt. If the
	// event is stored already, the attempt is added to it.
	Record(ctx context.Context, e event.Rendered, a event.Attempt) error
}
