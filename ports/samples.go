package ports

import (
	"time"

	"causeway/core/ident"
)

// SampleKind is what a sample counts.
type SampleKind string

// The kinds of samples, with what their counts are.
const (
	// JobSamples are jobs that are due and that no process runs, those of them that are long overdue apart, and dead ones.
	JobSamples SampleKind = "JOBS"
	// WebhookSamples are webhooks that were not tried yet, and those that were not accepted yet.
	WebhookSamples SampleKind = "WEBHOOKS"
	// WebhookAges are how many seconds the oldest of these webhooks has waited.
	WebhookAges SampleKind = "WEBHOOK_AGE"
	// RailPaymentSamples are payments of a connection that were handed over and are not known to be sent, those that are queued, and those
	// in review.
	RailPaymentSamples SampleKind = "RAIL_PAYMENTS"
	// RailCallSamples are payments about which a connection was called within a minute: those that it has answered, refused, and not
	// answered; and how many milliseconds these calls took together, and the longest.
	RailCallSamples SampleKind = "RAIL_CALLS"
)

// Sample is what was counted of a platform at a time, which is a whole minute.
type Sample struct {
	Platform ident.Platform
	At       time.Time
	Kind     SampleKind
	// Name is that of the connection; empty for other kinds, and for payments without a connection.
	Name   string
	Counts []int64
}
