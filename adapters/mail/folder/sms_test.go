package folder_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/mail/folder"
	"causeway/ports"
)

func TestSMS_WritesNumberAndText(t *testing.T) {
	t.Parallel()
	// A text message is a file with its id as the name, which only the owner can read. One that is sent again is the same file.
	path, written := filepath.Join(t.TempDir(), "sms"), ""
	sender, err := folder.NewSMS(path, func(path string, _ ports.SMS) { written = path })
	if err != nil {
		t.Fatal(err)
	}
	m := ports.SMS{ID: uuid.New(), To: "+447700900123", Text: "123456 is your code"}

	for range 2 {
		if err := sender.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}

	text, err := os.ReadFile(filepath.Join(path, m.ID.String()+".txt"))
	if err != nil || string(text) != "+447700900123\n123456 is your code\n" || written != filepath.Join(path, m.ID.String()+".txt") ||
		len(names(t, path)) != 1 {
		t.Errorf("wrote %q to %s, %v", text, written, err)
	}
	if info, err := os.Stat(written); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
