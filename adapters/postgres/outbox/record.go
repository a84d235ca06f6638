package outbox

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
)

// Every result is recorded by deleting or updating a row of the queue or the backlog. So a
// result that is recorded twice (because the reply to the commit was lost, or another
// process took over the platform) counts once, and no attempt is logged twice.

// The statements take the results of one platform as arrays and find rows by number with
// = ANY, not with a join: a plan for a join that was made while the queue was empty would
// read all of it for every element. i is the position of a row in the arrays.

// Uses the primary key of webhook_queue.
const settleNewSQL = `
WITH removed AS (
    DELETE FROM webhook_queue WHERE platform_id = $1 AND seq = ANY ($2::bigint[])
    RETURNING event_id, array_position($2::bigint[], seq) AS i)
INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, outcome, error, response)
SELECT $1, event_id, ($3::timestamptz[])[i], 1, ($4::int[])[i], ($5::smallint[])[i], ($6::bool[])[i], ($7::text[])[i], ($8::text[])[i], ($9::text[])[i]
FROM removed`

// lastAttempt is the number of the last attempt of an event in the backlog. The event may have been
// sent outside the queue since it entered the backlog. Uses the primary key of webhook_attempts.
const lastAttempt = `greatest(attempts, (
        SELECT max(a.attempt_no) FROM webhook_attempts a WHERE a.platform_id = $1 AND a.event_id = webhook_backlog.event_id))`

// Uses the primary key of webhook_backlog, like the statements after it.
const settleBacklogSQL = `
WITH removed AS (
    DELETE FROM webhook_backlog WHERE platform_id = $1 AND seq = ANY ($2::bigint[])
    RETURNING event_id, ` + lastAttempt + ` + 1 AS attempt_no, array_position($2::bigint[], seq) AS i)
INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, outcome, error, response)
SELECT $1, event_id, ($3::timestamptz[])[i], attempt_no, ($4::int[])[i], ($5::smallint[])[i], ($6::bool[])[i], ($7::text[])[i], ($8::text[])[i], ($9::text[])[i]
FROM removed`

// Moves events to the backlog that failed for the first time, or that were deferred without
// an attempt (whose time is NULL).
const moveToBacklogSQL = `
WITH removed AS (
    DELETE FROM webhook_queue WHERE platform_id = $1 AND seq = ANY ($2::bigint[])
    RETURNING subject_id, seq, event_id, array_position($2::bigint[], seq) AS i,
              (($3::timestamptz[])[array_position($2::bigint[], seq)] IS NOT NULL)::int AS attempt_no
), logged AS (
    INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, outcome, error, response)
    SELECT $1, event_id, ($3::timestamptz[])[i], attempt_no, ($4::int[])[i], ($5::smallint[])[i], ($6::bool[])[i], ($7::text[])[i], ($8::text[])[i], ($9::text[])[i]
    FROM removed WHERE attempt_no > 0)
INSERT INTO webhook_backlog (platform_id, subject_id, seq, event_id, next_attempt_at, due_since, attempts, attempts_since_due)
SELECT $1, subject_id, seq, event_id, ($10::timestamptz[])[i], ($11::timestamptz[])[i], attempt_no, attempt_no FROM removed`

const postponeSQL = `
WITH changed AS (
    UPDATE webhook_backlog SET
        attempts = ` + lastAttempt + ` + (($3::timestamptz[])[array_position($2::bigint[], seq)] IS NOT NULL)::int,
        attempts_since_due = attempts_since_due + (($3::timestamptz[])[array_position($2::bigint[], seq)] IS NOT NULL)::int,
        next_attempt_at = ($10::timestamptz[])[array_position($2::bigint[], seq)]
    WHERE platform_id = $1 AND seq = ANY ($2::bigint[])
    RETURNING event_id, attempts AS attempt_no, array_position($2::bigint[], seq) AS i)
INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, outcome, error, response)
SELECT $1, event_id, ($3::timestamptz[])[i], attempt_no, ($4::int[])[i], ($5::smallint[])[i], ($6::bool[])[i], ($7::text[])[i], ($8::text[])[i], ($9::text[])[i]
FROM changed WHERE ($3::timestamptz[])[i] IS NOT NULL`

