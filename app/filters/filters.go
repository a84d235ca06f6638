// Package filters keeps the filters of lists that people have saved. They filter nothing themselves: a page reads them.
package filters

import (
	"context"

	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// Store keeps saved filters.
type Store interface {
	// SavedFilters returns those of a person and a list, by name.
	SavedFilters(ctx context.Context, p ident.Platform, of ident.Person, list string) ([]person.SavedFilter, error)
	// SaveFilter stores a filter in place of one with its name, and returns false if the person has too many.
	SaveFilter(ctx context.Context, f person.SavedFilter) (saved bool, err error)
	// DeleteFilter deletes a filter, or does nothing if there is none.
	DeleteFilter(ctx context.Context, p ident.Platform, of ident.Person, list, name string) error
}

// Service holds the use cases.
type Service struct {
	Store
	clock ports.Clock
}

// New returns a Service.
func New(store Store, clock ports.Clock) *Service { return &Service{store, clock} }

// Save stores a filter, in place of one with the same name. Faults: INVALID_INPUT; CONFLICT if the person has too many.
func (s *Service) Save(ctx context.Context, f person.SavedFilter) error {
	f, err := person.NewSavedFilter(f)
	if err != nil {
		return err
	}
	f.SavedAt = s.clock.Now()
	saved, err := s.SaveFilter(ctx, f)
	if err == nil && !saved {
		err = person.TooManyFilters()
	}
	return err
}
