package postgres

import (
	"context"

	"causeway/adapters/postgres/outbox"
	"causeway/core/event"
)

// Emit renders events immediately, from the current resources, and stores them with the unit
// of work.
func (u *Unit) Emit(ctx context.Context, events []event.Event) error {
	if len(events) == 0 {
		return nil
	}
	rows := make([]outbox.Row, len(events))
	for i, e := range events {
		body, err := u.db.render(e)
		if err != nil {
			return err
		}
		if body, err = outbox.SealBody(ctx, u.db.cipher, e.Platform.UUID(), e.ID.UUID(), body); err != nil {
			return err
		}
		rows[i] = outbox.Row{Event: e, Body: body}
	}
	statement, args := outbox.Statement(rows)
	u.queueExec(statement, args...)
	u.emits = true
	return nil
}
