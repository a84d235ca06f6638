package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/ports"
)

// Exchange implements ports.WebhookSession, in one round trip and one commit.
func (s *session) Exchange(ctx context.Context, now time.Time, results []ports.WebhookResult,
	fetches []ports.WebhookFetch) ([]ports.DueWebhooks, error) {
	batch, due := &pgx.Batch{}, make([]ports.DueWebhooks, len(fetches))
	queueResults(batch, now, results)
	for _, r := range results {
		if m, owned := s.watermarks[r.Event.Platform]; owned {
			m.know(r.Event.Seq)
		}
	}
	for i, fetch := range fetches {
		if fetch.Fresh > 0 {
			m, owned := s.watermarks[fetch.Platform]
			if !owned {
				return nil, fmt.Errorf("read the events of %s: the platform is not owned by this session", fetch.Platform)
			}
			queueNewEvents(batch, fetch, m, len(results) > 0, &due[i])
		}
		if fetch.Retries > 0 {
			queueRetries(batch, now, fetch, &due[i])
			queueEndpoint(batch, fetch, &due[i])
		}
	}
	if batch.Len() == 0 {
		return due, nil
	}
	if err := s.conn.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("record and read webhooks: %w", err)
	}
	s.openBodies(ctx, due)
	return due, nil
}

// Read after the events, so it is at least as new as they are.
const endpointSQL = `SELECT ` + endpointColumns + ` FROM platforms p WHERE id = $1`

func queueEndpoint(batch *pgx.Batch, fetch ports.WebhookFetch, due *ports.DueWebhooks) {
	batch.Queue(endpointSQL, fetch.Platform).QueryRow(func(row pgx.Row) error { return row.Scan(endpointFields(&due.Endpoint)...) })
}

// It returns one row without an event if there is none. xmin is that of the snapshot in which the events are read. The
// next id is that of this transaction, which is assigned now, if not by a statement before: all ids of transactions that
// had numbered events when the last read ended are lower. Uses the primary keys of platforms, webhook_queue,
// webhook_events and webhook_backlog. The events are looked up one by one (OFFSET 0); otherwise a young table would be
// read completely.
const newEventsSQL = `
SELECT (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint),
       (SELECT CASE WHEN $5 THEN pg_current_xact_id()::text::bigint ELSE 0 END), ` + endpointColumns + `,
       q.seq, q.subject_id, e.id, e.name, e.created_at, e.body, e.traceparent,
       (SELECT min(b.seq) FROM webhook_backlog b WHERE b.platform_id = $1 AND b.subject_id = q.subject_id)
FROM platforms p
LEFT JOIN LATERAL (SELECT seq, subject_id, event_id FROM webhook_queue
      WHERE platform_id = $1 AND seq > $2 AND seq <> ALL ($3::bigint[]) ORDER BY seq LIMIT $4) q ON true
LEFT JOIN LATERAL (SELECT * FROM webhook_events WHERE platform_id = $1 AND id = q.event_id OFFSET 0) e ON true
WHERE p.id = $1
ORDER BY q.seq`

func queueNewEvents(batch *pgx.Batch, fetch ports.WebhookFetch, m *watermark, writes bool, due *ports.DueWebhooks) {
	from, inFlight := m.tail, []int64{}
	if fetch.FullScan {
		from = 0
	}
	for _, seq := range fetch.InFlight {
		m.know(seq)
		if seq > from {
			inFlight = append(inFlight, seq)
		}
	}
	batch.Queue(newEventsSQL, fetch.Platform, from, inFlight, fetch.Fresh, m.needsNextXID(writes)).Query(func(rows pgx.Rows) error {
		var before xidBounds
		q := ports.QueuedWebhook{Platform: fetch.Platform}
		var first *int64 // number of the subject's first event in the backlog
		columns := append([]any{&before.xmin, &before.nextXID}, endpointFields(&due.Endpoint)...)
		ofAll := len(columns)
		columns = append(columns, &q.Seq, &q.Subject, &q.ID, &q.Name, &q.Created, &q.Body, schema.Optional(&q.Trace), &first)
		for rows.Next() {
			noEvent := rows.RawValues()[ofAll] == nil
			if noEvent {
				clear(columns[ofAll:])
			}
			if err := rows.Scan(columns...); err != nil {
				return err
			}
			if noEvent {
				break
			}
			q.DueSince, q.Blocked, q.HasSuccessor = q.Created, first != nil && *first < q.Seq, first != nil && *first > q.Seq
			due.Fresh = append(due.Fresh, q)
			q.Body = nil
			clear(columns[:ofAll]) // the same in each row
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return err
		}
		if before.xmin == 0 {
			return fmt.Errorf("there is no platform %s", fetch.Platform)
		}
		highest := int64(0)
		if n := len(due.Fresh); n > 0 {
			highest = due.Fresh[n-1].Seq
		}
		m.advance(before, highest, len(due.Fresh) == fetch.Fresh)
		return nil
	})
}

// Uses webhook_backlog_due and the primary keys.
const retriesSQL = `
SELECT b.seq, b.subject_id, e.id, e.name, e.created_at, e.body, e.traceparent, b.due_since, b.attempts, b.attempts_since_due,
       EXISTS (SELECT 1 FROM webhook_backlog x WHERE x.platform_id = $1 AND x.subject_id = b.subject_id AND x.seq < b.seq)
FROM (SELECT * FROM webhook_backlog
      WHERE platform_id = $1 AND next_attempt_at <= $2 AND seq <> ALL ($3::bigint[])
      ORDER BY next_attempt_at, seq LIMIT $4) b
CROSS JOIN LATERAL (SELECT * FROM webhook_events WHERE platform_id = $1 AND id = b.event_id OFFSET 0) e
ORDER BY b.next_attempt_at, b.seq`

const nextRetrySQL = `SELECT min(next_attempt_at) FROM webhook_backlog WHERE platform_id = $1 AND next_attempt_at > $2`

func queueRetries(batch *pgx.Batch, now time.Time, fetch ports.WebhookFetch, due *ports.DueWebhooks) {
	inFlight := fetch.InFlight
	if inFlight == nil {
		inFlight = []int64{}
	}
	batch.Queue(retriesSQL, fetch.Platform, now, inFlight, fetch.Retries).Query(func(rows pgx.Rows) error {
		retries, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (ports.QueuedWebhook, error) {
			q := ports.QueuedWebhook{Platform: fetch.Platform, InBacklog: true, HasSuccessor: true}
			err := row.Scan(&q.Seq, &q.Subject, &q.ID, &q.Name, &q.Created, &q.Body, schema.Optional(&q.Trace), &q.DueSince,
				&q.Attempts, &q.AttemptsSinceDue, &q.Blocked)
			return q, err
		})
		due.Retries = append(due.Retries, retries...)
		return err
	})
	batch.Queue(nextRetrySQL, fetch.Platform, now).QueryRow(func(row pgx.Row) error { return row.Scan(&due.NextRetry) })
}
