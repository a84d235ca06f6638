package outbox

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
)

// What is recorded always hangs on a row that is there to be deleted or changed. So
// the same outcome recorded twice (because the answer to the commit was lost, or the
// platform went to another process) counts once, and the log has no attempt twice.

// The statements take the outcomes of one platform, in columns, and name their rows by
// number alone, without a join: one against a list could begin on either side, and a
// plan that was made while the queue was empty reads all of it for every element.
// i is where in the columns a row stands.

// Uses the primary key of webhook_queue.
const settleNewSQL = `
WITH gone AS (
    DELETE FROM webhook_queue WHERE platform_id = $1 AND seq = ANY ($2::bigint[])
    RETURNING event_id, array_position($2::bigint[], seq) AS i)
INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, outcome, error, response)
SELECT $1, event_id, ($3::timestamptz[])[i], 1, ($4::int[])[i], ($5::smallint[])[i], ($6::bool[])[i], ($7::text[])[i], ($8::text[])[i], ($9::text[])[i]
FROM gone`

// Rides, like those after it, on the primary key of webhook_backlog.
const settleBacklogSQL = `
WITH gone AS (
    DELETE FROM webhook_backlog WHERE platform_id = $1 AND seq = ANY ($2::bigint[])
    RETURNING event_id, attempts + 1 AS attempt_no, array_position($2::bigint[], seq) AS i)
INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, outcome, error, response)
SELECT $1, event_id, ($3::timestamptz[])[i], attempt_no, ($4::int[])[i], ($5::smallint[])[i], ($6::bool[])[i], ($7::text[])[i], ($8::text[])[i], ($9::text[])[i]
FROM gone`

// An event that failed for the first time moves to the backlog, and one that stands
// back (without an attempt, so without a time of one) too.
const moveToBacklogSQL = `
WITH gone AS (
    DELETE FROM webhook_queue WHERE platform_id = $1 AND seq = ANY ($2::bigint[])
    RETURNING subject_id, seq, event_id, array_position($2::bigint[], seq) AS i,
              (($3::timestamptz[])[array_position($2::bigint[], seq)] IS NOT NULL)::int AS attempt_no
), logged AS (
    INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, outcome, error, response)
    SELECT $1, event_id, ($3::timestamptz[])[i], attempt_no, ($4::int[])[i], ($5::smallint[])[i], ($6::bool[])[i], ($7::text[])[i], ($8::text[])[i], ($9::text[])[i]
    FROM gone WHERE attempt_no > 0)
INSERT INTO webhook_backlog (platform_id, subject_id, seq, event_id, next_attempt_at, due_since, attempts, attempts_since_due)
SELECT $1, subject_id, seq, event_id, ($10::timestamptz[])[i], ($11::timestamptz[])[i], attempt_no, attempt_no FROM gone`

const postponeSQL = `
WITH changed AS (
    UPDATE webhook_backlog SET
        attempts = attempts + (($3::timestamptz[])[array_position($2::bigint[], seq)] IS NOT NULL)::int,
        attempts_since_due = attempts_since_due + (($3::timestamptz[])[array_position($2::bigint[], seq)] IS NOT NULL)::int,
        next_attempt_at = ($10::timestamptz[])[array_position($2::bigint[], seq)]
    WHERE platform_id = $1 AND seq = ANY ($2::bigint[])
    RETURNING event_id, attempts AS attempt_no, array_position($2::bigint[], seq) AS i)
INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, outcome, error, response)
SELECT $1, event_id, ($3::timestamptz[])[i], attempt_no, ($4::int[])[i], ($5::smallint[])[i], ($6::bool[])[i], ($7::text[])[i], ($8::text[])[i], ($9::text[])[i]
FROM changed WHERE ($3::timestamptz[])[i] IS NOT NULL`

