// Package manual leaves the check of identities to the people who operate the service: every
// application waits for their review.
package manual

import (
	"context"
	"time"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/sca"
	"causeway/core/verification"
	"causeway/ports"
)

// Identity implements ports.Identity. It makes no requests.
type Identity struct{}

var _ ports.Identity = Identity{}

var inReview = verification.Outcome{Verdict: verification.InReview}

// NewCustomer returns PENDING.
func (Identity) NewCustomer(customer.Customer) customer.Status { return customer.Pending }

// Immediate returns that an operator will decide.
func (Identity) Immediate(verification.Application) (verification.Outcome, bool) {
	return inReview, true
}

// Submit returns that an operator will decide.
func (Identity) Submit(context.Context, verification.Application, []document.Document) (verification.Outcome, error) {
	return inReview, nil
}

// Status returns that an operator will decide.
func (Identity) Status(context.Context, verification.Application) (verification.Outcome, error) {
	return inReview, nil
}

// ResetStatus returns that an operator will decide, and implements ports.ResetChecks.
func (Identity) ResetStatus(sca.Reset, customer.Customer, time.Time) sca.ResetStatus {
	return sca.ResetPendingReview
}
