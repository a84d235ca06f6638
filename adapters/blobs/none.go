package blobs

import (
	"context"
	"errors"
	"io"

	"causeway/core/fault"
	"causeway/ports"
)

// None is a store that the operator has not configured.
type None struct{}

var _ ports.Blobs = None{}

var errNotConfigured = errors.New("no place for files is configured; set --blobs (CAUSEWAY_BLOBS)")

// Put returns NOT_IMPLEMENTED.
func (None) Put(context.Context, string, io.Reader, int64) error {
	return fault.New(fault.NotImplemented, "This service does not accept documents, because its operator has not configured where their files are stored.")
}

// Get returns an error.
func (None) Get(context.Context, string) (io.ReadCloser, error) { return nil, errNotConfigured }

// Delete returns an error.
func (None) Delete(context.Context, string) error { return errNotConfigured }
