package sealed

import (
	"context"
	"reflect"
	"strings"

	"github.com/google/uuid"

	"causeway/adapters/postgres/schema"
)

// Field is the field of an encrypted column.
type Field struct {
	seal   Seal
	open   Open
	stored []byte // as it was read
	// unbound: what is stored belongs to no row.
	unbound bool
}

// Seal returns what a column stores of a row; nil is NULL.
type Seal func(ctx context.Context, c Cipher, row Row) ([]byte, error)

// Open takes what a column stores of a row.
type Open func(ctx context.Context, c Cipher, row Row, stored []byte) error

// Seal returns what the column stores of a row with these columns; nil is NULL.
func (f *Field) Seal(ctx context.Context, c Cipher, columns schema.Columns) ([]byte, error) {
	return f.seal(ctx, c, f.row(columns))
}

// Open takes what the column stores of a row with these columns.
func (f *Field) Open(ctx context.Context, c Cipher, columns schema.Columns, stored []byte) error {
	return f.open(ctx, c, f.row(columns), stored)
}

// row returns what binds the value to the row of these columns.
func (f *Field) row(columns schema.Columns) Row {
	if f.unbound {
		return Row{}
	}
	id := func(name string) uuid.UUID {
		switch id := columns.Field(name).(type) {
		case interface{ UUID() uuid.UUID }:
			return id.UUID()
		case *uuid.UUID:
			return *id
		}
		panic("an encrypted column needs a column " + name)
	}
	return Row{id("platform_id"), id("id")}
}

// Custom is a column that is sealed and opened in its own way.
func Custom(c Column, seal Seal, open Open) schema.Column {
	return schema.Column{Name: c.Name(), Field: &Field{seal: seal, open: open}, Type: c.SQLType()}
}

// Text is an encrypted text. The empty text is stored as it is.
func Text(column Column, text *string) schema.Column {
	return textColumn(column, func() string { return *text }, func(opened string) { *text = opened })
}

// ConvertedText is an encrypted text of which more is read than one field.
func ConvertedText(column Column, get func() string, set func(string)) schema.Column {
	return textColumn(column, get, set)
}

// Texts is an encrypted list of texts, one per line. The empty list is the empty text.
func Texts(column Column, texts *[]string) schema.Column {
	return textColumn(column, func() string { return strings.Join(*texts, "\n") }, func(opened string) { *texts = schema.SplitLines(opened) })
}

func textColumn(column Column, get func() string, set func(string)) schema.Column {
	return Custom(column,
		func(ctx context.Context, c Cipher, row Row) ([]byte, error) {
			return c.Seal(ctx, row, column, []byte(get()))
		},
		func(ctx context.Context, c Cipher, row Row, stored []byte) error {
			text, err := c.Open(ctx, row, column, stored)
			set(string(text))
			return err
		})
}

// Bytes is an encrypted value of bytes. The empty one is stored as it is.
func Bytes(column Column, value *[]byte) schema.Column {
	return Custom(column,
		func(ctx context.Context, c Cipher, row Row) ([]byte, error) { return c.Seal(ctx, row, column, *value) },
		func(ctx context.Context, c Cipher, row Row, stored []byte) (err error) {
			*value, err = c.Open(ctx, row, column, stored)
			return err
		})
}

// JSON is an encrypted document with the JSON tags of V. A nil pointer is NULL, or the empty text in a column of type text.
func JSON[V any](column Column, get func() V, set func(V)) schema.Column {
	return Custom(column,
		func(ctx context.Context, c Cipher, row Row) ([]byte, error) {
			document := get()
			if v := reflect.ValueOf(document); v.Kind() == reflect.Pointer && v.IsNil() {
				if register[column].format == textFormat {
					return []byte{}, nil
				}
				return nil, nil
			}
			return c.SealJSON(ctx, row, column, document)
		},
		func(ctx context.Context, c Cipher, row Row, stored []byte) error {
			var document V
			if len(stored) > 0 {
				if err := c.OpenJSON(ctx, row, column, stored, &document); err != nil {
					return err
				}
			}
			set(document)
			return nil
		})
}

// OrNull is JSON for a column that is never NULL: a nil pointer is JSON's null.
func OrNull[V any](column Column, get func() *V, set func(*V)) schema.Column {
	or := JSON(column, get, set)
	field := or.Field.(*Field)
	seal := field.seal
	field.seal = func(ctx context.Context, c Cipher, row Row) ([]byte, error) {
		stored, err := seal(ctx, c, row)
		if err == nil && stored == nil {
			stored = []byte("null")
		}
		return stored, err
	}
	return or
}

// KeyedHash is the name of a column with a keyed hash of a text. The empty text is stored as it is. read takes what is stored; it is
// nil if that is not read back.
func KeyedHash(name string, text func() string, read func(stored string)) schema.Column {
	return schema.Column{Name: name, Type: "text", Field: &Field{
		unbound: true,
		seal: func(ctx context.Context, c Cipher, _ Row) ([]byte, error) {
			stored, err := c.Fingerprint(ctx, text())
			return []byte(stored), err
		},
		open: func(_ context.Context, _ Cipher, _ Row, stored []byte) error {
			if read != nil {
				read(string(stored))
			}
			return nil
		},
	}}
}
