package ports

import (
	"context"
	"errors"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/platform"
	"causeway/core/verification"
)

// ErrUnknownApplication is returned by Identity.Status for an application that has to be submitted again.
var ErrUnknownApplication = errors.New("the application is not known where it is checked")

// Identity checks who a customer or a beneficial owner is: a provider, or operators who review.
type Identity interface {
	// NewCustomer returns the status of a new customer that has not been submitted: PENDING, unless
	// it is known without a check. It does no I/O, and returns the same for the same customer.
	NewCustomer(c customer.Customer) customer.Status
	// Immediate returns the outcome of an application if it is known without a call, else false, and
	// the application is to be submitted. It does no I/O, and returns the same for the same
	// application.
	Immediate(a verification.Application) (verification.Outcome, bool)
	// Submit submits an application with its documents. It is idempotent by the id of the application: a repeated call
	// submits it once and returns its present outcome. An error means that the call is to be repeated.
	Submit(ctx context.Context, a verification.Application, documents []document.Document) (verification.Outcome, error)
	// Status returns the present outcome of an application that was submitted. An error means that
	// the call is to be repeated; ErrUnknownApplication, that the application is to be submitted again.
	Status(ctx context.Context, a verification.Application) (verification.Outcome, error)
}

// IdentityByEnvironment holds the Identity of each environment; an environment may have none.
type IdentityByEnvironment map[platform.Environment]Identity

// NewCustomer returns a customer that is new to its platform, or has a new identity, with its status: a
// PENDING one with that of Identity.NewCustomer.
func (i IdentityByEnvironment) NewCustomer(owner platform.Platform, c customer.Customer) customer.Customer {
	if identity, connected := i[owner.Environment]; connected && c.Status == customer.Pending {
		c.Status = identity.NewCustomer(c)
	}
	return c
}
