package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

const insertJob = `INSERT INTO jobs (platform_id, id, step, due_at, subjects) VALUES ($1, $2, $3, $4, $5)`

func (u *unit) AddJobs(_ context.Context, jobs []ports.Job) error {
	for _, j := range jobs {
		u.queueExec(insertJob, pgID(j.Platform.UUID()), pgID(j.ID), string(j.Step), j.Due, pgIDs(j.Subjects))
	}
	return nil
}

// deleteJobs uses the primary key.
const deleteJobs = `
	DELETE FROM jobs USING unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id)
	WHERE jobs.platform_id = k.platform_id AND jobs.id = k.id`

func (u *unit) FinishJobs(_ context.Context, jobs []ports.Job) error {
	if len(jobs) > 0 {
		platforms, ids := jobKeys(jobs)
		u.queueExec(deleteJobs, platforms, ids)
	}
	return nil
}

// takeJobs uses jobs_due. A lease is a later due time.
const takeJobs = `
	WITH due AS (
		SELECT platform_id, id FROM jobs WHERE step = $1 AND due_at <= $2
		ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED)
	UPDATE jobs SET due_at = $3, attempts = attempts + 1 FROM due
	WHERE jobs.platform_id = due.platform_id AND jobs.id = due.id
	RETURNING jobs.platform_id, jobs.id, jobs.attempts, jobs.subjects`

// TakeJobs leases due jobs.
func (db *DB) TakeJobs(ctx context.Context, step transaction.Step, now time.Time, lease time.Duration, limit int) ([]ports.Job, error) {
	until := now.Add(lease)
	rows, err := db.pool.Query(ctx, takeJobs, pgx.QueryExecModeCacheStatement, string(step), now, until, limit)
	if err != nil {
		return nil, err
	}
	var taken []ports.Job
	err = forEachRow(rows, func(rows pgx.Rows) error {
		j := ports.Job{Step: step, Due: until}
		var platformID uuid.UUID
		if err := rows.Scan(&platformID, &j.ID, &j.Attempts, &j.Subjects); err != nil {
			return err
		}
		ident.SetUUID(&j.Platform, platformID)
		taken = append(taken, j)
		return nil
	})
	return taken, err
}

// PostponeJobs changes the due time of jobs.
func (db *DB) PostponeJobs(ctx context.Context, jobs []ports.Job, due time.Time) error {
	platforms, ids := jobKeys(jobs)
	_, err := db.pool.Exec(ctx, `
		UPDATE jobs SET due_at = $3 FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id)
		WHERE jobs.platform_id = k.platform_id AND jobs.id = k.id`, pgx.QueryExecModeCacheStatement, platforms, ids, due)
	return err
}

func jobKeys(jobs []ports.Job) (platforms, ids idArray) {
	for _, j := range jobs {
		platforms, ids = append(platforms, pgID(j.Platform.UUID())), append(ids, pgID(j.ID))
	}
	return platforms, ids
}
