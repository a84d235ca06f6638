package ledgerdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/ports"
)

const (
	insertLogState = `INSERT INTO ledger_log_state (platform_id) VALUES ($1) ON CONFLICT DO NOTHING`
	// The lock of the row is the lock of the platform's log. Postings up to the number of the
	// clock are final, because numbers follow the order of commits.
	lockLogState = `
SELECT s.size, s.partial_tiles, (SELECT c.seq FROM ledger_clocks c WHERE c.platform_id = s.platform_id)
FROM ledger_log_state s WHERE s.platform_id = $1 FOR UPDATE OF s SKIP LOCKED`
	insertTiles = `
INSERT INTO ledger_log_tiles (platform_id, level, tile_index, hashes)
SELECT $1, w.level, w.tile_index, w.hashes FROM unnest($2::smallint[], $3::bigint[], $4::bytea[]) AS w (level, tile_index, hashes)`
	insertCheckpoint = `INSERT INTO ledger_log_checkpoints (platform_id, size, root_hash, sealed_at, signed_note) VALUES ($1, $2, $3, $4, $5)`
	updateLogState   = `UPDATE ledger_log_state SET size = $2, partial_tiles = $3 WHERE platform_id = $1`
)

// Seal implements ports.LedgerLog. fn runs in one transaction that locks the platform's row.
func (l *Log) Seal(ctx context.Context, p ident.Platform, fn func(context.Context, ports.LogWriter) error) (locked bool, err error) {
	if err := execOne(ctx, l.pool, "create the log", insertLogState, p); err != nil {
		return false, err
	}
	tx, err := l.pool.Begin(ctx)
	if err != nil {
		return false, fmt.Errorf("seal: %w", err)
	}
	defer func() {
		if rollback := tx.Rollback(context.WithoutCancel(ctx)); rollback != nil && !errors.Is(rollback, pgx.ErrTxClosed) {
			err = errors.Join(err, rollback)
		}
	}()
	if _, err := tx.Exec(ctx, "SET LOCAL "+disableSort); err != nil {
		return false, fmt.Errorf("seal: %w", err)
	}
	w := &logWriter{view: auditView{l.store, tx}, platform: p}
	err = queryFreshPlan(ctx, tx, lockLogState, []any{p}, func(rows pgx.Rows) error {
		locked = true
		return rows.Scan(&w.size, &w.partialTiles, &w.postings)
	})
	if err != nil || !locked {
		return false, wrapError("seal", err)
	}
	if err := fn(ctx, w); err != nil {
		return true, err
	}
	return true, wrapError("seal", tx.Commit(ctx))
}

type logWriter struct {
	view         auditView
	platform     ident.Platform
	size         int64
	partialTiles []byte
	postings     int64
}

func (w *logWriter) State() (int64, []byte) { return w.size, w.partialTiles }
func (w *logWriter) Postings() int64        { return w.postings }

func (w *logWriter) Read(ctx context.Context, after, upto int64, each func(ports.AuditPosting) error) error {
	return w.view.postingsBetween(ctx, w.platform, after, upto, each)
}

func (w *logWriter) Add(ctx context.Context, tiles []ports.LogTile) error {
	if len(tiles) == 0 {
		return nil
	}
	levels, tileIndexes, hashes := make([]int16, len(tiles)), make([]int64, len(tiles)), make([][]byte, len(tiles))
	for i, t := range tiles {
		levels[i], tileIndexes[i], hashes[i] = int16(t.Level), t.N, t.Hashes
	}
	return execOne(ctx, w.view.tx, "add to the log", insertTiles, w.platform, levels, tileIndexes, hashes)
}

func (w *logWriter) Seal(ctx context.Context, checkpoint ports.SignedCheckpoint, partialTiles []byte) error {
	if err := execOne(ctx, w.view.tx, "seal", insertCheckpoint, w.platform, checkpoint.Size, checkpoint.Root[:], checkpoint.Sealed,
		checkpoint.Note); err != nil {
		return err
	}
	return execOne(ctx, w.view.tx, "seal", updateLogState, w.platform, checkpoint.Size, partialTiles)
}
