// Package onboarding takes the customers of a platform in, and reads them back.
//
// It verifies nobody and moves no money: a customer's status at the beginning is
// core/customer's to decide.
package onboarding

import (
	"context"
	"time"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store ports.Store
	Clock ports.Clock
	IDs   ports.IDs
}

// Onboarding are the use cases.
type Onboarding struct{ Config }

// New makes the use cases.
func New(c Config) *Onboarding { return &Onboarding{c} }

// Create takes a customer in and opens an account for each of the platform's
// currencies. Faults: INVALID_INPUT with every bad field, CONFLICT for a
// platformCustomerId in use, UMA_ADDRESS_EXISTS.
func (o *Onboarding) Create(ctx context.Context, who platform.Principal, claim *ports.Claim, r customer.Request) (customer.Customer, error) {
	if err := who.Must(platform.Manage); err != nil {
		return customer.Customer{}, err
	}
	on, err := o.Store.Platform(ctx, who.Platform)
	if err != nil {
		return customer.Customer{}, err
	}
	now := o.Clock.Now()
	created, err := customer.Create(r, on, ident.NewCustomer(o.IDs.New, now), o.IDs.New(now), now)
	if err != nil {
		return customer.Customer{}, err
	}
	opened, err := o.accounts(created, on, now)
	if err != nil {
		return customer.Customer{}, err
	}
	err = o.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		// First, so that a repeated request finds its answer and not the customer it made.
		if err := tx.Remember(ctx, claim, created, nil); err != nil {
			return err
		}
		if err := tx.CreateCustomer(ctx, created); err != nil {
			return err
		}
		return tx.OpenInternalAccounts(ctx, opened)
	})
	return created, err
}

// accounts are those a customer starts with. USDB is held in an embedded wallet
// under the customer's own keys, and those do not exist yet.
func (o *Onboarding) accounts(of customer.Customer, on platform.Platform, now time.Time) ([]account.Internal, error) {
	var accounts []account.Internal
	for _, currency := range on.Currencies {
		if currency.Code == money.USDB {
			continue
		}
		opened, err := account.NewInternal(ident.NewInternalAccount(o.IDs.New, now), on.ID, of.ID, currency.Code, now)
		if err != nil {
			return nil, err
		}
		accounts = append(accounts, opened)
	}
	return accounts, nil
}

// Get reads one customer, also a deleted one, or answers USER_NOT_FOUND.
func (o *Onboarding) Get(ctx context.Context, who platform.Principal, id ident.Customer) (customer.Customer, error) {
	if err := who.Must(platform.View); err != nil {
		return customer.Customer{}, err
	}
	return o.Store.Customer(ctx, who.Platform, id)
}

// List reads the customers that pass the filter.
func (o *Onboarding) List(ctx context.Context, who platform.Principal, f ports.CustomerFilter) (ports.Page[customer.Customer], error) {
	if err := who.Must(platform.View); err != nil {
		return ports.Page[customer.Customer]{}, err
	}
	return o.Store.Customers(ctx, who.Platform, f)
}
