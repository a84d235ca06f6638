// Package activity lists what people have done to a platform, and to the service as a whole: what operators, compliance and finance have
// decided, and who has seen personal data. It changes nothing.
package activity

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// Store reads what was recorded.
type Store interface {
	// Activities returns what people have done, newest first, at most f.Limit.
	Activities(ctx context.Context, f ports.ActivityFilter) ([]ports.Activity, error)
}

// Service holds the use cases.
type Service struct{ store Store }

// New returns a Service.
func New(store Store) *Service { return &Service{store} }

// MaxLimit is the largest number of entries that are read at once.
const MaxLimit = 1000

// List returns what people have done, newest first, and whether there is more. The part of a name that f.Actor is may be in letters of
// either case.
func (s *Service) List(ctx context.Context, f ports.ActivityFilter) (found []ports.Activity, more bool, err error) {
	f.Limit = min(max(f.Limit, 1), MaxLimit)
	f.Actor = strings.ToLower(strings.TrimSpace(f.Actor))
	wanted := f.Limit
	f.Limit++
	if found, err = s.store.Activities(ctx, f); err != nil {
		return nil, false, err
	}
	return found[:min(len(found), wanted)], len(found) > wanted, nil
}

// Get returns an entry of a platform, or of the service as a whole. Fault: NOT_FOUND.
func (s *Service) Get(ctx context.Context, p ident.Platform, id uuid.UUID) (ports.Activity, error) {
	found, err := s.store.Activities(ctx, ports.ActivityFilter{Platform: p, ID: id, Limit: 1})
	if err == nil && (len(found) == 0 || id == uuid.Nil) {
		err = fault.New(fault.NotFound, "There is no entry %s in the audit.", id)
	}
	if err != nil {
		return ports.Activity{}, err
	}
	return found[0], nil
}
