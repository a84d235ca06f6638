package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/ports"
)

// SaveProcess implements processes.Store. It uses the primary key; there are few rows.
func (db *DB) SaveProcess(ctx context.Context, p ports.Process, deleteBefore time.Time) error {
	_, err := db.pool.Exec(ctx, `WITH old AS (DELETE FROM processes WHERE seen_at < $6)
		INSERT INTO processes (id, host, version, started_at, seen_at, stopped_at, ownership_limits)
			VALUES ($1, $2, $3, $4, $5, $7, $8)
		ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, stopped_at = excluded.stopped_at`,
		p.ID, p.Host, p.Version, p.StartedAt, p.SeenAt, deleteBefore, p.StoppedAt, p.OwnershipLimits)
	return err
}

// maxProcesses is how many records of processes are read.
const maxProcesses = 200

// Processes implements processes.Store.
func (db *DB) Processes(ctx context.Context) ([]ports.Process, error) {
	return storage.Collect(ctx, db.read, `SELECT id, host, version, started_at, seen_at, stopped_at, ownership_limits FROM processes
		ORDER BY seen_at DESC, id LIMIT $1`, []any{maxProcesses}, func(rows pgx.Rows, p *ports.Process) error {
		return rows.Scan(&p.ID, &p.Host, &p.Version, &p.StartedAt, &p.SeenAt, &p.StoppedAt, &p.OwnershipLimits)
	})
}

// WebhookBacklog implements processes.Store. It uses the primary keys.
func (db *DB) WebhookBacklog(ctx context.Context, p ident.Platform) (b ports.WebhookBacklog, err error) {
	err = db.queryRows(ctx, `SELECT (SELECT count(*) FROM (SELECT FROM webhook_queue WHERE platform_id = $1 LIMIT $2) q),
		(SELECT e.created_at FROM (SELECT event_id FROM webhook_queue WHERE platform_id = $1 ORDER BY seq LIMIT 1) q
			JOIN webhook_events e ON e.platform_id = $1 AND e.id = q.event_id),
		(SELECT count(*) FROM (SELECT FROM webhook_backlog WHERE platform_id = $1 LIMIT $2) b),
		(SELECT min(due_since) FROM (SELECT due_since FROM webhook_backlog WHERE platform_id = $1 ORDER BY seq LIMIT $2) b)`,
		[]any{p, int64(ports.MaxTotal + 1)}, func(rows pgx.Rows) error {
			return rows.Scan(&b.Waiting, &b.WaitingSince, &b.Failing, &b.FailingSince)
		})
	return b, storage.ReadError(err)
}
