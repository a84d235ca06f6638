// Package sandbox simulates the check of identities for sandbox platforms. The last digits of a name
// or of a registration number select the outcome. It makes no requests.
package sandbox

import (
	"context"
	"time"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/sandbox"
	"causeway/core/sca"
	"causeway/core/verification"
	"causeway/ports"
)

// Identity implements ports.Identity with the test values of core/sandbox.
type Identity struct{}

var _ ports.Identity = Identity{}

// NewCustomer returns APPROVED for an individual without a test value, which need not be submitted.
func (Identity) NewCustomer(c customer.Customer) customer.Status { return sandbox.NewCustomerStatus(c) }

// Immediate returns the outcome that the test value selects, for every application.
func (Identity) Immediate(a verification.Application) (verification.Outcome, bool) {
	return sandbox.IdentityOutcome(a), true
}

// Submit returns the outcome that the test value selects.
func (Identity) Submit(_ context.Context, a verification.Application, _ []document.Document) (verification.Outcome, error) {
	return sandbox.IdentityOutcome(a), nil
}

// Status returns the outcome that the test value selects.
func (Identity) Status(_ context.Context, a verification.Application) (verification.Outcome, error) {
	return sandbox.IdentityOutcome(a), nil
}

// ResetStatus returns the status that the test value selects, and implements ports.ResetChecks.
func (Identity) ResetStatus(r sca.Reset, c customer.Customer, now time.Time) sca.ResetStatus {
	return sandbox.ResetStatus(r, c, now)
}
