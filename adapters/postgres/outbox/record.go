package outbox

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
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
		r.queue(batch, p, now)
	}
}

// platformResults are the results of one platform, by the statement that records them.
type platformResults struct {
	settledNew, settledBacklog, movedToBacklog, postponed []resultRow
	// withSuccessor are subjects whose first event in the backlog may be due now.
	withSuccessor []uuid.UUID
}

// resultRow is a result as it is stored.
type resultRow struct {
	ports.WebhookResult
	attempt    event.Attempt // zero without one
	durationMS int64
	givenUp    bool
}

func (r *platformResults) add(result *ports.WebhookResult) {
	row := resultRow{WebhookResult: *result}
	if result.Attempt != nil {
		row.attempt = *result.Attempt
	}
	row.durationMS = min(row.attempt.Duration.Milliseconds(), 1<<31-1)
	row.givenUp = result.Outcome == ports.WebhookSettled && !row.attempt.Outcome.Delivered()
	to := &r.movedToBacklog
	switch {
	case result.Outcome == ports.WebhookSettled && result.Event.InBacklog:
		to = &r.settledBacklog
	case result.Outcome == ports.WebhookSettled:
		to = &r.settledNew
	case result.Event.InBacklog:
		to = &r.postponed
	}
	*to = append(*to, row)
	if result.Event.HasSuccessor {
		r.withSuccessor = append(r.withSuccessor, result.Event.Subject)
	}
}

func (r *platformResults) queue(batch *pgx.Batch, p ident.Platform, now time.Time) {
	// The statements have the columns of resultArrays as their arguments, or the first of them.
	queueResultRows(batch, settleNewSQL, p, r.settledNew, 8)
	queueResultRows(batch, settleBacklogSQL, p, r.settledBacklog, 8)
	queueResultRows(batch, moveToBacklogSQL, p, r.movedToBacklog, 10)
	queueResultRows(batch, postponeSQL, p, r.postponed, 9)
	if len(r.withSuccessor) > 0 {
		batch.Queue(makeNextDueSQL, p, r.withSuccessor, now)
	}
}

func queueResultRows(batch *pgx.Batch, sql string, p ident.Platform, rows []resultRow, columns int) {
	if len(rows) > 0 {
		batch.Queue(sql, append([]any{p}, resultArrays(rows)[:columns]...)...)
	}
}

func resultArrays(rows []resultRow) []any {
	return schema.Arrays(rows, func(r *resultRow) []any {
		a := &r.attempt
		return []any{&r.Event.Seq, &a.AttemptedAt, &r.durationMS, &a.StatusCode, &r.givenUp, &a.Outcome, &a.Error, &a.Response,
			&r.RetryAt, &r.Event.DueSince}
	})
}
