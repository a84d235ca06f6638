package ports

import (
	"time"

	"github.com/google/uuid"
)

// Process is a process of the service, as it has said of itself.
type Process struct {
	ID            uuid.UUID
	Host, Version string
	// OwnershipLimits are the limits of wallets without a proof with which it decides, as they are set; nil if it is of a version that does
	// not say.
	OwnershipLimits []string
	StartedAt       time.Time
	// SeenAt is when the process has renewed its record last, and StoppedAt when it ended in order; zero if it did not.
	SeenAt, StoppedAt time.Time
}

// WebhookBacklog is what waits to be sent to the endpoint of a platform, each counted to one above MaxTotal.
type WebhookBacklog struct {
	// Waiting were not tried yet, the oldest since WaitingSince.
	Waiting      int64
	WaitingSince time.Time
	// Failing were refused, or wait for an earlier one of their subject, the oldest since FailingSince.
	Failing      int64
	FailingSince time.Time
}

// MaxSampled is among how many of the latest requests or attempts of each hour figures are made, so that a busy hour costs no more.
const MaxSampled = 250

// HourFigures are those of an hour of a platform.
type HourFigures struct {
	From time.Time
	// Requests of the API failed with 4xx are Refused, and with 5xx Failed. Attempts to send the webhooks of the hour that were answered
	// with another status than 2xx are Refused, and those without an answer Failed.
	Requests, Attempts Figures
}

// Figures count what happened among at most MaxSampled, and P95 is within how long 95 % of them were over; zero for none.
type Figures struct {
	Done, Refused, Failed int64
	P95                   time.Duration
}
