package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ports"
)

// redeliverBatchSize is the largest number of events queued by one statement.
const redeliverBatchSize = 5000

// Redeliver implements ports.WebhookLog. It puts events into the backlog, due at once and
// under their old numbers, so that the events of a subject are sent in order. Batches follow
// the ids, so no event is queued twice.
func (l *Log) Redeliver(ctx context.Context, p ident.Platform, filter ports.Redelivery, now time.Time) (int, error) {
	total, after := 0, uuid.Nil
	for {
		c := conditions{id: "e.id"}
		c.add("e.platform_id = %s", p)
		c.add("e.id > %s", after)
		if len(filter.IDs) > 0 {
			c.add("e.id = ANY (%s)", filter.IDs)
		}
		c.addSpan(filter.Created)
		c.addStatus(filter.Status)
		// Pending events are excluded here, or by ON CONFLICT if they entered the backlog
		// after the snapshot of this statement.
		c.clauses = append(c.clauses, "q.seq IS NULL AND b.seq IS NULL")
		c.args = append(c.args, now)
		sql := fmt.Sprintf(`
WITH chosen AS (
    SELECT e.platform_id, e.subject_id, e.seq, e.id, coalesce(last.attempt_no, 0) AS attempts%s%s%s ORDER BY e.id LIMIT %d
), queued AS (
    INSERT INTO webhook_backlog (platform_id, subject_id, seq, event_id, next_attempt_at, due_since, attempts, attempts_since_due)
    SELECT platform_id, subject_id, seq, id, $%d::timestamptz, $%d::timestamptz, attempts, 0 FROM chosen
    ON CONFLICT (platform_id, seq) DO NOTHING RETURNING 1)
SELECT (SELECT count(*) FROM chosen), (SELECT count(*) FROM queued), coalesce((SELECT id FROM chosen ORDER BY id DESC LIMIT 1), $2)`,
			fromEvents, joinState, c.where(), l.batchSize, len(c.args), len(c.args))

		var chosen, queued int
		if err := l.q.QueryRow(ctx, sql, prepared(c.args)...).Scan(&chosen, &queued, &after); err != nil {
			return total, fmt.Errorf("queue webhooks again: %w", err)
		}
		total += queued
		if chosen < l.batchSize {
			return total, nil
		}
	}
}
