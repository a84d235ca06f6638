package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

const insertJob = `INSERT INTO jobs (platform_id, id, step, due_at, subjects) VALUES ($1, $2, $3, $4, $5)`

// insertContinuedJob inserts a job that continues another one.
const insertContinuedJob = `
	INSERT INTO jobs (platform_id, id, step, due_at, subjects, attempts, earlier_attempts, last_error, failed_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

// AddJobs adds no job with a wrong clock: it would be due at a wrong time.
func (u *Unit) AddJobs(_ context.Context, jobs []ports.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	if err := u.db.CheckClock(); err != nil {
		return err
	}
	for _, j := range jobs {
		values := []any{j.Platform, j.ID, j.Step, pgDue(j), pgIDs(j.Subjects)}
		lease := max(j.Lease, j.Attempts)
		if lease == 0 {
			u.queueExec(insertJob, values...)
			continue
		}
		failedAt := pgtype.Timestamptz{Time: u.db.clock.Now(), Valid: j.Attempts > 0}
		u.queueExec(insertContinuedJob, append(values, lease, lease-j.Attempts, j.LastError, failedAt)...)
	}
	return nil
}

// finishJobs uses the primary key.
const finishJobs = `SELECT jobs_finish($1, $2, $3)`

func (u *Unit) FinishJobs(_ context.Context, jobs []ports.Job) error {
	if len(jobs) > 0 {
		u.queueExec(finishJobs, leaseColumns(jobs)...)
	}
	return nil
}

// hastenJobs uses jobs_by_step_platform_due. A higher number of the lease fences a process that runs the job now.
const hastenJobs = `
	UPDATE jobs SET due_at = $4, attempts = attempts + 1, earlier_attempts = earlier_attempts + 1
	WHERE step = $1 AND platform_id = $2 AND subjects && $3::uuid[] AND due_at > $4 AND due_at < 'infinity'`

// HastenJobs runs its statement twice: the first waits for a unit of work that replaces the job now, and the second sees
// the job that took its place.
func (u *Unit) HastenJobs(_ context.Context, p ident.Platform, step transaction.Step, subjects []uuid.UUID, due time.Time) error {
	if err := u.db.CheckClock(); err != nil {
		return err
	}
	for range 2 {
		u.queueExec(hastenJobs, step, p, subjects, due)
	}
	return nil
}

// notAhead is the condition that the time %s of a process is not ahead of the database's clock, as in
// ledger_post: the process may not have measured its clock yet.
const notAhead = `(%s <= now() + interval '2 seconds' OR current_setting('causeway.simulated_clock', true) = 'on')`

// A lease is a later due time of the database, and attempts as its number.
var leaseDue = `
	UPDATE jobs SET due_at = ` + storage.Time(2) + ` + $3::interval, attempts = attempts + 1 FROM due
	WHERE jobs.platform_id = due.platform_id AND jobs.id = due.id AND ` + fmt.Sprintf(notAhead, "$2") + `
	RETURNING jobs.platform_id, jobs.id, jobs.attempts, jobs.attempts - jobs.earlier_attempts, jobs.subjects, jobs.last_error`

// dueSteps probes jobs_due once for each step.
var dueSteps = `SELECT s.step FROM unnest($1::text[]) AS s(step) WHERE EXISTS (SELECT FROM jobs WHERE jobs.step = s.step AND due_at <= ` +
	storage.Time(2) + `)`

// DueSteps returns none with a wrong clock: nothing would be leased.
func (db *DB) DueSteps(ctx context.Context, steps []transaction.Step, now time.Time) ([]transaction.Step, error) {
	if db.clockDiffers() {
		return nil, nil
	}
	return storage.Collect(ctx, db.read, dueSteps, []any{steps, now}, func(rows pgx.Rows, s *transaction.Step) error { return rows.Scan(s) })
}

// takeJobs uses jobs_due.
var takeJobs = `
	WITH due AS (
		SELECT platform_id, id FROM jobs WHERE step = $1 AND due_at <= ` + storage.Time(2) + `
		ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED)` + leaseDue

// TakeJobs leases the jobs that are due longest.
func (db *DB) TakeJobs(ctx context.Context, step transaction.Step, now time.Time, lease time.Duration, limit int) ([]ports.Job, error) {
	return db.take(ctx, takeJobs, step, now, lease, limit)
}

// takeJobsInTurn uses jobs_by_step_platform_due: one probe finds the next platform with jobs of
// the step, and one its due jobs. Only that index has the order of a range of platforms, so the
// planner does not choose jobs_due, whatever the statistics say.
var takeJobsInTurn = `
	WITH RECURSIVE platforms AS (
		(SELECT step, platform_id FROM jobs WHERE (step, platform_id) > ($1, $5::uuid) ORDER BY step, platform_id LIMIT 1)
		UNION ALL
		SELECT next.step, next.platform_id FROM platforms p CROSS JOIN LATERAL (
			SELECT step, platform_id FROM jobs WHERE (step, platform_id) > (p.step, p.platform_id)
			ORDER BY step, platform_id LIMIT 1) AS next
		WHERE p.step = $1),
	due AS (
		SELECT j.platform_id, j.id FROM platforms p CROSS JOIN LATERAL (
			SELECT platform_id, id FROM jobs
			WHERE step = $1 AND platform_id >= p.platform_id AND platform_id <= p.platform_id AND due_at <= ` + storage.Time(2) + `
			ORDER BY platform_id, due_at LIMIT $6 FOR UPDATE SKIP LOCKED) AS j
		WHERE p.step = $1 AND p.platform_id <> ALL($7::uuid[]) LIMIT $4)` + leaseDue

// TakeJobsInTurn leases due jobs platform by platform.
func (db *DB) TakeJobsInTurn(ctx context.Context, step transaction.Step, now time.Time, lease time.Duration,
	turn ports.Turn) ([]ports.Job, error) {
	except := append([]ident.Platform{}, turn.Except...) // not NULL
	return db.take(ctx, takeJobsInTurn, step, now, lease, turn.Limit, turn.After.UUID(), turn.PerPlatform, except)
}

func (db *DB) take(ctx context.Context, query string, step transaction.Step, now time.Time, lease time.Duration,
	args ...any) ([]ports.Job, error) {
	// With a wrong clock the attempts of jobs would fail.
	if db.clockDiffers() {
		return nil, nil
	}
	var taken []ports.Job
	err := db.read(ctx, query, append([]any{step, now, lease}, args...), func(rows pgx.Rows) error {
		j := ports.Job{Step: step, Due: now.Add(lease)}
		err := rows.Scan(&j.Platform, &j.ID, &j.Lease, &j.Attempts, &j.Subjects, &j.LastError)
		taken = append(taken, j)
		return err
	})
	return taken, err
}

// held joins jobs with leases; it uses the primary key.
const held = `FROM unnest($1::uuid[], $2::uuid[], $3::int[]) AS held(platform_id, id, lease)
	WHERE jobs.platform_id = held.platform_id AND jobs.id = held.id AND jobs.attempts = held.lease`

// renewLeases changes the due time of jobs whose lease is still held. Of a job that failed meanwhile it
// is later, or infinity, and stays.
var renewLeases = `UPDATE jobs SET due_at = ` + storage.Time(4) + ` + $5::interval ` + held + ` AND jobs.due_at < ` + storage.Time(4) +
	` + $5::interval AND ` + fmt.Sprintf(notAhead, "$4::timestamptz")

// RenewLeases extends leases. With a wrong clock, they end by themselves.
func (db *DB) RenewLeases(ctx context.Context, jobs []ports.Job, now time.Time, lease time.Duration) error {
	if err := db.CheckClock(); err != nil {
		return err
	}
	_, err := db.pool.Exec(ctx, renewLeases, append(append([]any{pgx.QueryExecModeCacheStatement}, leaseColumns(jobs)...),
		now, lease)...)
	return err
}

// failJobs also ends the lease of a job that was run without being taken from the table.
var failJobs = `
	UPDATE jobs SET due_at = failed.due_at, attempts = greatest(jobs.attempts, 1),
		earlier_attempts = greatest(jobs.attempts, 1) - failed.attempts, failed_at = $7, last_error = failed.error
	FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::timestamptz[], $6::text[])
		AS failed(platform_id, id, lease, attempts, due_at, error)
	WHERE jobs.platform_id = failed.platform_id AND jobs.id = failed.id AND jobs.attempts = failed.lease AND ` + fmt.Sprintf(notAhead, "$7")

// FailJobs ends leases and stores why. With a wrong clock, leases end by themselves.
func (db *DB) FailJobs(ctx context.Context, jobs []ports.Job, now time.Time) error {
	if err := db.CheckClock(); err != nil {
		return err
	}
	attempts, due, failures := make([]int, len(jobs)), make(timeArray, len(jobs)), make([]string, len(jobs))
	for i, j := range jobs {
		attempts[i], due[i], failures[i] = j.Attempts, pgDue(j), j.LastError
	}
	_, err := db.pool.Exec(ctx, failJobs, append(append([]any{pgx.QueryExecModeCacheStatement}, leaseColumns(jobs)...), attempts,
		due, failures, now)...)
	return err
}

// pgDue returns infinity for a dead job.
func pgDue(j ports.Job) pgtype.Timestamptz {
	if j.Dead {
		return pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}
	}
	return pgTime(j.Due)
}

// leaseColumns returns the columns platform_id, id and lease of jobs.
func leaseColumns(jobs []ports.Job) []any {
	platforms, ids, leases := make([]ident.Platform, len(jobs)), make([]uuid.UUID, len(jobs)), make([]int, len(jobs))
	for i, j := range jobs {
		platforms[i], ids[i], leases[i] = j.Platform, j.ID, j.Lease
	}
	return []any{platforms, ids, leases}
}
