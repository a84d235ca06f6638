package postgres

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/schema"
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

// sealedField is the field of an encrypted column.
type sealedField struct {
	column sealedColumn
	seal   func(context.Context, *DB, sealedRow) ([]byte, error) // nil is NULL
	open   func(ctx context.Context, db *DB, row sealedRow, stored []byte) error
	stored []byte // as it was read
	// unbound: what is stored belongs to no row.
	unbound bool
}

func (f *sealedField) row(columns schema.Columns) sealedRow {
	if f.unbound {
		return sealedRow{}
	}
	return rowOf(columns)
}

func newSealedColumn(c sealedColumn, f sealedField) schema.Column {
	f.column = c
	return schema.Column{Name: sealedColumns[c].name, Field: &f, Type: sealedColumns[c].format.sqlType()}
}

// sealedText is an encrypted text. The empty text is stored as it is.
func sealedText(c sealedColumn, text *string) schema.Column {
	return newSealedColumn(c, sealedField{
		seal: func(ctx context.Context, db *DB, row sealedRow) ([]byte, error) {
			return db.seal(ctx, row, c, []byte(*text))
		},
		open: func(ctx context.Context, db *DB, row sealedRow, stored []byte) (err error) {
			*text, err = db.openText(ctx, row, c, string(stored))
			return err
		},
	})
}

// sealedTexts is an encrypted list of texts, one per line. The empty list is the empty text.
func sealedTexts(c sealedColumn, texts *[]string) schema.Column {
	return newSealedColumn(c, sealedField{
		seal: func(ctx context.Context, db *DB, row sealedRow) ([]byte, error) {
			return db.seal(ctx, row, c, []byte(strings.Join(*texts, "\n")))
		},
		open: func(ctx context.Context, db *DB, row sealedRow, stored []byte) error {
			text, err := db.openText(ctx, row, c, string(stored))
			*texts = splitLines(text)
			return err
		},
	})
}

// sealedBytes is an encrypted value of bytes. The empty one is stored as it is.
func sealedBytes(c sealedColumn, value *[]byte) schema.Column {
	return newSealedColumn(c, sealedField{
		seal: func(ctx context.Context, db *DB, row sealedRow) ([]byte, error) { return db.seal(ctx, row, c, *value) },
		open: func(ctx context.Context, db *DB, row sealedRow, stored []byte) (err error) {
			*value, err = db.open(ctx, row, c, stored)
			return err
		},
	})
}

// sealedJSON is an encrypted document with the JSON tags of V. A nil pointer is NULL, or the empty text in a column of type text.
func sealedJSON[V any](c sealedColumn, get func() V, set func(V)) schema.Column {
	return newSealedColumn(c, sealedField{
		seal: func(ctx context.Context, db *DB, row sealedRow) ([]byte, error) {
			document := get()
			if v := reflect.ValueOf(document); v.Kind() == reflect.Pointer && v.IsNil() {
				if sealedColumns[c].format == textFormat {
					return []byte{}, nil
				}
				return nil, nil
			}
			return db.sealJSON(ctx, row, c, document)
		},
		open: func(ctx context.Context, db *DB, row sealedRow, stored []byte) error {
			var document V
			if len(stored) > 0 {
				if err := db.openJSON(ctx, row, c, stored, &document); err != nil {
					return err
				}
			}
			set(document)
			return nil
		},
	})
}

// sealedOrNull is sealedJSON for a column that is never NULL: a nil pointer is JSON's null.
func sealedOrNull[V any](c sealedColumn, get func() *V, set func(*V)) schema.Column {
	column := sealedJSON(c, get, set)
	field := column.Field.(*sealedField)
	seal := field.seal
	field.seal = func(ctx context.Context, db *DB, row sealedRow) ([]byte, error) {
		stored, err := seal(ctx, db, row)
		if err == nil && stored == nil {
			stored = []byte("null")
		}
		return stored, err
	}
	return column
}

// keyedHash is the name of a column with a keyed hash of a text, which is written and never read back. The
// empty text is stored as it is.
func keyedHash(name string, text func() string) schema.Column {
	return computedColumn(name, func(ctx context.Context, db *DB) (string, error) {
		plain := text()
		if plain == "" {
			return "", nil
		}
		return db.fingerprint(ctx, plain)
	})
}

// computedColumn is a column of a text that is written and never read back.
func computedColumn(name string, text func(context.Context, *DB) (string, error)) schema.Column {
	return schema.Column{Name: name, Type: "text", Field: &sealedField{
		unbound: true,
		seal: func(ctx context.Context, db *DB, _ sealedRow) ([]byte, error) {
			stored, err := text(ctx, db)
			return []byte(stored), err
		},
		open: func(context.Context, *DB, sealedRow, []byte) error { return nil },
	}}
}

// rowOf returns what binds encrypted values to the row of these columns.
func rowOf(columns schema.Columns) (row sealedRow) {
	id := func(name string) uuid.UUID {
		switch id := columns.Field(name).(type) {
		case interface{ UUID() uuid.UUID }:
			return id.UUID()
		case *uuid.UUID:
			return *id
		}
		panic("an encrypted column needs a column " + name)
	}
	return sealedRow{id("platform_id"), id("id")}
}

// columnsToWrite returns those of the columns of a row that a statement has as arguments, with what is stored in place of
// encrypted fields.
func columnsToWrite[T any](ctx context.Context, db *DB, s schema.Statement[T], row *T) (schema.Columns, error) {
	all := s.Table.Columns(row)
	columns := s.Of(all)
	for i := range columns {
		field, isSealed := columns[i].Field.(*sealedField)
		if !isSealed {
			continue
		}
		stored, err := field.seal(ctx, db, field.row(all))
		if err != nil {
			return nil, err
		}
		switch {
		case stored == nil:
			columns[i].Field = nil
		case columns[i].Type == "bytea":
			columns[i].Field = stored
		default:
			columns[i].Field = string(stored)
		}
	}
	return columns, nil
}

