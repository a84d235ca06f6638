package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/ports"
)

const (
	// reencryptBatchSize is the number of rows that are read together, and of those that one
	// statement changes, and so locks, at most.
	reencryptBatchSize    = 200
	reencryptBatchTimeout = time.Minute
)

// ReencryptPersonalData encrypts every value of sealedColumns that is plain, or encrypted with
// another data key than the newest, while requests continue. It pauses after each batch for as long
// as that took, and calls done with the numbers of rows that it read and changed. What an earlier call
// changed is only read.
func (db *DB) ReencryptPersonalData(ctx context.Context, done func(table string, read, changed int)) error {
	newest, err := db.cipher.NewestKey(ctx)
	if err != nil {
		return err
	}
	if newest.Generation != ports.DataKeyGeneration {
		return errors.New("there is no data key of this version; create one with: causeway keys rotate")
	}
	for _, table := range sealedTables() {
		for position, more := table.start(), true; more; {
			began := time.Now()
			read, changed, last, err := db.reencryptBatch(ctx, table, newest.ID, position)
			if err != nil {
				return fmt.Errorf("encrypt %s: %w", table.name, err)
			}
			done(table.name, read, changed)
			if position, more = last, read == reencryptBatchSize; !more {
				continue
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Since(began)):
			}
		}
	}
	return nil
}

// reencryptBatch reads a batch and encrypts what it must. Rows that change meanwhile, or stay locked,
// are tried again.
func (db *DB) reencryptBatch(ctx context.Context, t sealedTable, newest uuid.UUID, after rowPosition) (read, changed int, last rowPosition, err error) {
	ctx, cancel := context.WithTimeout(ctx, reencryptBatchTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		var rows []staleRow
		if rows, read, last, err = db.readStale(ctx, t, newest, after); err != nil {
			return read, changed, last, err
		}
		n, err := db.writeEncrypted(ctx, t, rows)
		changed += n
		switch {
		case err == nil && n == len(rows):
			return read, changed, last, nil
		case attempt < maxAttempts && (err == nil || isRetryable(err) || isLockUnavailable(err)):
		case err != nil:
			return read, changed, last, err
		default:
			return read, changed, last, errors.New("rows change again and again")
		}
	}
}

// staleRow is a row with values that are to be encrypted, by column; nil for those that are not.
type staleRow struct {
	rowPosition
	old, encrypted [][]byte
}

func (db *DB) readStale(ctx context.Context, t sealedTable, newest uuid.UUID, after rowPosition) (stale []staleRow, read int, last rowPosition, err error) {
	last = after
	rows, err := db.pool.Query(ctx, t.readSQL(), pgx.QueryExecModeCacheStatement, newest[:], pgtype.UUID{Bytes: after.platform, Valid: true}, after.key, reencryptBatchSize)
	if err != nil {
		return nil, 0, last, err
	}
	err = forEachRow(rows, func(rows pgx.Rows) error {
		row := staleRow{old: make([][]byte, len(t.columns)), encrypted: make([][]byte, len(t.columns))}
		targets := []any{(*[16]byte)(&row.platform), &row.key}
		for i := range row.old {
			targets = append(targets, &row.old[i])
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		read, last = read+1, row.rowPosition
		if slices.ContainsFunc(row.old, func(value []byte) bool { return value != nil }) {
			stale = append(stale, row)
		}
		return nil
	})
	for _, row := range stale {
		if err == nil {
			err = db.encryptAgain(ctx, t, row)
		}
	}
	return stale, read, last, err
}

func (db *DB) encryptAgain(ctx context.Context, t sealedTable, row staleRow) error {
	id, err := t.row(row.platform, row.key)
	if err != nil {
		return err
	}
	for i, column := range t.columns {
		switch {
		case row.old[i] == nil:
		case sealedColumns[column].format == fingerprintFormat:
			keyed, err := db.cipher.Fingerprint(ctx, string(row.old[i]))
			if err != nil {
				return err
			}
			row.encrypted[i] = []byte(keyed)
		default:
			plain, err := db.open(ctx, id, column, row.old[i])
			if err != nil {
				return err
			}
			if row.encrypted[i], err = db.seal(ctx, id, column, plain); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeEncrypted writes rows with one statement, and returns how many were still as they were read.
// If one of them violates a unique index, each is written alone.
func (db *DB) writeEncrypted(ctx context.Context, t sealedTable, rows []staleRow) (changed int, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	tag, err := db.pool.Exec(ctx, t.writeSQL(), append([]any{pgx.QueryExecModeCacheStatement}, t.writeArgs(rows)...)...)
	if !isUniqueViolation(err) {
		return int(tag.RowsAffected()), err
	}
	if len(rows) == 1 {
		if err := db.makeDistinct(ctx, t, rows[0]); err != nil {
			return 0, err
		}
		tag, err := db.pool.Exec(ctx, t.writeSQL(), append([]any{pgx.QueryExecModeCacheStatement}, t.writeArgs(rows)...)...)
		return int(tag.RowsAffected()), err
	}
	for i := range rows {
		n, err := db.writeEncrypted(ctx, t, rows[i:i+1])
		if err != nil {
			return changed, err
		}
		changed += n
	}
	return changed, nil
}

// makeDistinct gives a row a fingerprint of its own. Another row has its keyed fingerprint: the same
// account was added by a process with the first data key, and by one that had not read it yet. Both
// stay usable, and the account cannot be added a third time.
func (db *DB) makeDistinct(ctx context.Context, t sealedTable, row staleRow) error {
	for i, column := range t.columns {
		if sealedColumns[column].format == fingerprintFormat && row.old[i] != nil {
			keyed, err := db.cipher.Fingerprint(ctx, string(row.old[i])+" "+row.key)
			if err != nil {
				return err
			}
			row.encrypted[i] = []byte(keyed)
		}
	}
	return nil
}

func isUniqueViolation(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505"
}
