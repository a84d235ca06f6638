package portstest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// Document is a kind of documents that are stored as JSON.
type Document struct {
	// Encode returns the text of a value in which Fill has set everything, and Recode that of a value that was read from a text.
	Encode func() (string, error)
	Recode func(text string) (string, error)
}

// CheckDocument compares a kind of documents with the texts of its versions, which are files such as
// testdata/documents/<name>.v1.json. The text of a value with everything set is that of the highest version, and every version
// is read without loss: it is written again as it was, or as the highest version. If this fails because of a change, the texts
// in databases are of the version before: add the new text as the next version, and read both.
func CheckDocument(t *testing.T, folder, name string, d Document) {
	t.Helper()
	got, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	versions, _ := filepath.Glob(filepath.Join(folder, name+".v*.json"))
	slices.SortFunc(versions, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	if len(versions) == 0 {
		t.Fatalf("there is no version; the text is now\n%s", got)
	}
	var texts []string
	for i, version := range slices.Backward(versions) { // what is read of one may be written as a later one
		text, err := os.ReadFile(version)
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.TrimSpace(string(text)))
		texts = append(texts, string(text))
		if last := i == len(versions)-1; last && got != string(text) {
			t.Errorf("the text is no longer that of %s, but\n%s", version, got)
		}
		again, err := d.Recode(string(text))
		if err != nil || again != got && !slices.Contains(texts, again) { // as it was if only fields are added
			t.Errorf("%s is read as %s, %v", version, again, err)
		}
	}
}

// Fill sets everything in the value that a pointer is to: texts to the name of their field, so that a text stored in the place of
// another is seen, and lists and maps to one item. After a field was renamed in Go, its value in the text of a version is renamed
// too.
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
		panic(fmt.Sprintf("portstest: %s is a %s, which no document has", name, v.Type()))
	}
}