// scanColumns reads a row into columns and what more is selected after them, and opens the encrypted ones.
func (db *DB) scanColumns(ctx context.Context, rows pgx.Rows, columns schema.Columns, more ...any) error {
	if err := scanSealed(rows, columns, more...); err != nil {
		return err
	}
	return db.openColumns(ctx, columns)
}

// scanSealed is scanColumns without opening the encrypted columns. While a read holds a connection of the pool from which data
// keys are read, none of it may be opened.
func scanSealed(rows pgx.Rows, columns schema.Columns, more ...any) error {
	targets := columns.Targets(rows.RawValues())
	readStored(targets)
	return rows.Scan(append(targets, more...)...)
}

// readStored makes encrypted fields among targets take what is stored.
func readStored(targets []any) {
	for i := range targets {
		if field, isSealed := targets[i].(*sealedField); isSealed {
			targets[i] = &field.stored
		}
	}
}

// openColumns opens the encrypted columns that were read.
func (db *DB) openColumns(ctx context.Context, columns schema.Columns) error {
	for _, column := range columns {
		if field, isSealed := column.Field.(*sealedField); isSealed {
			if err := field.open(ctx, db, field.row(columns), field.stored); err != nil {
				return err
			}
		}
	}
	return nil
}

// storedValue returns what an encrypted column, or one with a keyed hash, was read with.
func storedValue(columns schema.Columns, name string) string {
	return string(columns.Field(name).(*sealedField).stored)
}

// readRow is a row that was read, with its columns.
type readRow[T any] struct {
	row     *T
	columns schema.Columns
}

// scanRow reads a row, and what more is selected after its columns.
func scanRow[T any](rows pgx.Rows, t *schema.Table[T], more ...any) (readRow[T], error) {
	row := new(T)
	r := readRow[T]{row, t.Columns(row)}
	return r, scanSealed(rows, r.columns, more...)
}

// openRows returns rows with their encrypted columns opened.
func openRows[T any](ctx context.Context, db *DB, rows []readRow[T]) (opened []T, err error) {
	for _, row := range rows {
		if err := db.openColumns(ctx, row.columns); err != nil {
			return nil, err
		}
		opened = append(opened, *row.row)
	}
	return opened, nil
}

// selectRows returns the rows of a table that a query finds. rest is what follows its FROM, and $1 its first argument.
func selectRows[T any](ctx context.Context, db *DB, read storage.Reader, t *schema.Table[T], rest string, args ...any) ([]T, error) {
	return queryTable(ctx, db, read, t, "SELECT "+t.Names("")+" FROM "+t.Name+" "+rest, args...)
}

// queryTable is selectRows for a whole query, whose columns are those of the table.
func queryTable[T any](ctx context.Context, db *DB, read storage.Reader, t *schema.Table[T], query string, args ...any) ([]T, error) {
	var found []readRow[T]
	err := read(ctx, query, args, func(rows pgx.Rows) error {
		row, err := scanRow(rows, t)
		found = append(found, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return openRows(ctx, db, found)
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

func firstRow[T any](items []T, err error) (first T, found bool, _ error) {
	if err != nil || len(items) == 0 {
		return first, false, err
	}
	return items[0], true, nil
}

// selectRow is selectRows for at most one row.
func selectRow[T any](ctx context.Context, db *DB, read storage.Reader, t *schema.Table[T], rest string,
	args ...any) (row T, found bool, err error) {
	return firstRow(selectRows(ctx, db, read, t, rest, args...))
}

// queryTableRow is queryTable for at most one row.
func queryTableRow[T any](ctx context.Context, db *DB, read storage.Reader, t *schema.Table[T], query string,
	args ...any) (row T, found bool, err error) {
	return firstRow(queryTable(ctx, db, read, t, query, args...))
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

// write queues a statement for one row.
func write[T any](ctx context.Context, u *Unit, s schema.Statement[T], row T) error {
	_, err := queueWrite(ctx, u, s, row)
	return err
}

func queueWrite[T any](ctx context.Context, u *Unit, s schema.Statement[T], row T) (*pgx.QueuedQuery, error) {
	columns, err := columnsToWrite(ctx, u.db, s, &row)
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
	columns, err := rowsToWrite(ctx, u.db, s, rows)
	if err == nil {
		u.queueExec(s.SQL, schema.ArraysOf(columns)...)
	}
	return err
}

// queryAll runs a statement for many rows after those that are queued, and calls scan for each row that it returns.
func queryAll[T any](ctx context.Context, u *Unit, s schema.Statement[T], rows []T, scan func(pgx.Rows) error) error {
	if len(rows) == 0 {
		return nil
	}
	columns, err := rowsToWrite(ctx, u.db, s, rows)
	if err != nil {
		return err
	}
	return u.query(ctx, s.SQL, schema.ArraysOf(columns), scan)
}

// rowsToWrite is columnsToWrite for many rows.
func rowsToWrite[T any](ctx context.Context, db *DB, s schema.Statement[T], rows []T) ([]schema.Columns, error) {
	rows = slices.Clone(rows) // the columns point into it
	all := make([]schema.Columns, len(rows))
	var err error
	for i := range rows {
		if all[i], err = columnsToWrite(ctx, db, s, &rows[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
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
