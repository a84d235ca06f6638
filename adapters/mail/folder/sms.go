package folder

import (
	"context"

	"causeway/ports"
)

// SMSSender writes text messages: the phone number, and the text below it.
type SMSSender struct {
	files   *files
	written func(path string, m ports.SMS)
}

var _ ports.SMSSender = (*SMSSender)(nil)

// NewSMS returns a SMSSender, and creates the folder. written is called after each message; it may be nil.
func NewSMS(path string, written func(path string, m ports.SMS)) (*SMSSender, error) {
	files, err := openFiles(path, ".txt", 0)
	return &SMSSender{files, written}, err
}

// Send writes a text message, in a file with its id as the name, and deletes those that are too many.
func (s *SMSSender) Send(ctx context.Context, m ports.SMS) error {
	return s.files.write(ctx, m.ID, []byte(m.To+"\n"+m.Text+"\n"), func(path string) {
		if s.written != nil {
			s.written(path, m)
		}
	})
}
