package ledgerdb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// CheckpointStore stores the signed checkpoints of one log of each platform.
type CheckpointStore struct {
	log  ledger.Log
	pool *pgxpool.Pool
}

var _ ports.CheckpointStore = (*CheckpointStore)(nil)

// NewCheckpointStore returns the store of the checkpoints of a log in the database of the pool.
func NewCheckpointStore(log ledger.Log, pool *pgxpool.Pool) *CheckpointStore {
	return &CheckpointStore{log, pool}
}

// logTables are the tables of a log, which have the columns of the statements below.
var logTables = [...]struct{ state, checkpoints, name string }{
	ledger.PostingLog:  {"ledger_log_state", "ledger_log_checkpoints", "POSTINGS"},
	ledger.EvidenceLog: {"ledger_evidence_state", "ledger_evidence_checkpoints", "EVIDENCE"},
}

// Checkpoints implements ports.CheckpointStore.
func (c *CheckpointStore) Checkpoints(ctx context.Context, p ident.Platform,
	f ports.CheckpointFilter) (page ports.CheckpointPage, err error) {
	err = withConn(ctx, c.pool, func(q Querier) error {
		page.Checkpoints, err = ReadCheckpoints(ctx, q, c.log, p, f, f.Limit+1)
		if err != nil || len(page.Checkpoints) == 0 {
			return err
		}
		return c.addPublications(ctx, q, p, page.Checkpoints)
	})
	if err == nil && len(page.Checkpoints) > f.Limit {
		page.Checkpoints, page.More = page.Checkpoints[:f.Limit], true
	}
	return page, err
}

// addPublications adds the publication that covers each checkpoint, if one does: those that the previous version published have none.
// Uses the primary key: each row covers one more of them.
func (c *CheckpointStore) addPublications(ctx context.Context, q Querier, p ident.Platform, checkpoints []ports.SignedCheckpoint) error {
	smallest := min(checkpoints[0].Size, checkpoints[len(checkpoints)-1].Size)
	var found []ports.Publication
	var previous []int64
	err := queryFreshPlan(ctx, q, `SELECT previous_size, size, published_at, place FROM ledger_checkpoint_publications
		WHERE platform_id = $1 AND log = $2 AND size >= $3 ORDER BY size LIMIT $4`,
		[]any{p, logTables[c.log].name, smallest, len(checkpoints)}, func(rows pgx.Rows) error {
			var published ports.Publication
			var after int64
			err := rows.Scan(&after, &published.Size, &published.At, &published.Place)
			found, previous = append(found, published), append(previous, after)
			return err
		})
	for i, checkpoint := range checkpoints {
		n := slices.IndexFunc(found, func(published ports.Publication) bool { return published.Size >= checkpoint.Size })
		if n >= 0 && checkpoint.Size > previous[n] {
			checkpoints[i].Published = found[n]
		}
	}
	return wrapError("read when checkpoints were published", err)
}

// ReadCheckpoints reads at most limit checkpoints of a log. Uses the primary key.
func ReadCheckpoints(ctx context.Context, q Querier, log ledger.Log, p ident.Platform, f ports.CheckpointFilter,
	limit int) (checkpoints []ports.SignedCheckpoint, err error) {
	condition, bound := "size < $2 ORDER BY size DESC", f.Before
	switch {
	case f.Size > 0:
		condition, bound = "size = $2", f.Size
	case f.Ascending:
		condition = "size > $2 ORDER BY size"
	case f.Before == 0:
		bound = 1<<63 - 1
	}
	statement := fmt.Sprintf(`SELECT size, root_hash, sealed_at, signed_note, previous_size FROM %s WHERE platform_id = $1 AND %s LIMIT $3`,
		logTables[log].checkpoints, condition)
	err = queryFreshPlan(ctx, q, statement, []any{p, bound, limit}, func(rows pgx.Rows) error {
		var root []byte
		c := ports.SignedCheckpoint{Checkpoint: ledger.Checkpoint{Platform: p, Log: log}}
		if err := rows.Scan(&c.Size, &root, &c.Sealed, &c.Note, &c.PreviousSize); err != nil {
			return err
		}
		copy(c.Root[:], root)
		checkpoints = append(checkpoints, c)
		return nil
	})
	return checkpoints, wrapError("read the checkpoints of the log", err)
}

// takeUnpublished reads one row a platform. A lease has no fence: what is published is the same, whichever process does it.
var takeUnpublished = `
UPDATE %[1]s s SET publish_lease_until = ` + storage.Time(1) + ` + $2::interval
WHERE s.platform_id = ANY (ARRAY(
    SELECT o.platform_id FROM %[1]s o
    WHERE o.published_size < o.size AND (o.publish_lease_until IS NULL OR o.publish_lease_until <= ` + storage.Time(1) + `)
    LIMIT 500 FOR UPDATE SKIP LOCKED
))
RETURNING s.platform_id, s.published_size`

// TakeUnpublished implements ports.CheckpointStore.
func (c *CheckpointStore) TakeUnpublished(ctx context.Context, now time.Time, lease time.Duration,
	limit int) (taken []ports.UnpublishedCheckpoints, err error) {
	err = withConn(ctx, c.pool, func(q Querier) error {
		var published []int64
		err := queryFreshPlan(ctx, q, fmt.Sprintf(takeUnpublished, logTables[c.log].state), []any{now, lease},
			func(rows pgx.Rows) error {
				var of ports.UnpublishedCheckpoints
				var size int64
				err := rows.Scan(&of.Platform, &size)
				taken, published = append(taken, of), append(published, size)
				return err
			})
		for i := range taken {
			if err == nil {
				taken[i].Checkpoints, err = ReadCheckpoints(ctx, q, c.log, taken[i].Platform, ports.CheckpointFilter{Before: published[i],
					Ascending: true}, limit)
			}
		}
		return err
	})
	return taken, wrapError("find checkpoints to publish", err)
}

// setPublished records nothing if another process has published up to the size meanwhile.
const setPublished = `
WITH before AS (
    SELECT published_size FROM %[1]s WHERE platform_id = $1 FOR UPDATE
), recorded AS (
    INSERT INTO ledger_checkpoint_publications (platform_id, log, size, previous_size, published_at, place)
    SELECT $1, $3, $2, published_size, $4, $5 FROM before WHERE published_size < $2
    ON CONFLICT (platform_id, log, size) DO NOTHING
)
UPDATE %[1]s s SET published_size = greatest(before.published_size, $2), publish_lease_until = NULL
FROM before WHERE s.platform_id = $1`

// MarkPublished implements ports.CheckpointStore.
func (c *CheckpointStore) MarkPublished(ctx context.Context, p ident.Platform, published ports.Publication) error {
	of := logTables[c.log]
	return execOne(ctx, c.pool, "record the published checkpoint", fmt.Sprintf(setPublished, of.state), p, published.Size, of.name,
		published.At, published.Place)
}
