package postgres

import (
	"context"

	"github.com/google/uuid"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/screening"
	"causeway/ports"
)

// insertScreeningRun counts the customers once, and adds the job that screens the first of them.
const insertScreeningRun = `
	WITH job AS (INSERT INTO jobs (platform_id, id, step, due_at, subjects) VALUES ($1, $2, '` + string(ports.StepScreenPlatform) +
	`', $4, ARRAY[$2::uuid]))
	INSERT INTO screening_runs (platform_id, id, list_id, status, after_id, total, started_at, updated_at)
	SELECT $1, $2, $3, 'RUNNING', '00000000-0000-0000-0000-000000000000', (SELECT count(*) FROM customers WHERE platform_id = $1 AND deleted_at IS NULL), $4, $4`

// screeningRuns is the table screening_runs.
var screeningRuns = schema.New("screening_runs", keyOfPlatform, func(r *screening.Run) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &r.Platform}, {Name: "id", Field: &r.ID}, {Name: "list_id", Field: &r.ListID},
		{Name: "status", Field: &r.Status},
		{Name: "after_id", Field: schema.ID(&r.After)},
		{Name: "total", Field: &r.Total}, {Name: "customers", Field: &r.Customers}, {Name: "owners", Field: &r.Owners},
		{Name: "hits", Field: &r.Hits},
		{Name: "started_at", Field: &r.StartedAt}, {Name: "updated_at", Field: &r.UpdatedAt},
	}
})

var updateScreeningRun = screeningRuns.Update("status", "after_id", "customers", "owners", "hits", "updated_at")

// LockScreeningRun uses the primary key.
func (u *Unit) LockScreeningRun(ctx context.Context, p ident.Platform, id uuid.UUID) (run screening.Run, found bool, err error) {
	return selectRow(ctx, u.db, u.query, screeningRuns, `WHERE platform_id = $1 AND id = $2 FOR UPDATE`, p, id)
}

// ScreeningRun uses the primary key.
func (db *DB) ScreeningRun(ctx context.Context, p ident.Platform, id uuid.UUID) (run screening.Run, found bool, err error) {
	return selectRow(ctx, db, db.read, screeningRuns, `WHERE platform_id = $1 AND id = $2`, p, id)
}

// UpdateScreeningRun uses the primary key.
func (u *Unit) UpdateScreeningRun(ctx context.Context, r screening.Run) error {
	return write(ctx, u, updateScreeningRun, r)
}

var lastScreeningRuns = screeningRuns.From(`(
	SELECT r.* FROM platforms p CROSS JOIN LATERAL (SELECT * FROM screening_runs WHERE platform_id = p.id ORDER BY id DESC LIMIT 1) AS r) AS r`)

// LastScreeningRuns reads the last run of each platform by the primary key.
func (db *DB) LastScreeningRuns(ctx context.Context) ([]screening.Run, error) {
	return selectRows(ctx, db, db.queryRows, lastScreeningRuns, `ORDER BY platform_id`)
}

// countOpenHits uses screening_hits_open and the primary key of customers.
const countOpenHits = `
	SELECT count(*), min(h.found_at) FROM platforms p CROSS JOIN LATERAL (
		SELECT h.found_at FROM screening_hits h JOIN customers c ON c.platform_id = h.platform_id AND c.id = h.customer_id
		WHERE h.platform_id = p.id AND h.status = 'OPEN' AND c.deleted_at IS NULL AND c.status <> 'REJECTED' LIMIT $1) AS h`
