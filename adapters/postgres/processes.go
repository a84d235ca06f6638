package postgres

import (
	"context"
	"fmt"
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

// webhookBacklog are the webhooks of the platform %[1]s that were not tried yet, and that were not accepted yet: how many of each, at most
// %[2]s, and since when the oldest waits. It uses the primary keys.
const webhookBacklog = `(SELECT count(*) FROM (SELECT FROM webhook_queue WHERE platform_id = %[1]s LIMIT %[2]s) q),
		(SELECT e.created_at FROM (SELECT event_id FROM webhook_queue WHERE platform_id = %[1]s ORDER BY seq LIMIT 1) q
			JOIN webhook_events e ON e.platform_id = %[1]s AND e.id = q.event_id),
		(SELECT count(*) FROM (SELECT FROM webhook_backlog WHERE platform_id = %[1]s LIMIT %[2]s) b),
		(SELECT min(due_since) FROM (SELECT due_since FROM webhook_backlog WHERE platform_id = %[1]s ORDER BY seq LIMIT %[2]s) b)`

var selectWebhookBacklog = `SELECT ` + fmt.Sprintf(webhookBacklog, "$1", "$2")

// WebhookBacklog implements processes.Store.
func (db *DB) WebhookBacklog(ctx context.Context, p ident.Platform) (b ports.WebhookBacklog, err error) {
	err = db.queryRows(ctx, selectWebhookBacklog,
		[]any{p, int64(ports.MaxTotal + 1)}, func(rows pgx.Rows) error {
			return rows.Scan(&b.Waiting, &b.WaitingSince, &b.Failing, &b.FailingSince)
		})
	return b, storage.ReadError(err)
}
