package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/transaction"
	"causeway/ports"
)

// selectJobs begins the queries of operators, which read the table as a whole: it is a queue.
const selectJobs = `
	SELECT platform_id, id, step, due_at, attempts, attempts - earlier_attempts, subjects, failed_at, last_error FROM jobs `

// listJobs reads at most $4 jobs in the order of their ids, which is that of their creation.
const listJobs = selectJobs + `
	WHERE ($1::uuid IS NULL OR platform_id = $1) AND ($2 = '' OR step = $2)
		AND CASE $3 WHEN 'dead' THEN due_at = 'infinity' WHEN 'failing' THEN due_at < 'infinity' AND failed_at IS NOT NULL
			WHEN 'waiting' THEN failed_at IS NULL ELSE true END
	ORDER BY id LIMIT $4`

// ListJobs reads jobs for operators.
func (db *DB) ListJobs(ctx context.Context, f ports.JobFilter) ([]ports.ListedJob, error) {
	rows, err := db.pool.Query(ctx, listJobs, pgID(f.Platform.UUID()), string(f.Step), string(f.State), f.Limit)
	if err != nil {
		return nil, err
	}
	var listed []ports.ListedJob
	return listed, forEachRow(rows, func(rows pgx.Rows) error {
		j, err := scanListedJob(rows)
		listed = append(listed, j)
		return err
	})
}

// CountDeadJobs counts the dead jobs of each step, with jobs_due. Steps without any are left out.
func (db *DB) CountDeadJobs(ctx context.Context, steps []transaction.Step) (map[transaction.Step]int, error) {
	rows, err := db.pool.Query(ctx, `SELECT step, count(*) FROM jobs WHERE step = ANY($1) AND due_at = 'infinity' GROUP BY step`,
		pgx.QueryExecModeCacheStatement, steps)
	if err != nil {
		return nil, err
	}
	counts := map[transaction.Step]int{}
	return counts, forEachRow(rows, func(rows pgx.Rows) error {
		var step string
		var n int
		err := rows.Scan(&step, &n)
		counts[transaction.Step(step)] = n
		return err
	})
}

func (u *unit) LockJobs(ctx context.Context, ids []uuid.UUID) ([]ports.ListedJob, error) {
	var locked []ports.ListedJob
	err := u.query(ctx, selectJobs+`WHERE id = ANY($1) ORDER BY id FOR UPDATE`, []any{pgIDs(ids)}, func(rows pgx.Rows) error {
		j, err := scanListedJob(rows)
		locked = append(locked, j)
		return err
	})
	return locked, err
}

func scanListedJob(rows pgx.Rows) (ports.ListedJob, error) {
	var platformID uuid.UUID
	var due pgtype.Timestamptz
	var step string
	var failedAt *time.Time
	j := ports.ListedJob{State: ports.JobWaiting}
	if err := rows.Scan(&platformID, &j.ID, &step, &due, &j.Lease, &j.Attempts, &j.Subjects, &failedAt, &j.LastError); err != nil {
		return j, err
	}
	j.Platform.SetUUID(platformID)
	j.Step, j.Due, j.Dead, j.FailedAt = transaction.Step(step), due.Time.UTC(), due.InfinityModifier == pgtype.Infinity, timeOrZero(failedAt)
	seconds, nanoseconds := j.ID.Time().UnixTime()
	j.AddedAt = time.Unix(seconds, nanoseconds).UTC()
	switch {
	case j.Dead:
		j.State = ports.JobDead
	case failedAt != nil:
		j.State = ports.JobFailing
	}
	return j, nil
}

func (u *unit) RestartJobs(_ context.Context, jobs []ports.Job, due time.Time) error {
	u.queueExec(`UPDATE jobs SET due_at = $4, earlier_attempts = attempts, failed_at = NULL `+held, append(leaseColumns(jobs), due)...)
	return nil
}

func (u *unit) RecordJobActions(_ context.Context, actions []ports.JobAction) error {
	for _, a := range actions {
		u.queueExec(`INSERT INTO job_actions (platform_id, id, job_id, action, actor, reason, at, step, subjects, attempts, last_error)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, pgID(a.Job.Platform.UUID()), pgID(a.ID), pgID(a.Job.ID), string(a.Kind),
			a.Actor, a.Reason, a.At, string(a.Job.Step), pgIDs(a.Job.Subjects), int32(a.Job.Attempts), a.Job.LastError)
	}
	return nil
}
