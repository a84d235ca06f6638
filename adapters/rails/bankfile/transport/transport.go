// Package transport reaches the folders of a bank: on a file system of this computer (Folder), or on an SFTP server
// (SFTP). It knows nothing of what the files contain.
package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// Transport lists, reads and writes files. Paths are relative to where the bank has placed us, with slashes. A file that
// does not exist is fs.ErrNotExist, and one that exists already fs.ErrExist. Every call ends when its context does.
// After any other error it is open whether the call has been carried out. Calls may be made from several goroutines;
// they are carried out one after the other.
type Transport interface {
	// List returns the files of a folder in the order of their names, without folders and links, at most limit.
	List(ctx context.Context, folder string, limit int) ([]File, error)
	// Stat returns a file.
	Stat(ctx context.Context, name string) (File, error)
	// Read copies a file of at most maxBytes.
	Read(ctx context.Context, name string, to io.Writer, maxBytes int64) error
	// ReadFrom copies what a file has after its first bytes, at most maxBytes.
	ReadFrom(ctx context.Context, name string, offset int64, to io.Writer, maxBytes int64) error
	// Create writes a new file, and returns when the server has stored all of it. After an error, a part of it may exist.
	Create(ctx context.Context, name string, content io.Reader) (int64, error)
	// Rename gives a file another path in one step: a crash leaves it under one of the two. It never replaces a file.
	Rename(ctx context.Context, from, to string) error
	// Remove removes a file.
	Remove(ctx context.Context, name string) error
	Close() error
}

// File is a file of a folder.
type File struct {
	Name       string // without the folder
	Size       int64
	ModifiedAt time.Time
}

// ErrTooLarge is the error for a file that is larger than what is read.
var ErrTooLarge = errors.New("the file is too large")

// maxBytesWriter fails after a number of bytes, and calls progress before each write.
type maxBytesWriter struct {
	to       io.Writer
	left     int64
	progress func() error
}

func (w *maxBytesWriter) Write(data []byte) (int, error) {
	if err := w.progress(); err != nil {
		return 0, err
	}
	if int64(len(data)) > w.left {
		return 0, ErrTooLarge
	}
	w.left -= int64(len(data))
	return w.to.Write(data)
}

// progressReader calls progress before each read.
type progressReader struct {
	from     io.Reader
	progress func() error
}

func (r progressReader) Read(data []byte) (int, error) {
	if err := r.progress(); err != nil {
		return 0, err
	}
	return r.from.Read(data)
}

// Join returns the path of a file in a folder. A name that would lead out of the folder is an error.
func Join(folder, name string) (string, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return "", fmt.Errorf("%q is not the name of a file", name)
	}
	return path.Join(folder, name), nil
}
