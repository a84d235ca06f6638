// Package books keeps the ledger in PostgreSQL: it writes postings, reads balances
// and entries, moves checkpoints forward, and streams everything for an audit.
//
// The rules that many writers at once could break are held by its statements and the
// schema, not by its callers. It never opens or ends the transaction it writes in,
// and it never decides what to post. It expects READ COMMITTED, where each statement
// sees what was committed before it began.
//
// The locks of a transaction are taken in one order, so that two cannot wait for each
// other in a circle: new guarded accounts, guarded balances in account order, other
// new accounts, and last the clocks of the platforms. From Post to the commit no other
// transaction can post on the same platforms, so Post belongs at the very end of a
// unit of work, once, with everything there is to post.
package ledgerdb

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Store writes and reads the ledger. It keeps nothing but a cache of accounts, which
// never change, so one serves all connections to one database.
type Store struct {
	accounts accountCache
}

// New makes the books of one database.
func New() *Store { return &Store{} }

// Querier is where statements run: a *pgx.Conn with a transaction open, or a pgx.Tx.
type Querier interface {
	Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// prepare makes sure that the connection has the statements prepared, whatever mode
// its pool is configured for. It costs a round trip the first time only. A statement
// is known by its own text, so it can then be sent like any other.
func prepare(ctx context.Context, q Querier, statements ...string) error {
	for _, s := range statements {
		if _, err := q.Prepare(ctx, s, s); err != nil {
			return err
		}
	}
	return nil
}

// query runs a prepared statement and hands its rows, if it has any, to scan one by one.
func query(ctx context.Context, q Querier, statement string, args []any, scan func(pgx.Rows) error) error {
	if err := prepare(ctx, q, statement); err != nil {
		return err
	}
	rows, err := q.Query(ctx, statement, args...)
	if err != nil {
		return err
	}
	return forEachRow(rows, scan)
}

// queryFreshPlan runs a statement that is seldom asked and depends on how much there is, so it
// is planned for what is there now, and hands its rows to scan one by one.
func queryFreshPlan(ctx context.Context, q Querier, statement string, args []any, scan func(pgx.Rows) error) error {
	rows, err := q.Query(ctx, statement, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
	if err != nil {
		return err
	}
	return forEachRow(rows, scan)
}

// forEachRow hands the rows to scan one by one and closes them.
func forEachRow(rows pgx.Rows, scan func(pgx.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
