package postgres

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/ports"
)

var _ ports.PartnerEvents = (*DB)(nil)

// partnerEventSpace is the namespace of the ids of rows of partner_events.
var partnerEventSpace = uuid.MustParse("5b0f5c9e-6a52-4d0c-9d3f-0a4c1f2f7b61")

// partnerEventRow returns the row of an event. It belongs to no platform.
func partnerEventRow(connection, eventID string) sealedRow {
	return sealedRow{uuid.Nil, uuid.NewSHA1(partnerEventSpace, []byte(connection+"\x00"+eventID))}
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
func (db *DB) SavePartnerEvents(ctx context.Context, connection string, now time.Time, events []ports.PartnerEvent) (differing []ports.PartnerEvent, err error) {
	ctx = ports.ForAllPlatforms(ctx)
	ids, eventIDs, bodies := make([]string, len(events)), make([]string, len(events)), make([]string, len(events))
	for i, e := range events {
		row := partnerEventRow(connection, e.ID)
		ids[i], eventIDs[i] = row.id.String(), e.ID
		if bodies[i], err = db.sealText(ctx, row, partnerEventsBody, string(e.Body)); err != nil {
			return nil, err
		}
	}
	rows, err := db.pool.Query(ctx, insertPartnerEvents, connection, len(events), ids, eventIDs, bodies, now)
	if err != nil {
		return nil, err
	}
	inserted, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(inserted) == len(events) {
		return nil, err
	}
	return db.differingPartnerEvents(ctx, connection, events, eventIDs)
}

// differingPartnerEvents returns the events that are stored with another body, as they are stored. Uses partner_event_once.
func (db *DB) differingPartnerEvents(ctx context.Context, connection string, events []ports.PartnerEvent, ids []string) ([]ports.PartnerEvent, error) {
	rows, err := db.pool.Query(ctx, `SELECT event_id, number, body FROM partner_events WHERE connection = $1 AND event_id = ANY($2)`, connection, ids)
	if err != nil {
		return nil, err
	}
	stored, err := db.scanPartnerEvents(ctx, connection, rows)
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
	ctx = ports.ForAllPlatforms(ctx)
	rows, err := db.pool.Query(ctx, `SELECT event_id, number, body FROM partner_events WHERE connection = $1 AND number > $2 ORDER BY number LIMIT $3`, connection, after, limit)
	if err != nil {
		return nil, err
	}
	return db.scanPartnerEvents(ctx, connection, rows)
}

func (db *DB) scanPartnerEvents(ctx context.Context, connection string, rows pgx.Rows) ([]ports.PartnerEvent, error) {
	var events []ports.PartnerEvent
	err := forEachRow(rows, func(rows pgx.Rows) error {
		var e ports.PartnerEvent
		var body string
		if err := rows.Scan(&e.ID, &e.Number, &body); err != nil {
			return err
		}
		plain, err := db.openText(ctx, partnerEventRow(connection, e.ID), partnerEventsBody, body)
		e.Body = []byte(plain)
		events = append(events, e)
		return err
	})
	return events, err
}

// deleteOldPartnerEvents deletes the events received before a time, in batches. Uses partner_events_by_received_at.
func (db *DB) deleteOldPartnerEvents(ctx context.Context, before time.Time, deleted func(rows int)) error {
	for {
		n, err := db.deletePartnerEvents(ctx, before)
		if err != nil {
			return fmt.Errorf("delete old events of partners: %w", err)
		}
		deleted(n)
		if n < retentionBatchSize {
			return nil
		}
	}
}

func (db *DB) deletePartnerEvents(ctx context.Context, before time.Time) (int, error) {
	ctx, cancel := context.WithTimeout(ports.ForAllPlatforms(ctx), retentionBatchTimeout)
	defer cancel()
	done, err := db.pool.Exec(ctx, `DELETE FROM partner_events WHERE (platform_id, id) IN (
		SELECT platform_id, id FROM partner_events WHERE received_at < $1 ORDER BY received_at LIMIT $2)`, before, retentionBatchSize)
	return int(done.RowsAffected()), err
}
