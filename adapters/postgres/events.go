package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/outbox"
	"causeway/core/event"
)

// StoreEvents stores events with the unit of work. It encrypts their bodies in place.
func (u *Unit) StoreEvents(ctx context.Context, events []event.Rendered) error {
	if len(events) == 0 {
		return nil
	}
	stored := outbox.Committed(events)
	for i := range events {
		e := &events[i]
		var err error
		if e.Body, err = outbox.SealBody(ctx, u.db.cipher, e.Platform.UUID(), e.ID.UUID(), e.Body); err != nil {
			return err
		}
	}
	u.emits = true
	statement, args := outbox.Statement(events)
	u.pending.Queue(statement, args...).Query(func(rows pgx.Rows) error {
		err := outbox.ScanQueued(rows, stored)
		u.queued = append(u.queued, outbox.InOrder(stored)...)
		return err
	})
	return nil
}
