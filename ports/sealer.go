package ports

import "errors"

// ErrCannotDecrypt means that a value was sealed with another key or another context, or was
// changed.
var ErrCannotDecrypt = errors.New("cannot decrypt: the value was sealed with another master key or context, or was changed")

// Sealer encrypts secrets, such as private keys, before they are stored.
type Sealer interface {
	// Seal encrypts and authenticates plain. Open needs the same context, so that a sealed
	// value cannot be moved to another row.
	Seal(plain, context []byte) ([]byte, error)
	// Open decrypts what Seal returned, or returns an error if it or the context differs.
	Open(sealed, context []byte) ([]byte, error)
}
