// Package ledgerdb stores the ledger in PostgreSQL. It writes postings, reads balances and
// entries, creates balance snapshots, stores the log of postings, and streams the whole
// ledger for an audit.
//
// The rules that concurrent writers could break are enforced by its statements and the
// schema, not by its callers. It never begins or ends the transaction it writes in, and
// it never decides what to post. It expects READ COMMITTED, where each statement sees
// what was committed before the statement began.
//
// All transactions take their locks in one order, so that they cannot deadlock: new
// accounts that may not be overdrawn, stored balances in account order, other new
// accounts, and last the clocks of the platforms. From Post to the commit no other
// transaction can post on the same platforms. So Post is called once, at the end of a
// unit of work, with all its postings.
package ledgerdb

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/storage"
)

// Store writes and reads the ledger. It holds only a cache of the ids of accounts, which never
// change while the database loses no commit, so one Store is enough for all connections to it.
type Store struct {
	accounts accountCache
}

// New returns the store of one database.
func New() *Store { return &Store{} }

// Querier runs statements: a *pgx.Conn with a transaction open, or a pgx.Tx.
type Querier interface {
	Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// prepare prepares the statements on the connection, whatever mode its pool is configured
// for. It costs a round trip the first time only. The name of a prepared statement is its
// own text, so it is then sent like any other.
func prepare(ctx context.Context, q Querier, statements ...string) error {
	for _, s := range statements {
		if _, err := q.Prepare(ctx, s, s); err != nil {
			return err
		}
	}
	return nil
}

// query runs a prepared statement and calls scan for each row.
func query(ctx context.Context, q Querier, statement string, args []any, scan func(pgx.Rows) error) error {
	if err := prepare(ctx, q, statement); err != nil {
		return err
	}
	rows, err := q.Query(ctx, statement, args...)
	if err != nil {
		return err
	}
	return storage.ForEachRow(rows, scan)
}

// queryFreshPlan runs a statement that is rare and whose best plan depends on the size of
// the tables, so it is planned each time. It calls scan for each row.
func queryFreshPlan(ctx context.Context, q Querier, statement string, args []any, scan func(pgx.Rows) error) error {
	rows, err := q.Query(ctx, statement, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
	if err != nil {
		return err
	}
	return storage.ForEachRow(rows, scan)
}
