package ports

import (
	"context"
	"errors"
	"io"
)

// ErrNoBlob is returned for a name without a blob.
var ErrNoBlob = errors.New("there is no stored file of this name")

// Blobs stores what is too large for the database. Names are words of lower-case letters, digits and
// "-", separated by "/". All processes use the same blobs.
type Blobs interface {
	// Put stores size bytes, at least one: completely and durably when it returns nil, and else not at all. Each
	// name is used once. A Put that was interrupted leaves at most what Delete removes.
	Put(ctx context.Context, name string, content io.Reader, size int64) error
	// Get returns the content, or ErrNoBlob. The context must live until the content is closed.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// Delete deletes a blob, if there is one.
	Delete(ctx context.Context, name string) error
}

// Files stores files encrypted, each with a key of its own: without the key, a file is lost.
type Files interface {
	// Put stores size bytes under a new name, and returns the key that opens them.
	Put(ctx context.Context, name string, content io.Reader, size int64) (key []byte, err error)
	// Open returns the content, or ErrNoBlob. Reading it ends in an error if it was changed. The
	// context must live until the content is closed.
	Open(ctx context.Context, name string, key []byte) (io.ReadCloser, error)
	// Delete deletes a file, if there is one.
	Delete(ctx context.Context, name string) error
}
