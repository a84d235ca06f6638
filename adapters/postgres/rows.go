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

// keyedHash is the name of a column with a keyed hash of a text, which is written and never read back.
func keyedHash(name string, text func() string) schema.Column {
	return schema.Column{Name: name, Type: "text", Field: &sealedField{
		seal: func(ctx context.Context, db *DB, _ sealedRow) ([]byte, error) {
			if db.cipher == nil {
				return []byte(text()), nil
			}
			hash, err := db.cipher.Fingerprint(ctx, text())
			return []byte(hash), err
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

// sealColumns replaces encrypted fields by what is stored, as far as a statement writes them.
func (db *DB) sealColumns(ctx context.Context, columns schema.Columns, writes func(column int) bool) error {
	for i := range columns {
		field, isSealed := columns[i].Field.(*sealedField)
		if !isSealed || !writes(i) {
			continue
		}
		stored, err := field.seal(ctx, db, rowOf(columns))
		if err != nil {
			return err
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
	return nil
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
			if err := field.open(ctx, db, rowOf(columns), field.stored); err != nil {
				return err
			}
		}
	}
	return nil
}

// readRow is a row that was read, with its columns.
type readRow[T any] struct {
	row     *T
	columns schema.Columns
}

func scanRow[T any](rows pgx.Rows, t *schema.Table[T]) (readRow[T], error) {
	row := new(T)
	r := readRow[T]{row, t.Columns(row)}
	return r, scanSealed(rows, r.columns)
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
func selectRows[T any](ctx context.Context, db *DB, read reader, t *schema.Table[T], rest string, args ...any) ([]T, error) {
	return queryTable(ctx, db, read, t, "SELECT "+t.Names("")+" FROM "+t.Name+" "+rest, args...)
}

// queryTable is selectRows for a whole query, which selects the columns of the table.
func queryTable[T any](ctx context.Context, db *DB, read reader, t *schema.Table[T], query string, args ...any) ([]T, error) {
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
func queryValues[T any](ctx context.Context, read reader, query string, args ...any) (found []T, err error) {
	err = read(ctx, query, args, func(rows pgx.Rows) error {
		var value T
		err := rows.Scan(&value)
		found = append(found, value)
		return err
	})
	return found, err
}

// selectRow is selectRows for at most one row.
func selectRow[T any](ctx context.Context, db *DB, read reader, t *schema.Table[T], rest string, args ...any) (row T, found bool, err error) {
	rows, err := selectRows(ctx, db, read, t, rest, args...)
	if err != nil || len(rows) == 0 {
		return row, false, err
	}
	return rows[0], true, nil
}

// selectExisting is selectRow for a row that must be there: none is the error if it is not.
func selectExisting[T any](ctx context.Context, db *DB, read reader, t *schema.Table[T], none error, rest string, args ...any) (T, error) {
	row, found, err := selectRow(ctx, db, read, t, rest, args...)
	if err == nil && !found {
		err = none
	}
	return row, err
}

// write queues a statement for one row.
func write[T any](ctx context.Context, u *unit, s schema.Statement[T], row T) error {
	_, err := queueWrite(ctx, u, s, row)
	return err
}

func queueWrite[T any](ctx context.Context, u *unit, s schema.Statement[T], row T) (*pgx.QueuedQuery, error) {
	columns := s.Table.Columns(&row)
	if err := u.db.sealColumns(ctx, columns, s.Writes); err != nil {
		return nil, err
	}
	return u.pending.Queue(s.SQL, s.Args(columns)...), nil
}

// writeAll queues a statement for many rows.
func writeAll[T any](ctx context.Context, u *unit, s schema.Statement[T], rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	args, err := argsOfAll(ctx, u.db, s, rows)
	if err == nil {
		u.queueExec(s.SQL, args...)
	}
	return err
}

// queryAll runs a statement for many rows after those that are queued, and calls scan for each row that it returns.
func queryAll[T any](ctx context.Context, u *unit, s schema.Statement[T], rows []T, scan func(pgx.Rows) error) error {
	if len(rows) == 0 {
		return nil
	}
	args, err := argsOfAll(ctx, u.db, s, rows)
	if err != nil {
		return err
	}
	return u.query(ctx, s.SQL, args, scan)
}

// argsOfAll returns the arguments of a statement for many rows.
func argsOfAll[T any](ctx context.Context, db *DB, s schema.Statement[T], rows []T) ([]any, error) {
	rows = slices.Clone(rows) // the arguments point into it
	all := make([]schema.Columns, len(rows))
	for i := range rows {
		all[i] = s.Table.Columns(&rows[i])
		if err := db.sealColumns(ctx, all[i], s.Writes); err != nil {
			return nil, err
		}
	}
	return s.ArgsOfAll(all), nil
}

// writeNow runs a statement for one row, after those that are queued. none is the error if it changes no row; nil if that is
// not an error.
func writeNow[T any](ctx context.Context, u *unit, s schema.Statement[T], row T, none error) error {
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
func (u *unit) execOne(ctx context.Context, none error, statement string, args ...any) error {
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
