package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ports"
)

// redeliverBatchSize bounds one statement; a long span takes several.
const redeliverBatchSize = 5000

// Redeliver puts events into the backlog, due at once and under their old numbers, so
// that those of one subject are sent in their order. An event that one chunk has
// queued is not found again by the same call: the chunks follow the ids.
func (l *Log) Redeliver(ctx context.Context, p ident.Platform, which ports.Redelivery, now time.Time) (int, error) {
	total, after := 0, uuid.Nil
	for {
		c := conditions{}
		c.add("e.platform_id = %s", pgUUID(p.UUID()))
		c.add("e.id > %s", pgUUID(after))
		if len(which.IDs) > 0 {
			c.add("e.id = ANY (%s)", pgUUIDs(which.IDs))
		}
		c.addSpan(which.Created)
		c.addStatus(which.Status)
		// Whoever waits already is left out by what this statement sees, and by the
		// primary key if it came to the backlog meanwhile.
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
		if err := l.q.QueryRow(ctx, sql, c.args...).Scan(&chosen, &queued, &after); err != nil {
			return total, fmt.Errorf("queue webhooks again: %w", err)
		}
		total += queued
		if chosen < l.batchSize {
			return total, nil
		}
	}
}
