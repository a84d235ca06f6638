package outbox

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/event"
	"causeway/ports"
)

// What is recorded always hangs on a row that is there to be deleted or changed. So
// the same outcome recorded twice (because the answer to the commit was lost, or the
// platform went to another process) counts once, and the log has no attempt twice.

// In columns: the event, then its attempt. Rides on the primary key of webhook_queue.
const settleFreshSQL = `
WITH gone AS (
    DELETE FROM webhook_queue q
    USING unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], $5::int[], $6::smallint[], $7::bool[], $8::text[], $9::text[], $10::text[])
        AS d(platform_id, subject, seq, at, ms, status_code, parked, outcome, error, response)
    WHERE q.platform_id = d.platform_id AND q.seq = d.seq
    RETURNING q.platform_id, q.event_id, d.at, d.ms, d.status_code, d.parked, d.outcome, d.error, d.response)
INSERT INTO webhook_attempts (platform_id, event_id, at, n, duration_ms, status_code, parked, outcome, error, response)
SELECT platform_id, event_id, at, 1, ms, status_code, parked, outcome, error, response FROM gone`

const settleBacklogSQL = `
WITH gone AS (
    DELETE FROM webhook_backlog b
    USING unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], $5::int[], $6::smallint[], $7::bool[], $8::text[], $9::text[], $10::text[])
        AS d(platform_id, subject, seq, at, ms, status_code, parked, outcome, error, response)
    WHERE b.platform_id = d.platform_id AND b.subject = d.subject AND b.seq = d.seq
    RETURNING b.platform_id, b.event_id, b.attempts + 1 AS n, d.at, d.ms, d.status_code, d.parked, d.outcome, d.error, d.response)
INSERT INTO webhook_attempts (platform_id, event_id, at, n, duration_ms, status_code, parked, outcome, error, response)
SELECT platform_id, event_id, at, n, ms, status_code, parked, outcome, error, response FROM gone`

// An event that failed for the first time moves to the backlog, and one that stands
// back (without an attempt, so without a time of one) too.
const demoteSQL = `
WITH gone AS (
    DELETE FROM webhook_queue q
    USING unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], $5::int[], $6::smallint[], $7::bool[], $8::text[], $9::text[], $10::text[],
                 $11::timestamptz[], $12::timestamptz[])
        AS d(platform_id, subject, seq, at, ms, status_code, parked, outcome, error, response, next, since)
    WHERE q.platform_id = d.platform_id AND q.seq = d.seq
    RETURNING q.platform_id, q.subject, q.seq, q.event_id, d.at, d.ms, d.status_code, d.outcome, d.error, d.response, d.next, d.since,
              (d.at IS NOT NULL)::int AS n
), logged AS (
    INSERT INTO webhook_attempts (platform_id, event_id, at, n, duration_ms, status_code, parked, outcome, error, response)
    SELECT platform_id, event_id, at, n, ms, status_code, false, outcome, error, response FROM gone WHERE n > 0)
INSERT INTO webhook_backlog (platform_id, subject, seq, event_id, next_attempt_at, since, attempts, tries)
SELECT platform_id, subject, seq, event_id, next, since, n, n FROM gone`

const postponeSQL = `
WITH changed AS (
    UPDATE webhook_backlog b
    SET attempts = b.attempts + (d.at IS NOT NULL)::int, tries = b.tries + (d.at IS NOT NULL)::int, next_attempt_at = d.next
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::timestamptz[], $5::int[], $6::smallint[], $7::bool[], $8::text[], $9::text[], $10::text[],
                $11::timestamptz[])
        AS d(platform_id, subject, seq, at, ms, status_code, parked, outcome, error, response, next)
    WHERE b.platform_id = d.platform_id AND b.subject = d.subject AND b.seq = d.seq
    RETURNING b.platform_id, b.event_id, b.attempts AS n, d.at, d.ms, d.status_code, d.outcome, d.error, d.response)
INSERT INTO webhook_attempts (platform_id, event_id, at, n, duration_ms, status_code, parked, outcome, error, response)
SELECT platform_id, event_id, at, n, ms, status_code, false, outcome, error, response FROM changed WHERE at IS NOT NULL`

// The next of a subject is due when the one before it is settled; its own time for
// being tried begins then.
const promoteSQL = `
UPDATE webhook_backlog b SET next_attempt_at = $3, since = CASE WHEN b.tries = 0 THEN $3 ELSE b.since END
FROM (SELECT d.platform_id, d.subject, (
          SELECT min(x.seq) FROM webhook_backlog x
          WHERE x.platform_id = d.platform_id AND x.subject = d.subject) AS seq
      FROM unnest($1::uuid[], $2::uuid[]) AS d(platform_id, subject)) head
WHERE b.platform_id = head.platform_id AND b.subject = head.subject AND b.seq = head.seq AND b.next_attempt_at IS NULL`

// record queues what it takes to record outcomes: for most, one statement.
func record(batch *pgx.Batch, now time.Time, done []ports.WebhookDone) {
	var settledFresh, settledBacklog, demoted, postponed columns
	var subjects, platforms []pgtype.UUID
	for i := range done {
		d := &done[i]
		switch {
		case d.Fate == ports.Settled && d.Event.Retry:
			settledBacklog.add(d)
		case d.Fate == ports.Settled:
			settledFresh.add(d)
		case d.Event.Retry:
			postponed.add(d)
		default:
			demoted.add(d)
		}
		if d.Event.Followed {
			platforms, subjects = append(platforms, key(d.Event.Platform.UUID())), append(subjects, key(d.Event.Subject))
		}
	}
	settledFresh.queue(batch, settleFreshSQL)
	settledBacklog.queue(batch, settleBacklogSQL)
	demoted.queue(batch, demoteSQL, demoted.next, demoted.since)
	postponed.queue(batch, postponeSQL, postponed.next)
	if len(subjects) > 0 {
		batch.Queue(promoteSQL, platforms, subjects, now)
	}
}

// columns are outcomes as the database takes them: many rows in one statement.
type columns struct {
	platforms, subjects         []pgtype.UUID
	seqs                        []int64
	at, next, since             []pgtype.Timestamptz
	ms                          []int32
	status                      []int16
	parked                      []bool
	outcomes, errors, responses []string
}

func (c *columns) add(d *ports.WebhookDone) {
	var a event.Attempt
	if d.Attempt != nil {
		a = *d.Attempt
	}
	c.platforms = append(c.platforms, key(d.Event.Platform.UUID()))
	c.subjects = append(c.subjects, key(d.Event.Subject))
	c.seqs = append(c.seqs, d.Event.Seq)
	c.at = append(c.at, moment(a.At))
	c.ms = append(c.ms, int32(min(a.Took.Milliseconds(), 1<<31-1)))
	c.status = append(c.status, int16(a.StatusCode))
	c.parked = append(c.parked, d.Fate == ports.Settled && !a.Outcome.Delivered())
	c.outcomes = append(c.outcomes, string(a.Outcome))
	c.errors = append(c.errors, a.Error)
	c.responses = append(c.responses, a.Response)
	c.next = append(c.next, moment(d.Next))
	c.since = append(c.since, moment(d.Event.Since))
}

func (c *columns) queue(batch *pgx.Batch, sql string, more ...any) {
	if len(c.seqs) > 0 {
		batch.Queue(sql, append([]any{
			c.platforms, c.subjects, c.seqs, c.at, c.ms, c.status, c.parked, c.outcomes, c.errors, c.responses,
		}, more...)...)
	}
}
