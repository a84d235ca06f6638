package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"causeway/core/ident"
)

// identifier is what the identifiers of package ident have in common.
type identifier[T any] interface {
	comparable
	Parse(text string) (T, error)
	Prefix() string
	String() string
	IsZero() bool
}

// ID is an identifier in a path, a query or a body, written <Type>:<uuid>. A text of
// another form is refused before the operation is called.
type ID[T identifier[T]] struct{ Value T }

// NewID wraps an identifier for a body; the zero identifier is left out of a
// field tagged omitzero.
func NewID[T identifier[T]](id T) ID[T] { return ID[T]{Value: id} }

// IsZero tells whether there is no identifier.
func (id ID[T]) IsZero() bool { return id.Value.IsZero() }

// MarshalText writes the identifier.
func (id ID[T]) MarshalText() ([]byte, error) { return []byte(id.Value.String()), nil }

// UnmarshalText reads the identifier; the error says what it must look like.
func (id *ID[T]) UnmarshalText(text []byte) error {
	value, err := id.Value.Parse(string(text))
	if err != nil {
		return fmt.Errorf("must be an id of the form %s:<uuid>", id.Value.Prefix())
	}
	id.Value = value
	return nil
}

// UnmarshalJSON reads the identifier from a body. Null is none, and so is what the
// validator reports with the field's name: an error would end the decoding here.
// Only the UUID of zeros passes the pattern and is no identifier all the same.
func (id *ID[T]) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' {
		return nil
	}
	text := data[1 : len(data)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		var plain string
		if err := json.Unmarshal(data, &plain); err != nil {
			return nil //nolint:nilerr // see above
		}
		text = []byte(plain)
	}
	if err := id.UnmarshalText(text); err != nil && bytes.HasSuffix(text, []byte(uuid.Nil.String())) {
		return err
	}
	return nil
}

// Schema publishes the form of the identifier.
func (id ID[T]) Schema(huma.Registry) *huma.Schema {
	prefix := id.Value.Prefix()
	return &huma.Schema{
		Type:               huma.TypeString,
		Description:        "Id of the form " + prefix + ":<uuid>.",
		Pattern:            "^" + prefix + ":[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
		PatternDescription: "an id of the form " + prefix + ":<uuid>",
		Examples:           []any{prefix + ":0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"},
	}
}

var _ huma.SchemaProvider = ID[ident.Customer]{}
