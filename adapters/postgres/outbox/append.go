// Package outbox keeps the events that platforms are told: it stores them in the
// commit that caused them, hands them to the one process that delivers for a
// platform, records what became of them, and shows it. It also keeps the sealed
// keys that deliveries are signed with.
//
// It never sends anything and never decides when something is sent again.
package outbox

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/event"
)

// Querier is a connection or an open transaction.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Row is an event as it is stored.
type Row struct {
	Event event.Event
	// Body is what is signed and sent, byte for byte.
	Body []byte
}

// The rows are numbered in the order given, because a scan of unnest keeps it. An
// event of a platform without an endpoint is stored, but there is nowhere to send it.
// The condition is always true, and is there for what it does before any row is
// numbered: give the transaction its id, by which readers know that it runs.
const appendSQL = `
WITH told AS (
    INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body)
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::bytea[])
    WHERE pg_current_xact_id() IS NOT NULL
    RETURNING platform_id, seq, subject_id, id)
INSERT INTO webhook_queue (platform_id, seq, subject_id, event_id)
SELECT told.platform_id, told.seq, told.subject_id, told.id
FROM told JOIN platforms ON platforms.id = told.platform_id
WHERE platforms.webhook_endpoint <> ''`

// Append stores events and queues them for delivery, whatever their number in one
// statement. They count when the caller's transaction commits. Events of one subject
// must be appended by whoever holds a lock on it (the row of its transaction, say):
// that is what makes their order.
func Append(ctx context.Context, q Querier, rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	sql, args := Statement(rows)
	_, err := q.Exec(ctx, sql, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
	return err
}

// Statement is what Append executes, for a caller that sends it in a batch with
// others. The text is always the same, so that it can stay prepared.
func Statement(rows []Row) (sql string, args []any) {
	platforms, ids, subjects := make([]pgtype.UUID, len(rows)), make([]pgtype.UUID, len(rows)), make([]pgtype.UUID, len(rows))
	at := make([]pgtype.Timestamptz, len(rows))
	types, names := make([]string, len(rows)), make([]string, len(rows))
	bodies := make([][]byte, len(rows))
	for i := range rows {
		e := &rows[i].Event
		platforms[i], ids[i], subjects[i] = pgUUID(e.Platform.UUID()), pgUUID(e.ID.UUID()), pgUUID(e.Subject)
		at[i] = pgTime(e.OccurredAt)
		types[i], names[i] = string(e.Type), e.Name
		bodies[i] = rows[i].Body
	}
	return appendSQL, []any{platforms, ids, subjects, at, types, names, bodies}
}
