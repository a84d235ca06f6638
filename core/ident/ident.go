// Package ident gives every resource a typed identifier, written `<Type>:<uuid>`.
//
// It never makes identifiers: new ones (UUIDv7) come in from outside, so that
// code above stays a function of its arguments.
package ident

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ErrMalformed says that a text is not an identifier of the wanted type.
var ErrMalformed = errors.New("malformed id")

// Kind names a type of resource at compile time, so that a customer's id can
// not be passed where a quote's is wanted.
type Kind interface{ prefix() string }

// ID identifies one resource of kind K. The zero ID is "none".
type ID[K Kind] struct{ uuid uuid.UUID }

// FromUUID makes the ID of kind K with the given UUID.
func FromUUID[K Kind](u uuid.UUID) ID[K] { return ID[K]{u} }

// Parse reads `<Type>:<uuid>`; the prefix must be K's and the UUID in its
// canonical lower- or upper-case form of 36 characters.
func Parse[K Kind](s string) (ID[K], error) {
	var kind K
	rest, ok := strings.CutPrefix(s, kind.prefix()+":")
	if !ok || len(rest) != 36 {
		return ID[K]{}, fmt.Errorf("%w: want %s:<uuid>", ErrMalformed, kind.prefix())
	}
	u, err := uuid.Parse(rest)
	if err != nil || u == uuid.Nil {
		return ID[K]{}, fmt.Errorf("%w: want %s:<uuid>", ErrMalformed, kind.prefix())
	}
	return ID[K]{u}, nil
}

// String is `<Type>:<uuid>`, or empty for the zero ID.
func (id ID[K]) String() string {
	if id.IsZero() {
		return ""
	}
	var kind K
	return kind.prefix() + ":" + id.uuid.String()
}

// UUID is the identifier without its type.
func (id ID[K]) UUID() uuid.UUID { return id.uuid }

// IsZero tells whether this is no identifier at all.
func (id ID[K]) IsZero() bool { return id.uuid == uuid.Nil }

// Compare orders by UUID; for UUIDv7 that is the order of creation.
func (id ID[K]) Compare(other ID[K]) int { return bytes.Compare(id.uuid[:], other.uuid[:]) }

// Source makes a new UUIDv7 that carries the given moment; two of one source sort
// in the order they were asked for when their moments do not run backwards.
type Source func(at time.Time) uuid.UUID

// New asks the source for an identifier of kind K.
func New[K Kind](source Source, at time.Time) ID[K] { return ID[K]{source(at)} }

// SetUUID gives id the UUID, keeping its kind.
func SetUUID[K Kind](id *ID[K], u uuid.UUID) { id.uuid = u }
