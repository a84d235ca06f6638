package postgres

import (
	"context"
	"slices"

	"causeway/adapters/postgres/outbox"
	"causeway/core/event"
)

// StoreEvents stores events with the unit of work. It encrypts their bodies in place.
func (u *Unit) StoreEvents(ctx context.Context, events []event.Rendered) error {
	if len(events) == 0 {
		return nil
	}
	for i := range events {
		e := &events[i]
		if !slices.Contains(u.emits, e.Platform) {
			u.emits = append(u.emits, e.Platform)
		}
		var err error
		if e.Body, err = outbox.SealBody(ctx, u.db.cipher, e.Platform.UUID(), e.ID.UUID(), e.Body); err != nil {
			return err
		}
	}
	statement, args := outbox.Statement(events)
	u.queueExec(statement, args...)
	return nil
}
