package ledgerdb

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// Log stores the log of postings. Postings never wait for its writes.
type Log struct {
	*CheckpointStore
	store *Store
	pool  *pgxpool.Pool
}

var (
	_ ports.LedgerLog          = (*Log)(nil)
	_ ports.CheckpointKeyStore = (*Log)(nil)
)

// NewLog returns the log in the database of the pool.
func NewLog(store *Store, pool *pgxpool.Pool) *Log {
	return &Log{NewCheckpointStore(ledger.PostingLog, pool), store, pool}
}

// Reads one row a platform.
const selectUnsealed = `
SELECT c.platform_id FROM ledger_clocks c LEFT JOIN ledger_log_state s ON s.platform_id = c.platform_id
WHERE c.seq > coalesce(s.size, 0)
ORDER BY c.platform_id`

// Unsealed implements ports.LedgerLog.
func (l *Log) Unsealed(ctx context.Context) (platforms []ident.Platform, err error) {
	err = l.withConn(ctx, func(q Querier) error {
		return queryFreshPlan(ctx, q, selectUnsealed, nil, func(rows pgx.Rows) error {
			var p ident.Platform
			err := rows.Scan(&p)
			platforms = append(platforms, p)
			return err
		})
	})
	return platforms, wrapError("find postings that are not in the log", err)
}

// Uses primary keys, and reads the clock, the partial tiles and the last checkpoint in one
// snapshot.
const selectLogStatus = `
SELECT c.seq, coalesce(s.size, 0), coalesce(s.partial_tiles, ''), coalesce(s.published_size, 0), h.root_hash, h.sealed_at, h.signed_note
FROM ledger_clocks c
LEFT JOIN ledger_log_state s ON s.platform_id = c.platform_id
LEFT JOIN ledger_log_checkpoints h ON h.platform_id = s.platform_id AND h.size = s.size
WHERE c.platform_id = $1`

// LogStatus implements ports.LedgerLog.
func (l *Log) LogStatus(ctx context.Context, p ident.Platform) (status ports.LogStatus, err error) {
	err = l.withConn(ctx, func(q Querier) error {
		return queryFreshPlan(ctx, q, selectLogStatus, []any{p}, func(rows pgx.Rows) error {
			var root []byte
			c := &status.Checkpoint
			err := rows.Scan(&status.Postings, &c.Size, &status.Edge, &status.PublishedSize, &root, &c.Sealed, schema.Optional(&c.Note))
			c.Platform = p
			copy(c.Root[:], root)
			return err
		})
	})
	return status, wrapError("read the state of the log", err)
}

// Uses ledger_log_tiles_pkey.
const selectTiles = `
SELECT w.position, t.hashes
FROM unnest($2::smallint[], $3::bigint[]) WITH ORDINALITY AS w (level, tile_index, position)
JOIN ledger_log_tiles t ON t.platform_id = $1 AND t.level = w.level AND t.tile_index = w.tile_index`

// Tiles implements ports.LedgerLog.
func (l *Log) Tiles(ctx context.Context, p ident.Platform, indexes []ports.TileIndex) (tiles [][]byte, err error) {
	err = l.withConn(ctx, func(q Querier) error {
		tiles, err = readTiles(ctx, q, p, indexes)
		return err
	})
	return tiles, err
}

func readTiles(ctx context.Context, q Querier, p ident.Platform, indexes []ports.TileIndex) ([][]byte, error) {
	levels, tileIndexes := make([]int16, len(indexes)), make([]int64, len(indexes))
	for i, index := range indexes {
		levels[i], tileIndexes[i] = int16(index.Level), index.N
	}
	tiles := make([][]byte, len(indexes))
	err := queryFreshPlan(ctx, q, selectTiles, []any{p, levels, tileIndexes}, func(rows pgx.Rows) error {
		var position int64
		var hashes []byte
		if err := rows.Scan(&position, &hashes); err != nil {
			return err
		}
		tiles[position-1] = hashes
		return nil
	})
	return tiles, wrapError("read tiles of the log", err)
}

// Leaf implements ports.LedgerLog.
func (l *Log) Leaf(ctx context.Context, p ident.Platform, posting uuid.UUID) (leaf ledger.Leaf, found bool, err error) {
	err = l.withConn(ctx, func(q Querier) error {
		position, exists, err := findPosition(ctx, q, p, posting)
		if err != nil || !exists {
			return err
		}
		m, err := loadMonths(ctx, q, p.UUID())
		if err != nil {
			return err
		}
		if position.upto <= m.lastArchivedSeq {
			return m.archivedError()
		}
		key := postingKey{p, posting}
		stored, err := l.store.postings(ctx, q, []postingKey{key})
		if err != nil {
			return err
		}
		if leaf.Posting, found = stored[key]; !found {
			return nil
		}
		leaf.Seq, leaf.Recorded = position.upto, position.from.UTC()
		return nil
	})
	return leaf, found, wrapError("read a posting", err)
}

func (l *Log) withConn(ctx context.Context, fn func(Querier) error) error {
	return withConn(ctx, l.pool, fn)
}

func withConn(ctx context.Context, pool *pgxpool.Pool, fn func(Querier) error) error {
	return pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return fn(c.Conn()) })
}

// execer is a connection or a transaction of pgx.
type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// execOne runs a statement that changes one row.
func execOne(ctx context.Context, q execer, doing, statement string, args ...any) error {
	if _, err := q.Exec(ctx, statement, args...); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
