package sca

import (
	"slices"
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

// NewReset returns a reset that r describes: its ids and factor.
func NewReset(r Reset, now time.Time) Reset {
	r.Status, r.CreatedAt, r.UpdatedAt, r.ExpiresAt = ResetInitiated, now, now, now.Add(ResetLifetime)
	return r
}

// At returns the reset as it is at a time. checked is what the check of the customer has come to by then.
func (r Reset) At(checked ResetStatus, now time.Time) Reset {
	if len(resetTransitions[r.Status]) > 0 && !now.Before(r.ExpiresAt) {
		checked = ResetExpired
	} else if r.Status == ResetLivenessPassed {
		return r
	}
	if slices.Contains(resetTransitions[r.Status], checked) {
		r.Status = checked
	}
	return r
}

// Ended reports whether the status is final.
func (r Reset) Ended() bool { return len(resetTransitions[r.Status]) == 0 }

// Expire returns the reset, which has not ended, as one that can no longer be completed.
func (r Reset) Expire(now time.Time) Reset {
	r.Status, r.UpdatedAt = ResetExpired, now
	return r
}

// Decide returns the reset after an operator has decided whether the check has passed, or CONFLICT if it does not wait for that.
func (r Reset) Decide(passed bool, now time.Time) (Reset, error) {
	if r.Status != ResetPendingReview {
		return r, &fault.Error{Code: fault.Conflict, Reason: "Nothing to decide", Message: "The reset is " + string(r.Status) +
			"; only one that is " + string(ResetPendingReview) + " is decided."}
	}
	r.Status, r.UpdatedAt = ResetRejected, now
	if passed {
		r.Status = ResetLivenessPassed
	}
	return r, nil
}

// Complete returns the reset after the factor was removed. Faults: INVALID_INPUT before the check has passed, CONFLICT once it cannot.
func (r Reset) Complete(now time.Time) (Reset, error) {
	switch r.Status {
	case ResetLivenessPassed:
		r.Status, r.UpdatedAt, r.CompletedAt = ResetCompleted, now, now
		return r, nil
	case ResetInitiated, ResetPendingReview:
		return r, &fault.Error{Code: fault.InvalidInput, Reason: "Liveness not passed", Message: "The check of the customer has not passed " +
			"yet. Complete the reset when its status is " + string(ResetLivenessPassed) + "."}
	default:
		return r, &fault.Error{Code: fault.Conflict, Reason: "Reset ended", Message: "The reset is " + string(r.Status) +
			" and cannot be completed. Start another one."}
	}
}

const (
	// ResetLifetime is how long a reset can be completed.
	ResetLifetime = 24 * time.Hour
	// MaxResets is how many resets a customer can start in ResetWindow.
	MaxResets   = 5
	ResetWindow = 24 * time.Hour
)

// ErrNoReset is the fault of a reset that the customer does not have.
var ErrNoReset = fault.New(fault.ReferenceNotFound, "The customer has no such reset of a factor.")

// CheckResets returns RATE_LIMITED if the customer has started too many. latest are its last MaxResets, the newest first.
func CheckResets(latest []Reset, now time.Time) error {
	if len(latest) < MaxResets || now.Sub(latest[MaxResets-1].CreatedAt) >= ResetWindow {
		return nil
	}
	return &fault.Error{Code: fault.RateLimited, Reason: "Too many resets",
		RetryAfter: latest[MaxResets-1].CreatedAt.Add(ResetWindow).Sub(now),
		Message:    "The customer has started five resets in 24 hours. Try again later, or let an operator help."}
}
