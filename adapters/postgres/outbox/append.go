// Package outbox stores webhook events and their deliveries. Events are stored in the commit
// that caused them. The queue returns them to the one process that delivers for a platform
// and records the results; the log lists deliveries and queues them again. It also stores
// the encrypted keys that sign deliveries.
//
// It never sends anything and never decides when to retry.
package outbox

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/schema"
	"causeway/core/event"
	"causeway/ports"
)

// Querier is a connection or an open transaction, with the codecs of the package schema.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// The rows are numbered in the order given, because a scan of unnest keeps it. An event of a
// platform without an endpoint is stored, but not queued. The condition is always true:
// it assigns the transaction its id before any row is numbered, which readers rely on (see
// watermark). The events that are queued are returned, with what was in the queue before the statement. Uses
// webhook_queue_subject and webhook_backlog_subject: the platform is compared so that no index has it as a condition. Otherwise a plan
// that is made while a table is almost empty reads all events of the platform. The events of an account may be many, and those that
// were sent may not be vacuumed yet. They would all be passed under the lock of its balance, so they are not looked up.
const appendSQL = `
WITH stored AS (
    INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body, traceparent)
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::bytea[], $8::text[])
    WHERE pg_current_xact_id() IS NOT NULL
    RETURNING platform_id, seq, subject_id, id, type
), endpoints AS MATERIALIZED (
    SELECT ` + endpointColumns + ` FROM platforms p WHERE p.id = ANY ($1) AND p.webhook_endpoint <> ''
), queued AS (
    INSERT INTO webhook_queue (platform_id, seq, subject_id, event_id)
    SELECT s.platform_id, s.seq, s.subject_id, s.id FROM stored s JOIN endpoints p ON p.id = s.platform_id)
SELECT s.id, s.seq,
       CASE WHEN s.type = '` + string(event.InternalAccountStatus) + `' THEN 0 ELSE coalesce((SELECT max(q.seq) FROM webhook_queue q
           WHERE q.subject_id = s.subject_id AND q.platform_id IS NOT DISTINCT FROM s.platform_id), 0) END,
       CASE WHEN s.type = '` + string(event.InternalAccountStatus) + `' THEN true ELSE EXISTS (SELECT FROM webhook_backlog b
           WHERE b.subject_id = s.subject_id AND b.platform_id IS NOT DISTINCT FROM s.platform_id) END,
       ` + endpointColumns + `
FROM stored s JOIN endpoints p ON p.id = s.platform_id`

// Append stores events, whose bodies SealBody may have encrypted, and queues them for delivery, with one statement. They are visible
// when the caller's transaction commits. The caller must hold a lock on the subject of each
// event, such as the row of its transaction: it decides the order of the subject's events.
func Append(ctx context.Context, q Querier, events []event.Rendered) error {
	if len(events) == 0 {
		return nil
	}
	sql, args := Statement(events)
	_, err := q.Exec(ctx, sql, prepared(args)...)
	return err
}

// prepared returns the arguments of a statement that is prepared.
func prepared(args []any) []any { return append([]any{pgx.QueryExecModeCacheStatement}, args...) }

// Statement returns the statement of Append, for a caller that sends it in a batch with
// others. The text is always the same, so it stays prepared.
func Statement(events []event.Rendered) (sql string, args []any) {
	return appendSQL, schema.Arrays(events, func(e *event.Rendered) []any {
		return []any{&e.Platform, &e.ID, &e.Subject, &e.OccurredAt, &e.Type, &e.Name, &e.Body, schema.Optional(&e.Trace)}
	})
}

// Committed returns events as they are after the commit, with the bodies that they have now. Their rows are read by ScanQueued.
func Committed(events []event.Rendered) []ports.CommittedWebhook {
	committed := make([]ports.CommittedWebhook, len(events))
	for i, e := range events {
		committed[i].QueuedWebhook = ports.QueuedWebhook{Platform: e.Platform, ID: e.ID, Subject: e.Subject, Name: e.Name, Body: e.Body,
			Trace: e.Trace, Created: e.OccurredAt, DueSince: e.OccurredAt}
	}
	return committed
}

// ScanQueued reads the rows of Statement for its events. Those that are not queued get no number.
func ScanQueued(rows pgx.Rows, events []ports.CommittedWebhook) error {
	var row ports.CommittedWebhook
	i := 0 // of the event of the last row: they have the same order
	targets := append([]any{&row.ID, &row.Seq, &row.Previous, &row.Blocked}, endpointFields(&row.Endpoint)...)
	_, err := pgx.ForEachRow(rows, targets, func() error {
		for events[i].ID != row.ID {
			i = (i + 1) % len(events)
		}
		e := &events[i]
		e.Seq, e.Previous, e.Blocked, e.Endpoint = row.Seq, row.Previous, row.Blocked, row.Endpoint
		return nil
	})
	return err
}

// InOrder returns those of the events of a statement that are queued, in the order of their numbers. Of each it adds the previous one
// that the statement itself queued.
func InOrder(events []ports.CommittedWebhook) []ports.CommittedWebhook {
	events = slices.DeleteFunc(events, func(e ports.CommittedWebhook) bool { return e.Seq == 0 })
	slices.SortFunc(events, func(a, b ports.CommittedWebhook) int { return cmp.Compare(a.Seq, b.Seq) })
	latest := make(map[uuid.UUID]int64, len(events))
	for i := range events {
		e := &events[i]
		e.Previous = max(e.Previous, latest[e.Subject])
		latest[e.Subject] = e.Seq
	}
	return events
}
