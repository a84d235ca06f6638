// Package onboarding takes the customers of a platform in, and reads them back.
//
// It verifies nobody and moves no money: a customer's status at the beginning is
// core/customer's to decide.
package customers

import (
	"context"

	"github.com/sirupsen/logrus"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store ports.Store
	Clock ports.Clock
	IDs   ports.IDs
	// Rails say how accounts are paid into; nobody does where none is connected.
	Rails ports.RailsByEnvironment

	// Jobs and Log are for Run alone.
	Jobs ports.Jobs
	Log  *logrus.Entry
}

// Service are the use cases.
type Service struct{ Config }

// New returns the use cases.
func New(c Config) *Service { return &Service{c} }

// Create takes a customer in and opens an account for each of the platform's
// currencies. Faults: INVALID_INPUT with every bad field, CONFLICT for a
// platformCustomerId in use, UMA_ADDRESS_EXISTS.
func (o *Service) Create(ctx context.Context, who platform.Principal, claim *ports.IdempotentRequest, r customer.Request) (customer.Customer, error) {
	if err := who.CheckPermission(platform.Manage); err != nil {
		return customer.Customer{}, err
	}
	now := o.Clock.Now()
	var created customer.Customer
	err := o.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		// A currency that is added meanwhile waits, and then finds this customer too.
		on, err := tx.LockPlatformShared(ctx, who.Platform)
		if err != nil {
			return err
		}
		if created, err = customer.Create(r, on, ident.NewCustomer(o.IDs.New, now), o.IDs.New(now), now); err != nil {
			return err
		}
		opened, err := o.newOpening(on, created, now).Open(on.CurrencyCodes())
		if err != nil {
			return err
		}
		// First, so that a repeated request finds its answer and not the customer it made.
		if err := tx.SaveResponse(ctx, claim, created, nil); err != nil {
			return err
		}
		if err := tx.CreateCustomer(ctx, created); err != nil {
			return err
		}
		return tx.OpenInternalAccounts(ctx, opened)
	})
	if err != nil {
		return customer.Customer{}, err
	}
	return created, nil
}

// Get reads one customer, also a deleted one, or answers USER_NOT_FOUND.
func (o *Service) Get(ctx context.Context, who platform.Principal, id ident.Customer) (customer.Customer, error) {
	if err := who.CheckPermission(platform.View); err != nil {
		return customer.Customer{}, err
	}
	return o.Store.Customer(ctx, who.Platform, id)
}

// List reads the customers that pass the filter.
func (o *Service) List(ctx context.Context, who platform.Principal, f ports.CustomerFilter) (ports.Page[customer.Customer], error) {
	if err := who.CheckPermission(platform.View); err != nil {
		return ports.Page[customer.Customer]{}, err
	}
	return o.Store.Customers(ctx, who.Platform, f)
}
