package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/period"
)

// WebhookLog reads the events of a platform with their deliveries, and requeues events.
type WebhookLog interface {
	// Deliveries returns a page of deliveries, without bodies.
	Deliveries(ctx context.Context, p ident.Platform, f DeliveryFilter) (DeliveryPage, error)
	// Delivery returns a delivery, or NOT_FOUND.
	Delivery(ctx context.Context, p ident.Platform, id ident.Webhook) (Delivery, error)
	// Redeliver puts events back into the queue, except those that are in it, and returns
	// how many.
	Redeliver(ctx context.Context, p ident.Platform, selection Redelivery, now time.Time) (int, error)
	// Endpoint returns the endpoint of a platform, or NOT_FOUND.
	Endpoint(ctx context.Context, p ident.Platform) (Endpoint, error)
	// Record stores an event that was sent outside the queue, with its attempt. If the
	// event is stored already, the attempt is added to it.
	Record(ctx context.Context, e event.Rendered, a event.Attempt) error
}

// Delivery is an event and the status of its delivery.
type Delivery struct {
	ID       ident.Webhook
	Platform ident.Platform
	Type     event.Type
	Name     string
	Subject  uuid.UUID
	Created  time.Time
	Body     []byte
	Status   event.Status
	// NextAttempt is the time of the next attempt of a pending delivery; zero for now, or
	// as soon as the previous event of its subject is settled.
	NextAttempt time.Time
	Attempts    []event.Attempt
}

// DeliveryFilter selects deliveries; zero fields match all.
type DeliveryFilter struct {
	Limit int
	// After is the last delivery of the previous page.
	After     ident.Webhook
	Ascending bool
	Status    event.Status
	Type      event.Type
	Name      string
	Subject   uuid.UUID
	Created   period.Interval
}

// DeliveryPage is a page of deliveries.
type DeliveryPage struct {
	Items []Delivery
	More  bool
}

// Redelivery selects events to send again: those with the ids, or those that happened in an
// interval and, if set, have the status.
type Redelivery struct {
	IDs     []ident.Webhook
	Created period.Interval
	Status  event.Status
}
