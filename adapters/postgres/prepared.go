package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
)

// collect returns what scan reads of each row of a query.
func collect[T any](ctx context.Context, read reader, query string, args []any,
	scan func(rows pgx.Rows, item *T) error) (found []T, err error) {
	err = read(ctx, query, args, func(rows pgx.Rows) error {
		var item T
		err := scan(rows, &item)
		found = append(found, item)
		return err
	})
	return found, err
}

// readValues reads the row of a query into targets. It returns false if there is none.
func readValues(ctx context.Context, read reader, query string, args []any, targets ...any) (found bool, err error) {
	err = read(ctx, query, args, func(rows pgx.Rows) error {
		found = true
		return rows.Scan(targets...)
	})
	return found && err == nil, err
}

// writeAlone runs a statement for one row outside of a unit of work. It returns how many rows it has changed.
func writeAlone[T any](ctx context.Context, db *DB, s schema.Statement[T], row T) (int64, error) {
	columns, err := columnsToWrite(ctx, db, s, &row)
	if err != nil {
		return 0, err
	}
	return db.exec(ctx, s.SQL, columns.Fields()...)
}

// writeIn runs a statement for one row in a transaction.
func writeIn[T any](ctx context.Context, db *DB, tx preparedTx, s schema.Statement[T], row T) error {
	columns, err := columnsToWrite(ctx, db, s, &row)
	if err == nil {
		_, err = tx.exec(ctx, s.SQL, columns.Fields()...)
	}
	return err
}

// exec runs a prepared statement outside of a unit of work. It returns how many rows it has changed.
func (db *DB) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := db.pool.Exec(ctx, statement, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
	return done.RowsAffected(), err
}

// deleteInBatches runs a deletion of what is older than a time ($1), at most $2 rows at once, until fewer are left.
func (db *DB) deleteInBatches(ctx context.Context, table, sql string, before time.Time, deleted func(table string, rows int)) error {
	for {
		n, err := db.deleteOneBatch(ctx, sql, before)
		if err != nil {
			return fmt.Errorf("delete old rows of %s: %w", table, err)
		}
		deleted(table, int(n))
		if n < retentionBatchSize {
			return nil
		}
	}
}

func (db *DB) deleteOneBatch(ctx context.Context, sql string, before time.Time) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, retentionBatchTimeout)
	defer cancel()
	return db.exec(ctx, sql, before, retentionBatchSize)
}

// preparedTx is a transaction whose statements are prepared.
type preparedTx struct{ pgx.Tx }

// inTx runs fn in one transaction and commits it when fn returns nil. An error of the commit itself leaves open whether the
// change was made.
func (db *DB) inTx(ctx context.Context, fn func(tx preparedTx) error) (err error) {
	tx, err := db.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() {
		// Without effect after a commit, or when the end of ctx has closed the connection.
		if failed := tx.Rollback(ctx); failed != nil && !errors.Is(failed, pgx.ErrTxClosed) && ctx.Err() == nil {
			err = errors.Join(err, fmt.Errorf("roll back: %w", failed))
		}
	}()
	if err := fn(preparedTx{tx}); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// sendBatch runs statements in one transaction.
func (db *DB) sendBatch(ctx context.Context, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	return db.inTx(ctx, func(tx preparedTx) error { return tx.send(ctx, batch) })
}

func (tx preparedTx) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := tx.Exec(ctx, statement, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
	return done.RowsAffected(), err
}

func (tx preparedTx) read(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error {
	rows, err := tx.Query(ctx, query, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
	if err != nil {
		return err
	}
	return forEachRow(rows, scan)
}

// send sends statements in one round trip.
func (tx preparedTx) send(ctx context.Context, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	if err := prepare(ctx, tx.Conn(), batch); err != nil {
		return err
	}
	return tx.SendBatch(ctx, batch).Close()
}
