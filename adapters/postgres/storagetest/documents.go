// Package storagetest checks how tables are stored and read: that every version of a document is read, and how much a statement reads.
package storagetest

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
)

// Document is the document of a column.
type Document struct {
	Column string // with its table
	// Encode returns the text of a row in which everything is set, and Recode that of a row that was read from a text.
	Encode func() (string, error)
	Recode func(text string) (string, error)
}

// DocumentOf is the document of a column of a table. edit changes the row with everything set; it may be nil.
func DocumentOf[T any](table *schema.Table[T], column string, edit func(*T)) Document {
	return Document{table.Name + "." + column,
		func() (string, error) {
			row := new(T)
			Fill(row, "row")
			if edit != nil {
				edit(row)
			}
			return encodeField(table.Columns(row), column)
		},
		func(text string) (string, error) {
			row := new(T)
			if err := decodeField(table.Columns(row), column, text); err != nil {
				return "", err
			}
			return encodeField(table.Columns(row), column)
		}}
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

// Fill sets everything in the value that a pointer points to: texts to the name of their field, so that a text stored in the place
// of another is seen, and lists and maps to one item. After a field was renamed in Go, its value in the text of a version is
// renamed too.
func Fill(pointer any, name string) { fill(reflect.ValueOf(pointer).Elem(), name, 0) }

func fill(v reflect.Value, name string, depth int) {
	if depth > 8 || !v.CanSet() {
		return
	}
	id := uuid.MustParse("019a0000-0000-7000-8000-000000000001")
	switch target := v.Addr().Interface().(type) {
	case interface{ SetUUID(uuid.UUID) }:
		target.SetUUID(id)
		return
	case *uuid.UUID:
		*target = id
		return
	case *time.Time:
		*target = time.Date(2026, 3, 14, 12, 30, 0, 123456000, time.UTC)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(len(name)))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(len(name)))
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(name))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name, depth+1)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), name, depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, name, depth+1)
		fill(value, name, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name, depth+1)
		}
	default:
		panic("a document has a " + v.Kind().String() + ", which is not filled")
	}
}

// CheckDocuments checks that the text of each document, with everything set, is that of the highest version in testdata/documents,
// and that every version is read without loss: it is written again as it was, or as the highest version. If this fails because of a
// change, the texts in databases are of the version before: add the new text as the next version, and read both.
func CheckDocuments(t *testing.T, documents []Document) {
	t.Helper()
	for _, d := range documents {
		t.Run(d.Column, func(t *testing.T) {
			t.Parallel()
			got, err := d.Encode()
			if err != nil {
				t.Fatal(err)
			}
			versions, _ := filepath.Glob(filepath.Join("testdata", "documents", d.Column+".v*.json"))
			slices.SortFunc(versions, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
			if len(versions) == 0 {
				t.Fatalf("there is no version; the text is now\n%s", got)
			}
			for i, version := range versions {
				text, err := os.ReadFile(version)
				if err != nil {
					t.Fatal(err)
				}
				text = []byte(strings.TrimSpace(string(text)))
				if last := i == len(versions)-1; last && got != string(text) {
					t.Errorf("the text is no longer that of %s, but\n%s", version, got)
				}
				if again, err := d.Recode(string(text)); err != nil || again != got && again != string(text) { // as it was if only fields are added
					t.Errorf("%s is read as %s, %v", version, again, err)
				}
			}
		})
	}
}