// Makes the next event of a subject due when the one before it is settled; its series of
// attempts starts then. Uses webhook_backlog_by_subject.
const makeNextDueSQL = `
UPDATE webhook_backlog SET next_attempt_at = $3, due_since = CASE WHEN attempts_since_due = 0 THEN $3 ELSE due_since END
WHERE platform_id = $1 AND next_attempt_at IS NULL AND seq = ANY (ARRAY(
    SELECT (SELECT min(x.seq) FROM webhook_backlog x WHERE x.platform_id = $1 AND x.subject_id = s.subject_id)
    FROM unnest($2::uuid[]) AS s(subject_id)))`

// queueResults queues the statements that record results: usually one for each platform.
func queueResults(batch *pgx.Batch, now time.Time, results []ports.WebhookResult) {
	byPlatform := map[ident.Platform]*platformResults{}
	for i := range results {
		r := byPlatform[results[i].Event.Platform]
		if r == nil {
			r = &platformResults{}
			byPlatform[results[i].Event.Platform] = r
		}
		r.add(&results[i])
	}
	for p, r := range byPlatform {
		r.queue(batch, pgUUID(p.UUID()), now)
	}
}

// platformResults are the results of one platform, by the statement that records them.
type platformResults struct {
	settledNew, settledBacklog, movedToBacklog, postponed resultColumns
	// withSuccessor are subjects whose first event in the backlog may be due now.
	withSuccessor []pgtype.UUID
}

func (r *platformResults) add(result *ports.WebhookResult) {
	switch {
	case result.Outcome == ports.WebhookSettled && result.Event.InBacklog:
		r.settledBacklog.add(result)
	case result.Outcome == ports.WebhookSettled:
		r.settledNew.add(result)
	case result.Event.InBacklog:
		r.postponed.add(result)
	default:
		r.movedToBacklog.add(result)
	}
	if result.Event.HasSuccessor {
		r.withSuccessor = append(r.withSuccessor, pgUUID(result.Event.Subject))
	}
}

func (r *platformResults) queue(batch *pgx.Batch, platform pgtype.UUID, now time.Time) {
	r.settledNew.queue(batch, settleNewSQL, platform)
	r.settledBacklog.queue(batch, settleBacklogSQL, platform)
	r.movedToBacklog.queue(batch, moveToBacklogSQL, platform, r.movedToBacklog.retryAt, r.movedToBacklog.dueSince)
	r.postponed.queue(batch, postponeSQL, platform, r.postponed.retryAt)
	if len(r.withSuccessor) > 0 {
		batch.Queue(makeNextDueSQL, platform, r.withSuccessor, now)
	}
}

// resultColumns are results as columns, the arguments of a statement.
type resultColumns struct {
	seqs                        []int64
	at, retryAt, dueSince       []pgtype.Timestamptz
	durationMS                  []int32
	status                      []int16
	givenUp                     []bool
	outcomes, errors, responses []string
}

func (c *resultColumns) add(result *ports.WebhookResult) {
	var a event.Attempt
	if result.Attempt != nil {
		a = *result.Attempt
	}
	c.seqs = append(c.seqs, result.Event.Seq)
	c.at = append(c.at, pgTime(a.AttemptedAt))
	c.durationMS = append(c.durationMS, int32(min(a.Duration.Milliseconds(), 1<<31-1)))
	c.status = append(c.status, int16(a.StatusCode))
	c.givenUp = append(c.givenUp, result.Outcome == ports.WebhookSettled && !a.Outcome.Delivered())
	c.outcomes = append(c.outcomes, string(a.Outcome))
	c.errors = append(c.errors, a.Error)
	c.responses = append(c.responses, a.Response)
	c.retryAt = append(c.retryAt, pgTime(result.RetryAt))
	c.dueSince = append(c.dueSince, pgTime(result.Event.DueSince))
}

func (c *resultColumns) queue(batch *pgx.Batch, sql string, platform pgtype.UUID, more ...any) {
	if len(c.seqs) > 0 {
		batch.Queue(sql, append([]any{
			platform, c.seqs, c.at, c.durationMS, c.status, c.givenUp, c.outcomes, c.errors, c.responses,
		}, more...)...)
	}
}
