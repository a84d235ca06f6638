package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/period"
)

// WebhookQueue holds the events that are still to be delivered.
type WebhookQueue interface {
	// OpenSession opens a session that may own platforms. What it owns is lost with it.
	OpenSession(ctx context.Context) (WebhookSession, error)
}

// WebhookSession is one process's hold on the queue. A platform is owned by at most
// one session at a time, and only its owner reads and records its deliveries. It is
// for one goroutine. After an error it is of no more use and must be closed, except
// that Wait may return for any reason.
type WebhookSession interface {
	// Scan names up to limit platforms that have something due and are not among
	// those to skip, and says where each of the watched ones wants its events.
	Scan(ctx context.Context, now time.Time, skip, watch []ident.Platform, limit int) (WebhookScan, error)
	// Claim takes those of the platforms that nobody owns, with their endpoints.
	Claim(ctx context.Context, platforms []ident.Platform) (map[ident.Platform]Endpoint, error)
	// Release lets platforms go.
	Release(ctx context.Context, platforms []ident.Platform) error
	// Exchange records what became of deliveries and then reads what is due, the
	// result being as long as wants. Recording the same twice does it once.
	Exchange(ctx context.Context, now time.Time, done []WebhookResult, wants []WebhookFetch) ([]DueWebhooks, error)
	// Wait returns when ctx ends, and an error when the session is lost before.
	Wait(ctx context.Context) error
	// Close lets everything go.
	Close()
}

// WebhookScan is what a look over the whole queue found.
type WebhookScan struct {
	Due       []ident.Platform
	Endpoints map[ident.Platform]Endpoint
}

// QueuedWebhook is one event that is to be sent.
type QueuedWebhook struct {
	Platform ident.Platform
	// Seq orders the events of a subject: by the order of their commits.
	Seq     int64
	ID      ident.Webhook
	Subject uuid.UUID
	Name    string
	Body    []byte
	// Created is when the event happened.
	Created time.Time
	// DueSince is when it was first due: at its creation, or when it was asked for again.
	DueSince time.Time
	// Attempts counts all so far, Tries those since Since.
	Attempts, AttemptsSinceDue int
	// InBacklog tells that it is in the backlog, because it was tried before or had to
	// stand back; else nobody has looked at it yet.
	InBacklog bool
	// Blocked tells that an earlier event of its subject is in the backlog.
	Blocked bool
	// HasSuccessor tells that a later event of its subject may be in the backlog. In an
	// outcome it asks for the first of the subject in the backlog, as it is after that
	// outcome, to be made due if it stands back.
	HasSuccessor bool
}

// WebhookFetch asks for due events of one platform.
type WebhookFetch struct {
	Platform ident.Platform
	// Fresh and Retries are how many of each are wanted at most; none when zero.
	Fresh, Retries int
	// InFlight are the sequence numbers that the asker has already.
	InFlight []int64
	// FullScan asks to look at every fresh event, not only behind the mark up to which
	// the session knows that there are none left.
	FullScan bool
}

// DueWebhooks is the answer to one want. Fresh events come in the order of Seq.
type DueWebhooks struct {
	Fresh, Retries []QueuedWebhook
	// NextRetry is when the backlog has something due next; zero for nothing.
	NextRetry time.Time
	// Endpoint is where the platform wants its events, read after them: an event that
	// was told because it changed goes to the new one.
	Endpoint Endpoint
}

// WebhookOutcome is what becomes of an event after an attempt, or without one.
type WebhookOutcome int

// The fates.
const (
	// WebhookSettled: delivered or parked; it leaves the queue.
	WebhookSettled WebhookOutcome = iota
	// WebhookRetry: it goes (or stays) in the backlog and is due at WebhookDone.Next.
	WebhookRetry
	// WebhookDeferred: it goes (or stays) in the backlog, due when its predecessor is settled.
	WebhookDeferred
)

// WebhookResult is what became of one event.
type WebhookResult struct {
	Event   QueuedWebhook
	Outcome WebhookOutcome
	// RetryAt goes with RetryAt.
	RetryAt time.Time
	// Attempt is nil when there was none.
	Attempt *event.Attempt
}

// Delivery is an event and what became of it.
type Delivery struct {
	ID       ident.Webhook
	Platform ident.Platform
	Type     event.Type
	Name     string
	Subject  uuid.UUID
	Created  time.Time
	Body     []byte
	Status   event.Status
	// NextAttempt is when a pending one is tried again; zero for at once, or as soon as its
	// predecessor is settled.
	NextAttempt time.Time
	Attempts    []event.Attempt
}

// DeliveryFilter narrows a list of deliveries; zero values do not.
type DeliveryFilter struct {
	Limit int
	// After is the last one of the page before.
	After     ident.Webhook
	Ascending bool
	Status    event.Status
	Type      event.Type
	Name      string
	Subject   uuid.UUID
	Created   period.Interval
}

// DeliveryPage is one part of a list, without the bodies.
type DeliveryPage struct {
	Items []Delivery
	More  bool
}

// Redelivery chooses events to be sent again: those named, or those that happened
// in a span of time (with an optional status).
type Redelivery struct {
	IDs     []ident.Webhook
	Created period.Interval
	Status  event.Status
}

// WebhookLog shows what was told to a platform.
type WebhookLog interface {
	Deliveries(ctx context.Context, p ident.Platform, f DeliveryFilter) (DeliveryPage, error)
	// Delivery answers NOT_FOUND for what is not this platform's.
	Delivery(ctx context.Context, p ident.Platform, id ident.Webhook) (Delivery, error)
	// Redeliver puts events back into the queue, and says how many; those that wait
	// there already are left alone.
	Redeliver(ctx context.Context, p ident.Platform, which Redelivery, now time.Time) (int, error)
	// Endpoint answers NOT_FOUND for an unknown platform.
	Endpoint(ctx context.Context, p ident.Platform) (Endpoint, error)
	// Record stores an event that was sent outside the queue, with its attempt. One
	// that is stored already gets a further attempt and keeps its body.
	Record(ctx context.Context, e event.Event, body []byte, a event.Attempt) error
}
