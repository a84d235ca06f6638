package postgres

import (
	"context"
	"fmt"
	"time"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
)

// writeAlone runs a statement for one row outside of a unit of work. It returns how many rows it has changed.
func writeAlone[T any](ctx context.Context, db *DB, s schema.Statement[T], row T) (int64, error) {
	columns, err := sealed.ToWrite(ctx, db.sealed, s, &row)
	if err != nil {
		return 0, err
	}
	return db.exec(ctx, s.SQL, columns.Fields()...)
}

// writeIn runs a statement for one row in a transaction.
func writeIn[T any](ctx context.Context, db *DB, tx storage.Tx, s schema.Statement[T], row T) error {
	columns, err := sealed.ToWrite(ctx, db.sealed, s, &row)
	if err == nil {
		_, err = tx.Exec(ctx, s.SQL, columns.Fields()...)
	}
	return err
}

// exec runs a prepared statement outside of a unit of work. It returns how many rows it has changed.
func (db *DB) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return db.storage.Exec(ctx, statement, args...)
}

// inTx runs fn in a transaction as storage.DB does.
func (db *DB) inTx(ctx context.Context, fn func(tx storage.Tx) error) error {
	return db.storage.InTx(ctx, fn)
}

// deleteInBatches runs a deletion of what is older than a time ($1), at most $2 rows at once, until fewer are left.
func (db *DB) deleteInBatches(ctx context.Context, table, sql string, before time.Time, deleted func(table string, rows int)) error {
	for {
		started := time.Now()
		n, err := db.deleteOneBatch(ctx, sql, before)
		if err != nil {
			return fmt.Errorf("delete old rows of %s: %w", table, err)
		}
		deleted(table, int(n))
		if n < retentionBatchSize {
			return nil
		}
		if err := waitAsLong(ctx, started); err != nil {
			return err
		}
	}
}

func (db *DB) deleteOneBatch(ctx context.Context, sql string, before time.Time) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, retentionBatchTimeout)
	defer cancel()
	return db.exec(ctx, sql, before, retentionBatchSize)
}
