package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/schema"
	"causeway/ports"
)

// Querier is a pool, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// ReadRows runs a query in a mode and calls scan for each of its rows.
func ReadRows(ctx context.Context, q Querier, mode pgx.QueryExecMode, query string, args []any, scan func(pgx.Rows) error) error {
	rows, err := q.Query(ctx, query, append([]any{mode}, args...)...)
	if err != nil {
		return ReadError(err)
	}
	return ReadError(ForEachRow(rows, scan))
}

// ForEachRow calls scan for each row and closes the rows.
func ForEachRow(rows pgx.Rows, scan func(pgx.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// ReadError adds ports.ErrReadTimeout to the error of a statement that was ended by its timeout.
func ReadError(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "57014" {
		return fmt.Errorf("%w: %w", ports.ErrReadTimeout, err)
	}
	return err
}

// Collect returns what scan reads of each row of a query.
func Collect[T any](ctx context.Context, read Reader, query string, args []any,
	scan func(rows pgx.Rows, item *T) error) (found []T, err error) {
	err = read(ctx, query, args, func(rows pgx.Rows) error {
		var item T
		err := scan(rows, &item)
		found = append(found, item)
		return err
	})
	return found, err
}

// ReadRow reads the row of a query into targets. It returns false if there is none.
func ReadRow(ctx context.Context, read Reader, query string, args []any, targets ...any) (found bool, err error) {
	err = read(ctx, query, args, func(rows pgx.Rows) error {
		found = true
		return rows.Scan(targets...)
	})
	return found && err == nil, err
}

// Select returns the rows of a table that a query finds. rest is what follows its FROM, and $1 its first argument.
func Select[T any](ctx context.Context, read Reader, t *schema.Table[T], rest string, args ...any) ([]T, error) {
	return Collect(ctx, read, "SELECT "+t.Names("")+" FROM "+t.Name+" "+rest, args, func(rows pgx.Rows, row *T) error {
		return rows.Scan(t.Columns(row).Targets(rows.RawValues())...)
	})
}

// First returns the first of the rows that were read; false if there is none.
func First[T any](rows []T, err error) (first T, found bool, _ error) {
	if err != nil || len(rows) == 0 {
		return first, false, err
	}
	return rows[0], true, nil
}
