package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/ledgerdb"
)

// batchedQuerier is the unit's connection for package ledgerdb. The queued statements of the
// unit are sent in one round trip with its next QueryRow, and before any other statement. So are those
// that after queues, which run after each QueryRow; it may be nil.
type batchedQuerier struct {
	u     *Unit
	after func()
}

var _ ledgerdb.Querier = batchedQuerier{}

func (r batchedQuerier) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return batchedRow{ctx, r, sql, args}
}

func (r batchedQuerier) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	return r.u.conn.Prepare(ctx, name, sql)
}

func (r batchedQuerier) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := r.u.flush(ctx); err != nil {
		return nil, err
	}
	return r.u.conn.Query(ctx, sql, args...)
}

// batchedRow sends its query when it is scanned.
type batchedRow struct {
	ctx context.Context //nolint:containedctx // lives from QueryRow to Scan, as pgx has it
	batchedQuerier
	sql  string
	args []any
}

func (r batchedRow) Scan(targets ...any) error {
	found := false
	r.u.queueQuery(r.sql, r.args, func(rows pgx.Rows) error {
		found = true
		return rows.Scan(targets...)
	})
	if r.after != nil {
		r.after()
	}
	err := r.u.flush(r.ctx)
	if err == nil && !found {
		err = pgx.ErrNoRows
	}
	return err
}
