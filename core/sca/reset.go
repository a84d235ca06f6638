package sca

import (
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Reset replaces a factor that a customer has lost, after a check that the customer is the person of its identity documents.
type Reset struct {
	ID       ident.SCAReset
	Platform ident.Platform
	Customer ident.Customer
	Factor   Factor
	Status   ResetStatus
	// EnrolledAt is when the customer had the factor again after the reset; zero until then.
	EnrolledAt  time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ExpiresAt   time.Time
	CompletedAt time.Time // zero until then
}

// ResetStatus is the status of a reset.
type ResetStatus string

// The statuses.
const (
	ResetInitiated      ResetStatus = "INITIATED"
	ResetPendingReview  ResetStatus = "PENDING_REVIEW" // a person looks at the check
	ResetLivenessPassed ResetStatus = "LIVENESS_PASSED"
	ResetCompleted      ResetStatus = "COMPLETED"
	ResetRejected       ResetStatus = "REJECTED"
	ResetExpired        ResetStatus = "EXPIRED"
)

// ResetStatuses lists every status.
var ResetStatuses = []ResetStatus{ResetInitiated, ResetPendingReview, ResetLivenessPassed, ResetCompleted, ResetRejected, ResetExpired}

// resetTransitions holds what may follow each status; the others are final.
var resetTransitions = map[ResetStatus][]ResetStatus{
	ResetInitiated:      {ResetPendingReview, ResetLivenessPassed, ResetRejected, ResetExpired},
	ResetPendingReview:  {ResetLivenessPassed, ResetRejected, ResetExpired},
	ResetLivenessPassed: {ResetCompleted, ResetExpired},
}

const (
	// ResetLifetime is how long a reset can be completed.
	ResetLifetime = 24 * time.Hour
	// MaxResets is how many resets a customer can start in ResetWindow.
	MaxResets   = 5
	ResetWindow = 24 * time.Hour
)

// CheckResets returns RATE_LIMITED if the customer has started too many. started are the times of the latest resets.
func CheckResets(started []time.Time, now time.Time) error {
	var recent int
	oldest := now
	for _, at := range started {
		if now.Sub(at) < ResetWindow {
			recent++
			if at.Before(oldest) {
				oldest = at
			}
		}
	}
	if recent < MaxResets {
		return nil
	}
	return &fault.Error{Code: fault.RateLimited, Reason: "Too many resets", RetryAfter: oldest.Add(ResetWindow).Sub(now),
		Message: "The customer has started five resets in 24 hours. Try again later, or let an operator help."}
}
