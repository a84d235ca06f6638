package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
)

// These are all ways to read:
//
//   - db.read, for rows that are found by their keys: on the pool of units of work, with a prepared statement;
//   - u.query, in a unit of work: the same, on its connection and after what it has queued;
//   - db.queryRows, for reports and what is read rarely: on the pool of reports, planned each time;
//   - readOn(tx), several queries of one snapshot (inSnapshot) or transaction: planned each time;
//   - selectPage, for the pages of lists, whose conditions bun composes (lists.go).
//
// A prepared statement keeps its plan for as long as the connection, whatever its tables have grown to.

// read implements storage.Reader on the pool of units of work.
func (db *DB) read(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error {
	return db.storage.Read(ctx, query, args, scan)
}

// queryRows implements storage.Reader on the pool of reports.
func (db *DB) queryRows(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error {
	return queryRows(ctx, db.readPool, query, args, scan)
}

// readOn returns the reader of a connection or an open transaction.
func readOn(q storage.Querier) storage.Reader {
	return func(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error {
		return queryRows(ctx, q, query, args, scan)
	}
}

// inSnapshot calls fn with a read-only transaction that reads one snapshot, on the pool of reports.
func (db *DB) inSnapshot(ctx context.Context, fn func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, db.readPool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, fn)
}

// queryRows runs a query that is planned each time.
func queryRows(ctx context.Context, q storage.Querier, query string, args []any, scan func(pgx.Rows) error) error {
	return storage.ReadRows(ctx, q, pgx.QueryExecModeCacheDescribe, query, args, scan)
}
