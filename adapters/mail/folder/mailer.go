// Package folder writes mails into a folder instead of sending them, for development and tests. Each is a
// file that mail programs open.
package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/mail"
	"causeway/ports"
)

const (
	suffix          = ".eml"
	temporaryPrefix = ".new-"
	// temporaryAge is how old a file is that an interrupted process has left.
	temporaryAge = time.Hour
)

// Config says where mails are written.
type Config struct {
	// Path of the folder, which is created if there is none.
	Path string
	// MaxMails is how many mails are kept, the newest; 1000 if zero.
	MaxMails int
	// Written is called after each mail; it may be nil.
	Written func(path string, m ports.Mail)
}

// Mailer writes mails.
type Mailer struct {
	Config
	deleting sync.Mutex
}

var _ ports.Mailer = (*Mailer)(nil)

// New returns a Mailer, and creates the folder.
func New(c Config) (*Mailer, error) {
	if c.MaxMails == 0 {
		c.MaxMails = 1000
	}
	if err := os.MkdirAll(c.Path, 0o700); err != nil {
		return nil, err
	}
	return &Mailer{Config: c}, nil
}

// Send writes a mail, in a file with its id as the name, and deletes those that are too many.
func (m *Mailer) Send(ctx context.Context, mailed ports.Mail) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	message, err := mail.Message(mailed, "")
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if _, err := message.WriteTo(&text); err != nil {
		return fmt.Errorf("compose a mail: %w", err)
	}
	path := filepath.Join(m.Path, mailed.ID.String()+suffix)
	if err := writeFile(path, text.Bytes()); err != nil {
		return err
	}
	if m.Written != nil {
		m.Written(path, mailed)
	}
	return m.deleteOld()
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

// deleteOld deletes the oldest mails of too many, by their ids, and what was not written to its end.
func (m *Mailer) deleteOld() error {
	m.deleting.Lock()
	defer m.deleting.Unlock()
	entries, err := os.ReadDir(m.Path)
	if err != nil {
		return err
	}
	var names, gone []string
	for _, entry := range entries {
		name, isMail := strings.CutSuffix(entry.Name(), suffix)
		switch {
		case isMail && uuid.Validate(name) == nil:
			names = append(names, entry.Name())
		case strings.HasPrefix(entry.Name(), temporaryPrefix):
			if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > temporaryAge {
				gone = append(gone, entry.Name())
			}
		}
	}
	slices.Sort(names)
	gone = append(gone, names[:max(len(names)-m.MaxMails, 0)]...)
	for _, name := range gone {
		if err := os.Remove(filepath.Join(m.Path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
