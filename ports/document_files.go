package ports

import (
	"context"
	"io"

	"causeway/core/document"
)

// DocumentFiles checks the files of documents.
type DocumentFiles interface {
	// Check checks a file by its content, in bounded memory. If the file cannot be accepted, problem
	// says what the file must be; it continues the field's name: "must be …".
	Check(ctx context.Context, file io.ReaderAt, size int64) (checked CheckedFile, problem string, err error)
}

// CheckedFile is a file that can be stored and shown: without what tells more than it shows, such as
// the place where a photo was taken, and without anything that a viewer could run.
type CheckedFile struct {
	ContentType document.ContentType
	Size        int64 // bytes
	// Open returns a reader of the content. It reads the file that was checked.
	Open func() io.Reader
}