// The next of a subject is due when the one before it is settled; its own time for
// being tried begins then. Finds the next ones on webhook_backlog_by_subject.
const makeNextDueSQL = `
UPDATE webhook_backlog SET next_attempt_at = $3, due_since = CASE WHEN attempts_since_due = 0 THEN $3 ELSE due_since END
WHERE platform_id = $1 AND next_attempt_at IS NULL AND seq = ANY (ARRAY(
    SELECT (SELECT min(x.seq) FROM webhook_backlog x WHERE x.platform_id = $1 AND x.subject_id = s.subject_id)
    FROM unnest($2::uuid[]) AS s(subject_id)))`

// queueResults queues what it takes to record outcomes: for most, one statement a platform.
func queueResults(batch *pgx.Batch, now time.Time, done []ports.WebhookResult) {
	byPlatform := map[ident.Platform]*platformResults{}
	for i := range done {
		o := byPlatform[done[i].Event.Platform]
		if o == nil {
			o = &platformResults{}
			byPlatform[done[i].Event.Platform] = o
		}
		o.add(&done[i])
	}
	for p, o := range byPlatform {
		o.queue(batch, pgUUID(p.UUID()), now)
	}
}

// platformResults are those of one platform, by what is done about them.
type platformResults struct {
	settledNew, settledBacklog, movedToBacklog, postponed resultColumns
	// withSuccessor are subjects whose first in the backlog may be due now.
	withSuccessor []pgtype.UUID
}

func (o *platformResults) add(d *ports.WebhookResult) {
	switch {
	case d.Outcome == ports.WebhookSettled && d.Event.InBacklog:
		o.settledBacklog.add(d)
	case d.Outcome == ports.WebhookSettled:
		o.settledNew.add(d)
	case d.Event.InBacklog:
		o.postponed.add(d)
	default:
		o.movedToBacklog.add(d)
	}
	if d.Event.HasSuccessor {
		o.withSuccessor = append(o.withSuccessor, pgUUID(d.Event.Subject))
	}
}

func (o *platformResults) queue(batch *pgx.Batch, platform pgtype.UUID, now time.Time) {
	o.settledNew.queue(batch, settleNewSQL, platform)
	o.settledBacklog.queue(batch, settleBacklogSQL, platform)
	o.movedToBacklog.queue(batch, moveToBacklogSQL, platform, o.movedToBacklog.retryAt, o.movedToBacklog.dueSince)
	o.postponed.queue(batch, postponeSQL, platform, o.postponed.retryAt)
	if len(o.withSuccessor) > 0 {
		batch.Queue(makeNextDueSQL, platform, o.withSuccessor, now)
	}
}

// resultColumns are outcomes as the database takes them: many rows in one statement.
type resultColumns struct {
	seqs                        []int64
	at, retryAt, dueSince       []pgtype.Timestamptz
	durationMS                  []int32
	status                      []int16
	givenUp                     []bool
	outcomes, errors, responses []string
}

func (c *resultColumns) add(d *ports.WebhookResult) {
	var a event.Attempt
	if d.Attempt != nil {
		a = *d.Attempt
	}
	c.seqs = append(c.seqs, d.Event.Seq)
	c.at = append(c.at, pgTime(a.AttemptedAt))
	c.durationMS = append(c.durationMS, int32(min(a.Duration.Milliseconds(), 1<<31-1)))
	c.status = append(c.status, int16(a.StatusCode))
	c.givenUp = append(c.givenUp, d.Outcome == ports.WebhookSettled && !a.Outcome.Delivered())
	c.outcomes = append(c.outcomes, string(a.Outcome))
	c.errors = append(c.errors, a.Error)
	c.responses = append(c.responses, a.Response)
	c.retryAt = append(c.retryAt, pgTime(d.RetryAt))
	c.dueSince = append(c.dueSince, pgTime(d.Event.DueSince))
}

func (c *resultColumns) queue(batch *pgx.Batch, sql string, platform pgtype.UUID, more ...any) {
	if len(c.seqs) > 0 {
		batch.Queue(sql, append([]any{
			platform, c.seqs, c.at, c.durationMS, c.status, c.givenUp, c.outcomes, c.errors, c.responses,
		}, more...)...)
	}
}
