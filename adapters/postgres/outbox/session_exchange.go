package outbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/ports"
)

// Exchange is one round trip and one commit, whatever it carries.
func (s *session) Exchange(ctx context.Context, now time.Time, done []ports.WebhookResult, wants []ports.WebhookFetch) ([]ports.DueWebhooks, error) {
	batch, due := &pgx.Batch{}, make([]ports.DueWebhooks, len(wants))
	var before xidBounds
	if slices.ContainsFunc(wants, func(w ports.WebhookFetch) bool { return w.Fresh > 0 }) {
		// Before anything is written: our own transaction must not count as running.
		asks := slices.ContainsFunc(wants, func(w ports.WebhookFetch) bool {
			m := s.watermarks[w.Platform]
			return m != nil && m.needsNextXID()
		})
		batch.Queue(xminSQL, asks).QueryRow(func(row pgx.Row) error { return row.Scan(&before.xmin, &before.nextXID) })
	}
	queueResults(batch, now, done)
	for i, want := range wants {
		if want.Fresh > 0 {
			m, owned := s.watermarks[want.Platform]
			if !owned {
				return nil, fmt.Errorf("read the events of %s: the platform is not owned by this session", want.Platform)
			}
			queueNewEvents(batch, want, m, &before, &due[i])
		}
		if want.Retries > 0 {
			queueRetries(batch, now, want, &due[i])
		}
		queueEndpoint(batch, want, &due[i])
	}
	if batch.Len() == 0 {
		return due, nil
	}
	if err := s.conn.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("record and read webhooks: %w", err)
	}
	return due, nil
}

// Comes after the events, whose commits it therefore sees.
const endpointSQL = `SELECT webhook_endpoint, environment FROM platforms WHERE id = $1`

func queueEndpoint(batch *pgx.Batch, want ports.WebhookFetch, due *ports.DueWebhooks) {
	batch.Queue(endpointSQL, pgUUID(want.Platform.UUID())).QueryRow(func(row pgx.Row) error {
		return row.Scan(&due.Endpoint.URL, &due.Endpoint.Environment)
	})
}

// The next id is our own: whoever has one by now has a lower one.
const xminSQL = `
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, CASE WHEN $1 THEN pg_current_xact_id()::text::bigint ELSE 0 END`

// Uses the primary keys of webhook_queue, webhook_events and webhook_backlog. The
// events are looked up one by one (OFFSET 0), or a young table would be read whole.
const newEventsSQL = `
SELECT q.seq, q.subject_id, e.id, e.name, e.created_at, e.body,
       (SELECT min(b.seq) FROM webhook_backlog b WHERE b.platform_id = $1 AND b.subject_id = q.subject_id)
FROM (SELECT seq, subject_id, event_id FROM webhook_queue
      WHERE platform_id = $1 AND seq > $2 AND seq <> ALL ($3::bigint[]) ORDER BY seq LIMIT $4) q
CROSS JOIN LATERAL (SELECT * FROM webhook_events WHERE platform_id = $1 AND id = q.event_id OFFSET 0) e
ORDER BY q.seq`

func queueNewEvents(batch *pgx.Batch, want ports.WebhookFetch, m *watermark, before *xidBounds, due *ports.DueWebhooks) {
	from, held := m.tail, []int64{}
	if want.FullScan {
		from = 0
	}
	for _, seq := range want.InFlight {
		if seq > from {
			held = append(held, seq)
		}
	}
	batch.Queue(newEventsSQL, pgUUID(want.Platform.UUID()), from, held, want.Fresh).Query(func(rows pgx.Rows) error {
		var subject, id pgtype.UUID
		var first *int64 // of the subject in the backlog
		var q ports.QueuedWebhook
		highest := int64(0)
		_, err := pgx.ForEachRow(rows, []any{&q.Seq, &subject, &id, &q.Name, &q.Created, &q.Body, &first}, func() error {
			one := q
			one.Platform, one.Subject, one.ID = want.Platform, subject.Bytes, webhookID(id)
			one.Created, one.DueSince = q.Created.UTC(), q.Created.UTC()
			if first != nil {
				one.Blocked, one.HasSuccessor = *first < q.Seq, *first > q.Seq
			}
			highest, q.Body, first = q.Seq, nil, nil // the next row gets memory of its own
			due.Fresh = append(due.Fresh, one)
			return nil
		})
		if err != nil {
			return err
		}
		m.advance(*before, highest, len(due.Fresh) == want.Fresh)
		return nil
	})
}

// Uses webhook_backlog_due and the primary keys.
const retriesSQL = `
SELECT b.seq, b.subject_id, e.id, e.name, e.created_at, e.body, b.due_since, b.attempts, b.attempts_since_due,
       EXISTS (SELECT 1 FROM webhook_backlog x WHERE x.platform_id = $1 AND x.subject_id = b.subject_id AND x.seq < b.seq)
FROM (SELECT * FROM webhook_backlog
      WHERE platform_id = $1 AND next_attempt_at <= $2 AND seq <> ALL ($3::bigint[])
      ORDER BY next_attempt_at, seq LIMIT $4) b
CROSS JOIN LATERAL (SELECT * FROM webhook_events WHERE platform_id = $1 AND id = b.event_id OFFSET 0) e
ORDER BY b.next_attempt_at, b.seq`

const nextRetrySQL = `SELECT min(next_attempt_at) FROM webhook_backlog WHERE platform_id = $1 AND next_attempt_at > $2`

func queueRetries(batch *pgx.Batch, now time.Time, want ports.WebhookFetch, due *ports.DueWebhooks) {
	held := want.InFlight
	if held == nil {
		held = []int64{}
	}
	platform := pgUUID(want.Platform.UUID())
	batch.Queue(retriesSQL, platform, now, held, want.Retries).Query(func(rows pgx.Rows) error {
		var subject, id pgtype.UUID
		q := ports.QueuedWebhook{Platform: want.Platform, InBacklog: true, HasSuccessor: true}
		_, err := pgx.ForEachRow(rows, []any{
			&q.Seq, &subject, &id, &q.Name, &q.Created, &q.Body, &q.DueSince, &q.Attempts, &q.AttemptsSinceDue, &q.Blocked,
		}, func() error {
			one := q
			one.Subject, one.ID = subject.Bytes, webhookID(id)
			one.Created, one.DueSince = q.Created.UTC(), q.DueSince.UTC()
			q.Body = nil
			due.Retries = append(due.Retries, one)
			return nil
		})
		return err
	})
	batch.Queue(nextRetrySQL, platform, now).QueryRow(func(row pgx.Row) error {
		var next *time.Time
		if err := row.Scan(&next); err != nil {
			return err
		}
		if next != nil {
			due.NextRetry = next.UTC()
		}
		return nil
	})
}
