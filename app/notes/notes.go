// Package notes keeps what people write about customers.
package notes

import (
	"context"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// MaxShown is how many notes of a customer are returned, the newest first.
const MaxShown = 200

// Store keeps notes.
type Store interface {
	ports.UnitsOfWork
	// CustomerNotes returns the notes about a customer, the newest first, at most limit.
	CustomerNotes(ctx context.Context, p ident.Platform, of ident.Customer, limit int) ([]customer.Note, error)
}

// Tx is a unit of work.
type Tx interface {
	// LockCustomer locks a customer until the end of the unit, so that it is not erased meanwhile. Fault: USER_NOT_FOUND.
	LockCustomer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	AddCustomerNote(ctx context.Context, n customer.Note) error
}

// Service holds the use cases.
type Service struct {
	store Store
	clock ports.Clock
	ids   ports.IDs
}

// New returns a Service.
func New(store Store, clock ports.Clock, ids ports.IDs) *Service { return &Service{store, clock, ids} }

// Notes returns the notes about a customer, the newest first.
func (s *Service) Notes(ctx context.Context, p ident.Platform, of ident.Customer) ([]customer.Note, error) {
	return s.store.CustomerNotes(ctx, p, of, MaxShown)
}

// Add stores what a person has written about a customer. Faults: INVALID_INPUT, USER_NOT_FOUND, CUSTOMER_DELETED.
func (s *Service) Add(ctx context.Context, p ident.Platform, of ident.Customer, by person.Person, content string) error {
	return ports.Do(ctx, s.store, func(ctx context.Context, tx Tx) error {
		c, err := tx.LockCustomer(ctx, p, of)
		if err != nil {
			return err
		}
		now := s.clock.Now()
		n, err := customer.NewNote(customer.Note{ID: s.ids.New(now), Platform: p, Customer: of, Person: by.ID, Author: by.Name, Content: content,
			CreatedAt: now}, c)
		if err != nil {
			return err
		}
		return tx.AddCustomerNote(ctx, n)
	})
}
