package verification

import (
	"fmt"
	"slices"
)

// Status is the status of a verification.
type Status string

// The statuses.
const (
	// ReadyForVerification: nothing is missing, and it is about to be submitted.
	ReadyForVerification Status = "READY_FOR_VERIFICATION"
	// InProgress: it is submitted, or approved and waits for the beneficial owners.
	InProgress Status = "IN_PROGRESS"
	// PendingManualReview: a person will decide.
	PendingManualReview Status = "PENDING_MANUAL_REVIEW"
	// ResolveErrors: the platform must correct the errors and submit again.
	ResolveErrors Status = "RESOLVE_ERRORS"
	// Approved and Rejected are final.
	Approved Status = "APPROVED"
	Rejected Status = "REJECTED"
)

// Statuses lists every status.
var Statuses = []Status{ResolveErrors, PendingManualReview, InProgress, Approved, Rejected, ReadyForVerification}

// transitions lists what each status can change to. The empty status is that of a verification that
// does not exist yet.
var transitions = map[Status][]Status{
	"":                   {ReadyForVerification, ResolveErrors},
	ResolveErrors:        {ReadyForVerification},
	ReadyForVerification: {InProgress},
	InProgress:           {PendingManualReview, ResolveErrors, Approved, Rejected},
	PendingManualReview:  {InProgress, ResolveErrors, Approved, Rejected},
}

// IsFinal reports whether the status never changes.
func (s Status) IsFinal() bool { return s == Approved || s == Rejected }

// IsSubmitted reports whether a decision is awaited.
func (s Status) IsSubmitted() bool { return s == InProgress || s == PendingManualReview }

// move changes the status, unless it has it already.
func (c *Change) move(to Status) {
	from := c.Verification.Status
	if from == to {
		return
	}
	if !slices.Contains(transitions[from], to) {
		panic(fmt.Sprintf("verification: %q cannot become %s", from, to))
	}
	c.Verification.Status = to
	c.Steps = append(c.Steps, c.Verification)
}
