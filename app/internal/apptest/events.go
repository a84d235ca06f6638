package apptest

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/ident"
)

// Events records emitted events in their order. It sees each as it is written, so an event
// of a unit of work that is rolled back is recorded too.
type Events struct {
	t       testing.TB
	forward func(event.Event)
	mu      sync.Mutex
	events  []event.Event
}

func (r *Events) render(e event.Event) ([]byte, error) {
	if r.forward != nil {
		r.forward(e)
		return []byte("{}"), nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return []byte("{}"), nil
}

// All returns the events so far.
func (r *Events) All() []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// About returns the events about a subject so far.
func (r *Events) About(subject uuid.UUID) []event.Event {
	var found []event.Event
	for _, e := range r.All() {
		if e.Subject == subject {
			found = append(found, e)
		}
	}
	return found
}

// Balances returns the balances that events reported for an internal account.
func (r *Events) Balances(id ident.InternalAccount) []int64 {
	var balances []int64
	for _, e := range r.All() {
		if a, ok := e.Resource.(account.WithBalance); ok && a.ID == id && e.Name == event.InternalAccountBalanceUpdated {
			balances = append(balances, a.Balance)
		}
	}
	return balances
}

// Want compares the names of the events about a subject with those expected.
func (r *Events) Want(subject uuid.UUID, want ...string) {
	r.t.Helper()
	var got []string
	for _, e := range r.About(subject) {
		got = append(got, e.Name)
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("events %q, want %q", got, want)
	}
}
