// Package ident gives every resource a typed identifier, written `<Type>:<uuid>`.
//
// It never makes ids: new ones (UUIDv7) come from a Source that the caller passes, so
// that core is a function of its arguments.
package ident

import (
	"bytes"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ErrMalformed is the error for a text that is not an id of the wanted type.
var ErrMalformed = errors.New("must be an id")

// Kind is a type of resource at compile time, so that the id of a customer cannot be
// passed for the id of a quote.
type Kind interface{ prefix() string }

// ID identifies one resource of kind K. The zero ID is "none".
type ID[K Kind] struct{ uuid uuid.UUID }

// Parse parses `<Type>:<uuid>`. The prefix must be that of K, and the UUID in its form of
// 36 characters, in lower or upper case.
func Parse[K Kind](s string) (ID[K], error) {
	var kind K
	rest, ok := strings.CutPrefix(s, kind.prefix()+":")
	if !ok || len(rest) != 36 {
		return ID[K]{}, fmt.Errorf("%w of the form %s:<uuid>", ErrMalformed, kind.prefix())
	}
	u, err := uuid.Parse(rest)
	if err != nil || u == uuid.Nil {
		return ID[K]{}, fmt.Errorf("%w of the form %s:<uuid>", ErrMalformed, kind.prefix())
	}
	return ID[K]{u}, nil
}

// String returns `<Type>:<uuid>`, or the empty string for the zero ID.
func (id ID[K]) String() string {
	if id.IsZero() {
		return ""
	}
	var kind K
	return kind.prefix() + ":" + id.uuid.String()
}

// MarshalText returns the id as String does.
func (id ID[K]) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText parses an id; an empty text is the zero ID.
func (id *ID[K]) UnmarshalText(text []byte) (err error) {
	if *id = (ID[K]{}); len(text) > 0 {
		*id, err = Parse[K](string(text))
	}
	return err
}

// UUID returns the id without its type.
func (id ID[K]) UUID() uuid.UUID { return id.uuid }

// IsZero reports whether the id is the zero ID.
func (id ID[K]) IsZero() bool { return id.uuid == uuid.Nil }

// Compare orders ids by UUID; for UUIDv7 that is the order of creation.
func (id ID[K]) Compare(other ID[K]) int { return bytes.Compare(id.uuid[:], other.uuid[:]) }

// Source returns a new UUIDv7 with the given time. Ids of one source sort in the order in
// which they were made, if the times do not decrease.
type Source func(at time.Time) uuid.UUID

// New returns a new id of kind K from the source.
func New[K Kind](source Source, at time.Time) ID[K] { return ID[K]{source(at)} }

// SetUUID sets the UUID of id.
func (id *ID[K]) SetUUID(u uuid.UUID) { id.uuid = u }

// Parse parses an id of the receiver's kind; the receiver's value does not matter. It is
// for generic code.
func (ID[K]) Parse(s string) (ID[K], error) { return Parse[K](s) }

// Prefix returns the type before the colon, such as "Customer".
func (ID[K]) Prefix() string {
	var kind K
	return kind.prefix()
}

// crockford is an encoding without letters that look like digits.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// ShortCode returns a short name for people, from the random part of a UUIDv7: 12 digits
// and capital letters, 59 bits.
func ShortCode(id uuid.UUID) string { return crockford.EncodeToString(id[8:])[1:] }
