// Package storage runs statements and transactions, and has what connectors of rails share to keep a state of their own. It is all
// that they use of the database; each has its tables and statements in its own folder.
package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/ports"
)

// Pool is a pool of connections.
type Pool interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Begin(ctx context.Context) (pgx.Tx, error)
}

// DB runs prepared statements outside of units of work.
type DB struct {
	pool    Pool
	clock   ports.Clock
	process uuid.UUID // the holder of its leases
}

// New returns the statements on a pool. The clock is that of this process.
func New(pool Pool, clock ports.Clock) *DB { return &DB{pool, clock, uuid.New()} }

// Now returns the time of this process.
func (db *DB) Now() time.Time { return db.clock.Now() }

// Reader runs a query and calls scan for each of its rows.
type Reader func(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error

// Read implements Reader.
func (db *DB) Read(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error {
	return ReadRows(ctx, db.pool, pgx.QueryExecModeCacheStatement, query, args, scan)
}

// Exec runs a statement and returns how many rows it has changed.
func (db *DB) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := db.pool.Exec(ctx, statement, prepared(args)...)
	return done.RowsAffected(), err
}

// InTx runs fn in one transaction and commits it when fn returns nil. An error of the commit itself leaves open whether the
// change was made.
func (db *DB) InTx(ctx context.Context, fn func(tx Tx) error) (err error) {
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
	if err := fn(Tx{tx}); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Send runs statements in one transaction.
func (db *DB) Send(ctx context.Context, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	return db.InTx(ctx, func(tx Tx) error { return tx.Send(ctx, batch) })
}

// Tx is a transaction whose statements are prepared.
type Tx struct{ tx pgx.Tx }

// Exec runs a statement and returns how many rows it has changed.
func (tx Tx) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := tx.tx.Exec(ctx, statement, prepared(args)...)
	return done.RowsAffected(), err
}

// Read implements Reader.
func (tx Tx) Read(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error {
	rows, err := tx.tx.Query(ctx, query, prepared(args)...)
	if err != nil {
		return err
	}
	return ForEachRow(rows, scan)
}

// Send sends statements in one round trip.
func (tx Tx) Send(ctx context.Context, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	if err := Prepare(ctx, tx.tx.Conn(), batch); err != nil {
		return err
	}
	return tx.tx.SendBatch(ctx, batch).Close()
}

// Prepare prepares the statements of a batch: a map lookup, except for the first time on a connection.
func Prepare(ctx context.Context, conn *pgx.Conn, batch *pgx.Batch) error {
	for _, queued := range batch.QueuedQueries {
		if _, err := conn.Prepare(ctx, queued.SQL, queued.SQL); err != nil {
			return err
		}
	}
	return nil
}

func prepared(args []any) []any { return append([]any{pgx.QueryExecModeCacheStatement}, args...) }
