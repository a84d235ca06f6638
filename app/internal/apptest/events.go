package apptest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
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

// Tx is a unit of work as use cases are given it. It records events, and stores them with an empty body.
type Tx struct {
	*postgres.Unit
	events *Events
}

func (r *Events) newTx(u *postgres.Unit) any { return Tx{u, r} }

// Tx returns a unit of work as use cases are given it.
func (e *Env) Tx(u *postgres.Unit) Tx { return Tx{u, e.Events} }

// Emit records events and stores them with the unit of work.
func (t Tx) Emit(ctx context.Context, events []event.Event) error {
	rendered := make([]event.Rendered, len(events))
	for i, e := range events {
		t.events.record(e)
		rendered[i] = e.Rendered([]byte("{}"))
	}
	return t.StoreEvents(ctx, rendered)
}

func (r *Events) record(e event.Event) {
	if r.forward != nil {
		r.forward(e)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
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
