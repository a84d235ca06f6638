package sealed

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
)

// ToWrite returns those of the columns of a row that a statement has as arguments, with what is stored in place of encrypted
// fields.
func ToWrite[T any](ctx context.Context, c Cipher, s schema.Statement[T], row *T) (schema.Columns, error) {
	all := s.Table.Columns(row)
	columns := s.Of(all)
	for i := range columns {
		field, isSealed := columns[i].Field.(*Field)
		if !isSealed {
			continue
		}
		stored, err := field.Seal(ctx, c, all)
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

// AllToWrite is ToWrite for many rows.
func AllToWrite[T any](ctx context.Context, c Cipher, s schema.Statement[T], rows []T) ([]schema.Columns, error) {
	rows = slices.Clone(rows) // the columns point into it
	all := make([]schema.Columns, len(rows))
	var err error
	for i := range rows {
		if all[i], err = ToWrite(ctx, c, s, &rows[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Scan reads a row into columns and what more is selected after them, and opens the encrypted ones.
func (c Cipher) Scan(ctx context.Context, rows pgx.Rows, columns schema.Columns, more ...any) error {
	if err := ScanStored(rows, columns, more...); err != nil {
		return err
	}
	return c.OpenColumns(ctx, columns)
}

// ScanStored is Scan without opening the encrypted columns. While a read holds a connection of the pool from which data keys are
// read, none of it may be opened.
func ScanStored(rows pgx.Rows, columns schema.Columns, more ...any) error {
	targets := columns.Targets(rows.RawValues())
	ReadStored(targets)
	return rows.Scan(append(targets, more...)...)
}

// ReadStored makes encrypted fields among targets take what is stored.
func ReadStored(targets []any) {
	for i := range targets {
		if field, isSealed := targets[i].(*Field); isSealed {
			targets[i] = &field.stored
		}
	}
}

// OpenColumns opens the encrypted columns that were read.
func (c Cipher) OpenColumns(ctx context.Context, columns schema.Columns) error {
	for _, column := range columns {
		if field, isSealed := column.Field.(*Field); isSealed {
			if err := field.Open(ctx, c, columns, field.stored); err != nil {
				return err
			}
		}
	}
	return nil
}

// StoredValue returns what an encrypted column, or one with a keyed hash, was read with.
func StoredValue(columns schema.Columns, name string) string {
	return string(columns.Field(name).(*Field).stored)
}

// Scanned is a row that was read, with its columns, of which the encrypted ones are not opened.
type Scanned[T any] struct {
	Row     *T
	Columns schema.Columns
}

// ScanRow reads a row, and what more is selected after its columns.
func ScanRow[T any](rows pgx.Rows, t *schema.Table[T], more ...any) (Scanned[T], error) {
	row := new(T)
	r := Scanned[T]{row, t.Columns(row)}
	return r, ScanStored(rows, r.Columns, more...)
}

// OpenRows returns rows with their encrypted columns opened.
func OpenRows[T any](ctx context.Context, c Cipher, rows []Scanned[T]) (opened []T, err error) {
	for _, row := range rows {
		if err := c.OpenColumns(ctx, row.Columns); err != nil {
			return nil, err
		}
		opened = append(opened, *row.Row)
	}
	return opened, nil
}

// Query returns the rows of a query whose columns are those of a table.
func Query[T any](ctx context.Context, c Cipher, read storage.Reader, t *schema.Table[T], query string, args ...any) ([]T, error) {
	found, err := storage.Collect(ctx, read, query, args, func(rows pgx.Rows, row *Scanned[T]) (err error) {
		*row, err = ScanRow(rows, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	return OpenRows(ctx, c, found)
}
