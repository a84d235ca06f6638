package ledgerdb

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// Log keeps the log of postings. It writes nothing that a posting has to wait for.
type Log struct {
	store *Store
	pool  *pgxpool.Pool
}

var (
	_ ports.LedgerLog          = (*Log)(nil)
	_ ports.CheckpointKeyStore = (*Log)(nil)
)

// NewLog is the log of the database that the pool is connected to.
func NewLog(b *Store, pool *pgxpool.Pool) *Log { return &Log{b, pool} }

// Reads one row a platform.
const selectUnsealed = `
SELECT c.platform_id FROM ledger_clocks c LEFT JOIN ledger_log_state s ON s.platform_id = c.platform_id
WHERE c.seq > coalesce(s.size, 0)
ORDER BY c.platform_id`

// Unsealed is as ports.LedgerLog says.
func (l *Log) Unsealed(ctx context.Context) (due []ident.Platform, err error) {
	err = l.withConn(ctx, func(q Querier) error {
		return queryFreshPlan(ctx, q, selectUnsealed, nil, func(rows pgx.Rows) error {
			var id [16]byte
			err := rows.Scan(&id)
			due = append(due, platformID(id))
			return err
		})
	})
	return due, wrapError("look for postings to seal", err)
}

// Rides on primary keys, and reads a clock, the edge and the last head as one moment
// saw them.
const selectLogStatus = `
SELECT c.seq, coalesce(s.size, 0), coalesce(s.partial_tiles, ''), coalesce(s.published_size, 0), h.root_hash, h.sealed_at, h.signed_note
FROM ledger_clocks c
LEFT JOIN ledger_log_state s ON s.platform_id = c.platform_id
LEFT JOIN ledger_log_checkpoints h ON h.platform_id = s.platform_id AND h.size = s.size
WHERE c.platform_id = $1`

// LogStatus is as ports.LedgerLog says.
func (l *Log) LogStatus(ctx context.Context, p ident.Platform) (at ports.LogStatus, err error) {
	err = l.withConn(ctx, func(q Querier) error {
		return queryFreshPlan(ctx, q, selectLogStatus, []any{pgUUID(p.UUID())}, func(rows pgx.Rows) error {
			var (
				root   []byte
				sealed pgtype.Timestamptz
				note   pgtype.Text
			)
			if err := rows.Scan(&at.Postings, &at.Checkpoint.Size, &at.Edge, &at.PublishedSize, &root, &sealed, &note); err != nil {
				return err
			}
			at.Checkpoint.Platform, at.Checkpoint.Sealed, at.Checkpoint.Note = p, utc(sealed), note.String
			copy(at.Checkpoint.Root[:], root)
			return nil
		})
	})
	return at, wrapError("read how the log stands", err)
}

// Rides on ledger_heads_pkey.
const (
	selectCheckpointsDescending = `SELECT size, root_hash, sealed_at, signed_note FROM ledger_log_checkpoints WHERE platform_id = $1 AND size < $2 ORDER BY size DESC LIMIT $3`
	selectCheckpointsAscending  = `SELECT size, root_hash, sealed_at, signed_note FROM ledger_log_checkpoints WHERE platform_id = $1 AND size > $2 ORDER BY size LIMIT $3`
	selectCheckpointBySize      = `SELECT size, root_hash, sealed_at, signed_note FROM ledger_log_checkpoints WHERE platform_id = $1 AND size = $2 LIMIT $3`
)

// Checkpoints is as ports.LedgerLog says.
func (l *Log) Checkpoints(ctx context.Context, p ident.Platform, f ports.CheckpointFilter) (page ports.CheckpointPage, err error) {
	err = l.withConn(ctx, func(q Querier) error {
		page.Checkpoints, err = readCheckpoints(ctx, q, p, f, f.Limit+1)
		return err
	})
	if err == nil && len(page.Checkpoints) > f.Limit {
		page.Checkpoints, page.More = page.Checkpoints[:f.Limit], true
	}
	return page, err
}

func readCheckpoints(ctx context.Context, q Querier, p ident.Platform, f ports.CheckpointFilter, most int) (heads []ports.SignedCheckpoint, err error) {
	statement, edge := selectCheckpointsDescending, f.Before
	switch {
	case f.Size > 0:
		statement, edge = selectCheckpointBySize, f.Size
	case f.Ascending:
		statement = selectCheckpointsAscending
	case f.Before == 0:
		edge = 1<<63 - 1
	}
	err = queryFreshPlan(ctx, q, statement, []any{pgUUID(p.UUID()), edge, most}, func(rows pgx.Rows) error {
		var root []byte
		var sealed pgtype.Timestamptz
		h := ports.SignedCheckpoint{Checkpoint: ledger.Checkpoint{Platform: p}}
		if err := rows.Scan(&h.Size, &root, &sealed, &h.Note); err != nil {
			return err
		}
		copy(h.Root[:], root)
		h.Sealed = utc(sealed)
		heads = append(heads, h)
		return nil
	})
	return heads, wrapError("read the heads of the log", err)
}

// Rides on ledger_tiles_pkey.
const selectTiles = `
SELECT w.position, t.hashes
FROM unnest($2::smallint[], $3::bigint[]) WITH ORDINALITY AS w (level, tile_index, position)
JOIN ledger_log_tiles t ON t.platform_id = $1 AND t.level = w.level AND t.tile_index = w.tile_index`

// Tiles is as ports.LedgerLog says.
func (l *Log) Tiles(ctx context.Context, p ident.Platform, places []ports.TileIndex) (tiles [][]byte, err error) {
	err = l.withConn(ctx, func(q Querier) error {
		tiles, err = readTiles(ctx, q, p, places)
		return err
	})
	return tiles, err
}

func readTiles(ctx context.Context, q Querier, p ident.Platform, places []ports.TileIndex) ([][]byte, error) {
	levels, ns := make([]int16, len(places)), make([]int64, len(places))
	for i, at := range places {
		levels[i], ns[i] = int16(at.Level), at.N
	}
	tiles := make([][]byte, len(places))
	err := queryFreshPlan(ctx, q, selectTiles, []any{pgUUID(p.UUID()), levels, ns}, func(rows pgx.Rows) error {
		var place int64
		var hashes []byte
		if err := rows.Scan(&place, &hashes); err != nil {
			return err
		}
		tiles[place-1] = hashes
		return nil
	})
	return tiles, wrapError("read tiles of the log", err)
}

// Leaf is as ports.LedgerLog says.
func (l *Log) Leaf(ctx context.Context, p ident.Platform, posting uuid.UUID) (leaf ledger.Leaf, found bool, err error) {
	err = l.withConn(ctx, func(q Querier) error {
		at, known, err := findPosition(ctx, q, p, posting)
		if err != nil || !known {
			return err
		}
		m, err := loadMonths(ctx, q, p.UUID())
		if err != nil {
			return err
		}
		if at.upto <= m.lastArchivedSeq {
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
		leaf.Seq, leaf.Recorded = at.upto, at.from.UTC()
		return nil
	})
	return leaf, found, wrapError("read a posting", err)
}

func (l *Log) withConn(ctx context.Context, do func(Querier) error) error {
	return l.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return do(c.Conn()) })
}

// execer changes rows; connections and transactions of pgx do.
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
