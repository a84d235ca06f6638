package main

import (
	"context"

	"causeway/adapters/http/api"
	"causeway/adapters/postgres"
	"causeway/core/event"
)

// tx is the unit of work of every capability: that of the database, which is given events as the API renders them.
type tx struct{ *postgres.Unit }

func newTx(u *postgres.Unit) any { return tx{u} }

// Emit renders events, from the resources as they are now, and stores them with the unit of work.
func (t tx) Emit(ctx context.Context, events []event.Event) error {
	rendered, err := api.Events.RenderAll(events)
	if err != nil {
		return err
	}
	return t.StoreEvents(ctx, rendered)
}
