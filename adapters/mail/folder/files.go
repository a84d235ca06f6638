// Package folder writes mails and text messages into folders instead of sending them, for development and tests. Each is a
// file; mail programs open that of a mail.
package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	temporaryPrefix = ".new-"
	// temporaryAge is how old a file is that an interrupted process has left.
	temporaryAge = time.Hour
)

// files are the files of one folder.
type files struct {
	path, suffix string
	max          int // how many are kept, the newest
	deleting     sync.Mutex
}

// openFiles creates the folder. The maximum is 1000 if it is zero.
func openFiles(path, suffix string, maxFiles int) (*files, error) {
	if maxFiles == 0 {
		maxFiles = 1000
	}
	return &files{path: path, suffix: suffix, max: maxFiles}, os.MkdirAll(path, 0o700)
}

// write writes the file of a message, calls written, and deletes those that are too many.
func (f *files) write(ctx context.Context, id uuid.UUID, data []byte, written func(path string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path := filepath.Join(f.path, id.String()+f.suffix)
	if err := writeFile(path, data); err != nil {
		return err
	}
	written(path)
	return f.deleteOld()
}

// writeFile writes a file that only its owner can read, completely or not at all.
func writeFile(path string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), temporaryPrefix+"*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}

// deleteOld deletes the oldest messages of too many, by their ids, and what was not written to its end.
func (f *files) deleteOld() error {
	f.deleting.Lock()
	defer f.deleting.Unlock()
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	var names, gone []string
	for _, entry := range entries {
		name, isMessage := strings.CutSuffix(entry.Name(), f.suffix)
		switch {
		case isMessage && uuid.Validate(name) == nil:
			names = append(names, entry.Name())
		case strings.HasPrefix(entry.Name(), temporaryPrefix):
			if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > temporaryAge {
				gone = append(gone, entry.Name())
			}
		}
	}
	slices.Sort(names)
	gone = append(gone, names[:max(len(names)-f.max, 0)]...)
	for _, name := range gone {
		if err := os.Remove(filepath.Join(f.path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
