package postgres

import (
	"bytes"
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

var _ ports.PartnerEvents = (*DB)(nil)

// partnerEventSpace is the namespace of the ids of rows of partner_events.
var partnerEventSpace = uuid.MustParse("5b0f5c9e-6a52-4d0c-9d3f-0a4c1f2f7b61")

// partnerEventRow returns the row of an event. It belongs to no platform.
func partnerEventRow(connection, eventID string) sealed.Row {
	return sealed.Row{Platform: uuid.Nil, ID: uuid.NewSHA1(partnerEventSpace, []byte(connection+"\x00"+eventID))}
}

// insertPartnerEvents locks the row of the connection, so that numbers become visible in their order. Numbers may have gaps.
const insertPartnerEvents = `
	WITH counter AS (
		INSERT INTO partner_event_numbers AS n (connection, last) VALUES ($1, $2)
		ON CONFLICT (connection) DO UPDATE SET last = n.last + $2 RETURNING last - $2 AS first)
	INSERT INTO partner_events (platform_id, id, connection, number, event_id, body, received_at)
	SELECT '00000000-0000-0000-0000-000000000000', e.id, $1, counter.first + e.n, e.event_id, e.body, $6
	FROM counter, unnest($3::uuid[], $4::text[], $5::text[]) WITH ORDINALITY AS e (id, event_id, body, n)
	ON CONFLICT (connection, event_id) DO NOTHING RETURNING event_id`

// SavePartnerEvents implements ports.PartnerEvents.
func (db *DB) SavePartnerEvents(ctx context.Context, connection string, now time.Time,
	events []ports.PartnerEvent) (differing []ports.PartnerEvent, err error) {
	ctx = ports.ForAllPlatforms(ctx)
	ids, eventIDs, bodies := make([]uuid.UUID, len(events)), make([]string, len(events)), make([]string, len(events))
	for i, e := range events {
		row := partnerEventRow(connection, e.ID)
		ids[i], eventIDs[i] = row.ID, e.ID
		if bodies[i], err = db.sealed.SealText(ctx, row, sealed.PartnerEventsBody, string(e.Body)); err != nil {
			return nil, err
		}
	}
	inserted := 0
	if err := db.read(ctx, insertPartnerEvents, []any{connection, len(events), ids, eventIDs, bodies, now}, func(pgx.Rows) error {
		inserted++
		return nil
	}); err != nil || inserted == len(events) {
		return nil, err
	}
	return db.differingPartnerEvents(ctx, connection, events, eventIDs)
}

// differingPartnerEvents returns the events that are stored with another body, as they are stored. Uses partner_event_once.
func (db *DB) differingPartnerEvents(ctx context.Context, connection string, events []ports.PartnerEvent,
	ids []string) ([]ports.PartnerEvent, error) {
	stored, err := db.readPartnerEvents(ctx, connection, `event_id = ANY($2)`, ids)
	if err != nil {
		return nil, err
	}
	byID := map[string]ports.PartnerEvent{}
	for _, s := range stored {
		byID[s.ID] = s
	}
	var differing []ports.PartnerEvent
	for _, e := range events {
		if known, found := byID[e.ID]; found && !bytes.Equal(known.Body, e.Body) {
			differing = append(differing, known)
		}
	}
	return differing, nil
}

// PartnerEvents implements ports.PartnerEvents. Uses partner_event_number_once.
func (db *DB) PartnerEvents(ctx context.Context, connection string, after int64, limit int) ([]ports.PartnerEvent, error) {
	return db.readPartnerEvents(ports.ForAllPlatforms(ctx), connection, `number > $2 ORDER BY number LIMIT $3`, after, limit)
}

func (db *DB) readPartnerEvents(ctx context.Context, connection, where string, args ...any) ([]ports.PartnerEvent, error) {
	events, err := storage.Collect(ctx, db.read, `SELECT event_id, number, body FROM partner_events WHERE connection = $1 AND `+where,
		append([]any{connection}, args...),
		func(rows pgx.Rows, e *ports.PartnerEvent) error { return rows.Scan(&e.ID, &e.Number, &e.Body) })
	for i, e := range events {
		if err == nil {
			events[i].Body, err = db.sealed.Open(ctx, partnerEventRow(connection, e.ID), sealed.PartnerEventsBody, e.Body)
		}
	}
	return events, err
}

// deleteOldPartnerEvents deletes the events received before a time, in batches. Uses partner_events_by_received_at.
func (db *DB) deleteOldPartnerEvents(ctx context.Context, before time.Time, deleted func(table string, rows int)) error {
	return db.deleteInBatches(ports.ForAllPlatforms(ctx), "partner_events", `DELETE FROM partner_events WHERE (platform_id, id) IN (
		SELECT platform_id, id FROM partner_events WHERE received_at < $1 ORDER BY received_at LIMIT $2)`, before, deleted)
}
