package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/storage"
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
		AND ($5::uuid IS NULL OR $5 = ANY(subjects)) AND ($6::uuid IS NULL OR id = $6)
	ORDER BY id LIMIT $4`

// ListJobs reads jobs for operators.
func (db *DB) ListJobs(ctx context.Context, f ports.JobFilter) ([]ports.ListedJob, error) {
	return readListedJobs(ctx, db.read, listJobs, f.Platform, f.Step, f.State, f.Limit,
		uuid.NullUUID{UUID: f.Subject, Valid: f.Subject != uuid.Nil}, uuid.NullUUID{UUID: f.ID, Valid: f.ID != uuid.Nil})
}

// CountDeadJobs counts the dead jobs of each step, with jobs_due. Steps without any are left out.
func (db *DB) CountDeadJobs(ctx context.Context, steps []transaction.Step) (map[transaction.Step]int, error) {
	counts := map[transaction.Step]int{}
	return counts, db.read(ctx, `SELECT step, count(*) FROM jobs WHERE step = ANY($1) AND due_at = 'infinity' GROUP BY step`, []any{steps},
		func(rows pgx.Rows) error {
			var step transaction.Step
			var n int
			err := rows.Scan(&step, &n)
			counts[step] = n
			return err
		})
}

func (u *Unit) LockJobs(ctx context.Context, ids []uuid.UUID) ([]ports.ListedJob, error) {
	return readListedJobs(ctx, u.query, selectJobs+`WHERE id = ANY($1) ORDER BY id FOR UPDATE`, ids)
}

func readListedJobs(ctx context.Context, read storage.Reader, query string, args ...any) (listed []ports.ListedJob, err error) {
	err = read(ctx, query, args, func(rows pgx.Rows) error {
		j, err := scanListedJob(rows)
		listed = append(listed, j)
		return err
	})
	return listed, err
}

func scanListedJob(rows pgx.Rows) (ports.ListedJob, error) {
	var due pgtype.Timestamptz
	j := ports.ListedJob{State: ports.JobWaiting}
	if err := rows.Scan(&j.Platform, &j.ID, &j.Step, &due, &j.Lease, &j.Attempts, &j.Subjects, &j.FailedAt, &j.LastError); err != nil {
		return j, err
	}
	j.Due, j.Dead = due.Time.UTC(), due.InfinityModifier == pgtype.Infinity
	seconds, nanoseconds := j.ID.Time().UnixTime()
	j.AddedAt = time.Unix(seconds, nanoseconds).UTC()
	switch {
	case j.Dead:
		j.State = ports.JobDead
	case !j.FailedAt.IsZero():
		j.State = ports.JobFailing
	}
	return j, nil
}

func (u *Unit) RestartJobs(_ context.Context, jobs []ports.Job, due time.Time) error {
	u.queueExec(`UPDATE jobs SET due_at = $4, earlier_attempts = attempts, failed_at = NULL `+held, append(leaseColumns(jobs), due)...)
	return nil
}

func (u *Unit) RecordJobActions(_ context.Context, actions []ports.JobAction) error {
	for _, a := range actions {
		u.queueExec(`INSERT INTO job_actions (platform_id, id, job_id, action, actor, reason, at, step, subjects, attempts, last_error, person_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`, a.Job.Platform, a.ID, a.Job.ID, a.Kind,
			a.Actor, a.Reason, a.At, a.Job.Step, pgIDs(a.Job.Subjects), a.Job.Attempts, a.Job.LastError, a.Person)
	}
	return nil
}
