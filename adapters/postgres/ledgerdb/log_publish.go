package ledgerdb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/ports"
)

const (
	// Reads one row a platform.
	takeUnpublished = `
UPDATE ledger_log_state s SET publish_lease_until = $2
WHERE s.platform_id = ANY (ARRAY(
    SELECT o.platform_id FROM ledger_log_state o
    WHERE o.published_size < o.size AND (o.publish_lease_until IS NULL OR o.publish_lease_until <= $1)
    LIMIT 500 FOR UPDATE SKIP LOCKED
))
RETURNING s.platform_id, s.published_size`
	setPublished = `UPDATE ledger_log_state SET published_size = greatest(published_size, $2), publish_lease_until = NULL WHERE platform_id = $1`
)

// TakeUnpublished is as ports.LedgerLog says.
func (l *Log) TakeUnpublished(ctx context.Context, now time.Time, lease time.Duration, most int) (taken []ports.UnpublishedCheckpoints, err error) {
	err = l.withConn(ctx, func(q Querier) error {
		var marks []int64
		err := queryFreshPlan(ctx, q, takeUnpublished, []any{now, now.Add(lease)}, func(rows pgx.Rows) error {
			var id [16]byte
			var mark int64
			err := rows.Scan(&id, &mark)
			taken, marks = append(taken, ports.UnpublishedCheckpoints{Platform: platformID(id)}), append(marks, mark)
			return err
		})
		for i := range taken {
			if err == nil {
				taken[i].Checkpoints, err = readCheckpoints(ctx, q, taken[i].Platform, ports.CheckpointFilter{Before: marks[i], Ascending: true}, most)
			}
		}
		return err
	})
	return taken, wrapError("look for heads to publish", err)
}

// MarkPublished is as ports.LedgerLog says.
func (l *Log) MarkPublished(ctx context.Context, p ident.Platform, size int64) error {
	return execOne(ctx, l.pool, "note what is published", setPublished, pgUUID(p.UUID()), size)
}
