package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/screening"
	"causeway/ports"
)

// insertScreeningRun counts the customers once, and adds the job that screens the first of them.
const insertScreeningRun = `
	WITH job AS (INSERT INTO jobs (platform_id, id, step, due_at, subjects) VALUES ($1, $2, '` + string(ports.StepScreenPlatform) + `', $4, ARRAY[$2::uuid]))
	INSERT INTO screening_runs (platform_id, id, list_id, status, after_id, total, started_at, updated_at)
	SELECT $1, $2, $3, 'RUNNING', '00000000-0000-0000-0000-000000000000', (SELECT count(*) FROM customers WHERE platform_id = $1 AND deleted_at IS NULL), $4, $4`

const screeningRunColumns = `platform_id, id, list_id, status, after_id, total, customers, owners, hits, started_at, updated_at`

func scanScreeningRun(rows pgx.Rows) (screening.Run, error) {
	var r screening.Run
	var platform, after uuid.UUID
	err := rows.Scan((*[16]byte)(&platform), (*[16]byte)(&r.ID), (*[16]byte)(&r.ListID), &r.Status, (*[16]byte)(&after), &r.Total, &r.Customers, &r.Owners, &r.Hits, &r.StartedAt, &r.UpdatedAt)
	r.Platform.SetUUID(platform)
	r.After.SetUUID(after)
	r.StartedAt, r.UpdatedAt = r.StartedAt.UTC(), r.UpdatedAt.UTC()
	return r, err
}

// selectScreeningRun uses the primary key.
const selectScreeningRun = `SELECT ` + screeningRunColumns + ` FROM screening_runs WHERE platform_id = $1 AND id = $2`

// LockScreeningRun implements ports.ScreeningWriter.
func (u *unit) LockScreeningRun(ctx context.Context, p ident.Platform, id uuid.UUID) (run screening.Run, found bool, err error) {
	err = u.query(ctx, selectScreeningRun+` FOR UPDATE`, []any{pgID(p.UUID()), pgID(id)}, func(rows pgx.Rows) (err error) {
		run, err = scanScreeningRun(rows)
		found = true
		return err
	})
	return run, found, err
}

// ScreeningRun implements ports.ScreeningReader.
func (db *DB) ScreeningRun(ctx context.Context, p ident.Platform, id uuid.UUID) (run screening.Run, found bool, err error) {
	rows, err := db.pool.Query(ctx, selectScreeningRun, pgID(p.UUID()), pgID(id))
	if err != nil {
		return run, false, err
	}
	err = forEachRow(rows, func(rows pgx.Rows) (err error) {
		run, err = scanScreeningRun(rows)
		found = true
		return err
	})
	return run, found, err
}

// UpdateScreeningRun uses the primary key.
func (u *unit) UpdateScreeningRun(_ context.Context, r screening.Run) error {
	u.queueExec(`UPDATE screening_runs SET status = $3, after_id = $4, customers = $5, owners = $6, hits = $7, updated_at = $8 WHERE platform_id = $1 AND id = $2`,
		pgID(r.Platform.UUID()), pgID(r.ID), string(r.Status), pgtype.UUID{Bytes: r.After.UUID(), Valid: true}, r.Customers, r.Owners, r.Hits, pgTime(r.UpdatedAt))
	return nil
}

// lastScreeningRuns reads the last run of each platform by the primary key.
const lastScreeningRuns = `
	SELECT r.* FROM platforms p CROSS JOIN LATERAL (
		SELECT ` + screeningRunColumns + ` FROM screening_runs WHERE platform_id = p.id ORDER BY id DESC LIMIT 1) AS r ORDER BY r.platform_id`

// LastScreeningRuns implements ports.ScreeningReader.
func (db *DB) LastScreeningRuns(ctx context.Context) ([]screening.Run, error) {
	rows, err := db.readPool.Query(ctx, lastScreeningRuns)
	if err != nil {
		return nil, err
	}
	var runs []screening.Run
	return runs, forEachRow(rows, func(rows pgx.Rows) error {
		r, err := scanScreeningRun(rows)
		runs = append(runs, r)
		return err
	})
}

// countOpenHits uses screening_hits_open and the primary key of customers.
const countOpenHits = `
	SELECT count(*), min(h.found_at) FROM platforms p CROSS JOIN LATERAL (
		SELECT h.found_at FROM screening_hits h JOIN customers c ON c.platform_id = h.platform_id AND c.id = h.customer_id
		WHERE h.platform_id = p.id AND h.status = 'OPEN' AND c.deleted_at IS NULL AND c.status <> 'REJECTED' LIMIT $1) AS h`
