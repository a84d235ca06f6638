package folder

import (
	"bytes"
	"context"
	"fmt"

	"causeway/adapters/mail"
	"causeway/ports"
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
	files *files
}

var _ ports.Mailer = (*Mailer)(nil)

// New returns a Mailer, and creates the folder.
func New(c Config) (*Mailer, error) {
	files, err := openFiles(c.Path, ".eml", c.MaxMails)
	return &Mailer{c, files}, err
}

// Send writes a mail, in a file with its id as the name, and deletes those that are too many.
func (m *Mailer) Send(ctx context.Context, mailed ports.Mail) error {
	message, err := mail.Message(mailed, "")
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if _, err := message.WriteTo(&text); err != nil {
		return fmt.Errorf("compose a mail: %w", err)
	}
	return m.files.write(ctx, mailed.ID, text.Bytes(), func(path string) {
		if m.Written != nil {
			m.Written(path, mailed)
		}
	})
}
