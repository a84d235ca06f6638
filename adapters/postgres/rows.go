package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
)

// keyOfPlatform is the primary key of most tables.
var keyOfPlatform = []string{"platform_id", "id"}

// ofPlatform is a row whose value does not hold its platform.
type ofPlatform[T any] struct {
	platform ident.Platform
	value    T
}

// selectRows returns the rows of a table that a query finds. rest is what follows its FROM, and $1 its first argument.
func selectRows[T any](ctx context.Context, db *DB, read storage.Reader, t *schema.Table[T], rest string, args ...any) ([]T, error) {
	return queryTable(ctx, db, read, t, "SELECT "+t.Names("")+" FROM "+t.Name+" "+rest, args...)
}

// queryTable is selectRows for a whole query, whose columns are those of the table.
func queryTable[T any](ctx context.Context, db *DB, read storage.Reader, t *schema.Table[T], query string, args ...any) ([]T, error) {
	return sealed.Query(ctx, db.sealed, read, t, query, args...)
}

// queryValues returns the single column of a query.
func queryValues[T any](ctx context.Context, read storage.Reader, query string, args ...any) (found []T, err error) {
	err = read(ctx, query, args, func(rows pgx.Rows) error {
		var value T
		err := rows.Scan(&value)
		found = append(found, value)
		return err
	})
	return found, err
}

// selectRow is selectRows for at most one row.
func selectRow[T any](ctx context.Context, db *DB, read storage.Reader, t *schema.Table[T], rest string,
	args ...any) (row T, found bool, err error) {
	return storage.First(selectRows(ctx, db, read, t, rest, args...))
}

// queryTableRow is queryTable for at most one row.
func queryTableRow[T any](ctx context.Context, db *DB, read storage.Reader, t *schema.Table[T], query string,
	args ...any) (row T, found bool, err error) {
	return storage.First(queryTable(ctx, db, read, t, query, args...))
}

// selectExisting is selectRow for a row that must be there: none is the error if it is not.
func selectExisting[T any](ctx context.Context, db *DB, read storage.Reader, t *schema.Table[T], none error, rest string,
	args ...any) (T, error) {
	row, found, err := selectRow(ctx, db, read, t, rest, args...)
	if err == nil && !found {
		err = none
	}
	return row, err
}

// readByID is selectExisting for a row of a platform by its id. It uses the primary key.
func readByID[T any](ctx context.Context, db *DB, t *schema.Table[T], none error, p ident.Platform, id any) (T, error) {
	return selectExisting(ctx, db, db.read, t, none, `WHERE platform_id = $1 AND id = $2`, p, id)
}

// lockByID is readByID in a unit of work, which locks the row.
func lockByID[T any](ctx context.Context, u *Unit, t *schema.Table[T], none error, p ident.Platform, id any) (T, error) {
	return selectExisting(ctx, u.db, u.query, t, none, `WHERE platform_id = $1 AND id = $2 FOR UPDATE`, p, id)
}

// write queues a statement for one row.
func write[T any](ctx context.Context, u *Unit, s schema.Statement[T], row T) error {
	_, err := queueWrite(ctx, u, s, row)
	return err
}

func queueWrite[T any](ctx context.Context, u *Unit, s schema.Statement[T], row T) (*pgx.QueuedQuery, error) {
	columns, err := sealed.ToWrite(ctx, u.db.sealed, s, &row)
	if err != nil {
		return nil, err
	}
	return u.pending.Queue(s.SQL, columns.Fields()...), nil
}

// writeAll queues a statement for many rows.
func writeAll[T any](ctx context.Context, u *Unit, s schema.Statement[T], rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	columns, err := sealed.AllToWrite(ctx, u.db.sealed, s, rows)
	if err == nil {
		u.queueExec(s.SQL, schema.ArraysOf(columns)...)
	}
	return err
}

// queryAll runs a statement for many rows after those that are queued, and calls scan for each row that it returns.
func queryAll[T any](ctx context.Context, u *Unit, s schema.Statement[T], rows []T, scan func(pgx.Rows) error) error {
	if err := queueQueryAll(ctx, u, s, rows, scan); err != nil {
		return err
	}
	return u.flush(ctx)
}

// queueQueryAll is queryAll with the next flush.
func queueQueryAll[T any](ctx context.Context, u *Unit, s schema.Statement[T], rows []T, scan func(pgx.Rows) error) error {
	if len(rows) == 0 {
		return nil
	}
	columns, err := sealed.AllToWrite(ctx, u.db.sealed, s, rows)
	if err != nil {
		return err
	}
	u.queueQuery(s.SQL, schema.ArraysOf(columns), scan)
	return nil
}

// writeNow runs a statement for one row, after those that are queued. none is the error if it changes no row; nil if that is
// not an error.
func writeNow[T any](ctx context.Context, u *Unit, s schema.Statement[T], row T, none error) error {
	queued, err := queueWrite(ctx, u, s, row)
	if err != nil {
		return err
	}
	queued.Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() == 0 {
			return none
		}
		return nil
	})
	return translate(u.flush(ctx))
}

// execOne runs a statement that should change one row, after those that are queued.
func (u *Unit) execOne(ctx context.Context, none error, statement string, args ...any) error {
	u.pending.Queue(statement, args...).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() == 0 {
			return none
		}
		return nil
	})
	return translate(u.flush(ctx))
}

// firstOf returns the items of a page, of which one more than its limit was read if there are more.
func firstOf[T any](items []T, limit int) (page []T, more bool) {
	more = len(items) > limit
	return items[:min(len(items), limit)], more
}
