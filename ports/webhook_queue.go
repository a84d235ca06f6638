package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/tracing"
)

// WebhookQueue is the queue of events to deliver.
type WebhookQueue interface {
	// OpenSession opens a session, which owns no platform yet.
	OpenSession(ctx context.Context) (WebhookSession, error)
}

// WebhookSession is the session of one process. A platform is owned by at most one session
// at a time, and only its owner reads its events and records outcomes. A session is for one
// goroutine. After an error of any method but Wait it must be closed. A session that is
// lost or closed owns nothing.
type WebhookSession interface {
	// Scan returns at most limit platforms that have due events and are not in skip, and
	// the endpoints of the platforms in watch.
	Scan(ctx context.Context, now time.Time, skip, watch []ident.Platform, limit int) (WebhookScan, error)
	// Claim makes the session the owner of those of the platforms that have none, and
	// returns their endpoints.
	Claim(ctx context.Context, platforms []ident.Platform) (map[ident.Platform]Endpoint, error)
	// Release ends the ownership of platforms.
	Release(ctx context.Context, platforms []ident.Platform) error
	// Exchange records outcomes of deliveries and then returns due events, one result per
	// fetch. Recording an outcome again does nothing.
	Exchange(ctx context.Context, now time.Time, results []WebhookResult, fetches []WebhookFetch) ([]DueWebhooks, error)
	// Wait returns nil when ctx is done, and an error if the session is lost before.
	Wait(ctx context.Context) error
	// Close ends the session.
	Close()
}

// WebhookScan is the result of a scan of the whole queue.
type WebhookScan struct {
	Due       []ident.Platform
	Endpoints map[ident.Platform]Endpoint
}

// QueuedWebhook is an event in the queue.
type QueuedWebhook struct {
	Platform ident.Platform
	// Seq is the order of the events of a subject, which is the order of their commits.
	Seq     int64
	ID      ident.Webhook
	Subject uuid.UUID
	Name    string
	Body    []byte
	// BodyError says why the body cannot be read; nil if it can. Such an event cannot be sent.
	BodyError error
	// Trace is the place of the event in a trace; empty without tracing.
	Trace tracing.Context
	// Created is when the event happened.
	Created time.Time
	// DueSince is when it was first due: at its creation, or at its last redelivery.
	DueSince time.Time
	// Attempts counts all attempts, AttemptsSinceDue those since DueSince.
	Attempts, AttemptsSinceDue int
	// InBacklog is true if the event is in the backlog, because an attempt failed or it was
	// deferred; else it is fresh.
	InBacklog bool
	// Blocked is true if an earlier event of its subject is in the backlog.
	Blocked bool
	// HasSuccessor is true if a later event of its subject may be in the backlog. When its
	// outcome is recorded, the first event of the subject that is then in the backlog is
	// made due if it was deferred.
	HasSuccessor bool
}

// CommittedWebhook is an event that was just committed in this process, with what its unit of work saw when it queued the event. It is
// one to send at once, without a read, by whom that shows that no earlier event of its subject is to be sent first. Without that the
// queue returns it.
type CommittedWebhook struct {
	QueuedWebhook // Blocked is true if any event of its subject is in the backlog, or if what came before it was not looked up
	// Previous is the number of the last event of its subject that was in the queue, and not in the backlog; 0 if none was.
	Previous int64
	Endpoint Endpoint
	// Since is a time before the commit, on the machine clock.
	Since time.Time
}

// WebhookFetch selects due events of one platform.
type WebhookFetch struct {
	Platform ident.Platform
	// Fresh and Retries are the largest numbers of each; zero for none.
	Fresh, Retries int
	// InFlight are the numbers of events that the caller has already.
	InFlight []int64
	// FullScan reads all fresh events, and not only those above the watermark up to which
	// the session knows that none are left.
	FullScan bool
}

// DueWebhooks is the result of a fetch. Fresh events are in the order of Seq.
type DueWebhooks struct {
	Fresh, Retries []QueuedWebhook
	// NextRetry is when the next event of the backlog is due; zero for none.
	NextRetry time.Time
	// Endpoint is the endpoint of the platform, read after the events, so that an event
	// about a changed endpoint is sent to the new one.
	Endpoint Endpoint
}

// WebhookOutcome is what happens to a queued event after an attempt, or without one.
type WebhookOutcome int

// The outcomes.
const (
	// WebhookSettled: delivered, or failed for good; the event leaves the queue.
	WebhookSettled WebhookOutcome = iota
	// WebhookRetry: the event is put or left in the backlog, due at WebhookResult.RetryAt.
	WebhookRetry
	// WebhookDeferred: the event is put or left in the backlog, due when the previous event
	// of its subject is settled.
	WebhookDeferred
)

// WebhookResult is the outcome for one event.
type WebhookResult struct {
	Event   QueuedWebhook
	Outcome WebhookOutcome
	// RetryAt is set if the outcome is WebhookRetry.
	RetryAt time.Time
	// Attempt is the attempt; nil if there was none.
	Attempt *event.Attempt
}
