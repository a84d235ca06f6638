// Package storagetest checks how tables are stored and read: that every version of a document is read, and how much a statement reads.
package storagetest

import (
	"context"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/ports/portstest"
)

// Document is the document of a column.
type Document struct {
	Column string // with its table
	portstest.Document
}

// DocumentOf is the document of a column of a table. edit changes the row with everything set; it may be nil.
func DocumentOf[T any](table *schema.Table[T], column string, edit func(*T)) Document {
	return Document{Column: table.Name + "." + column, Document: portstest.Document{
		Encode: func() (string, error) {
			row := new(T)
			portstest.Fill(row, "row")
			if edit != nil {
				edit(row)
			}
			return encodeField(table.Columns(row), column)
		},
		Recode: func(text string) (string, error) {
			row := new(T)
			if err := decodeField(table.Columns(row), column, text); err != nil {
				return "", err
			}
			return encodeField(table.Columns(row), column)
		}}}
}

func encodeField(columns schema.Columns, name string) (string, error) {
	switch field := columns.Field(name).(type) {
	case *sealed.Field:
		text, err := field.Seal(context.Background(), sealed.Cipher{}, columns) // without a cipher, what is stored is the plain text
		return string(text), err
	case pgtype.TextValuer:
		text, err := field.TextValue()
		return text.String, err
	case driver.Valuer:
		text, err := field.Value()
		return fmt.Sprint(text), err
	default:
		return "", fmt.Errorf("%T is no document", field)
	}
}

func decodeField(columns schema.Columns, name, text string) error {
	switch field := columns.Field(name).(type) {
	case *sealed.Field:
		return field.Open(context.Background(), sealed.Cipher{}, columns, []byte(text))
	case pgtype.TextScanner:
		return field.ScanText(pgtype.Text{String: text, Valid: true})
	case pgtype.BytesScanner:
		return field.ScanBytes([]byte(text))
	default:
		return fmt.Errorf("%T is no document", field)
	}
}

// CheckDocuments checks that each document has the text of the highest version in testdata/documents, and that every version is read.
func CheckDocuments(t *testing.T, documents []Document) {
	t.Helper()
	for _, d := range documents {
		t.Run(d.Column, func(t *testing.T) {
			t.Parallel()
			portstest.CheckDocument(t, filepath.Join("testdata", "documents"), d.Column, d.Document)
		})
	}
}
