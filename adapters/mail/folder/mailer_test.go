package folder_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/mail/folder"
	"causeway/ports"
	"causeway/ports/portstest"
)

func newMailer(t *testing.T, c folder.Config) (*folder.Mailer, string) {
	t.Helper()
	c.Path = filepath.Join(t.TempDir(), "mail")
	mailer, err := folder.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return mailer, c.Path
}

func TestMailer_Conformance(t *testing.T) {
	t.Parallel()
	// The folder passes the suite of mailers: each mail is a file with its id as the name.
	mailer, path := newMailer(t, folder.Config{})
	portstest.Mailer(t, mailer, func(t *testing.T, id uuid.UUID) (portstest.ReceivedMail, bool) {
		text, err := os.ReadFile(filepath.Join(path, id.String()+".eml"))
		if errors.Is(err, os.ErrNotExist) {
			return portstest.ReceivedMail{}, false
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := portstest.ReadMail(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		return got, true
	})
}

func names(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestMailer_KeepsTheNewest(t *testing.T) {
	t.Parallel()
	// The oldest mails are deleted when there are too many, as is what an interrupted process left. Other
	// files are not touched, and only the owner can read a mail.
	mailer, path := newMailer(t, folder.Config{MaxMails: 3})
	others := []string{"notes.txt", "mine.eml", ".new-running"}
	for _, name := range append(others, ".new-interrupted") {
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(filepath.Join(path, ".new-interrupted"), old, old); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(others)

	for i := range 5 {
		m := portstest.NewMail()
		if err := mailer.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if i >= 2 {
			want = append(want, m.ID.String()+".eml")
		}
		if info, err := os.Stat(filepath.Join(path, m.ID.String()+".eml")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}

	slices.Sort(want)
	if got := names(t, path); !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
}

func TestMailer_ReportsEachMail(t *testing.T) {
	t.Parallel()
	// Written is called with each mail and its file.
	var mu sync.Mutex
	written := map[string]ports.Mail{}
	mailer, path := newMailer(t, folder.Config{Written: func(path string, m ports.Mail) {
		mu.Lock()
		defer mu.Unlock()
		written[path] = m
	}})
	m := portstest.NewMail()

	if err := mailer.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}

	if got := written[filepath.Join(path, m.ID.String()+".eml")]; got != m || len(written) != 1 {
		t.Errorf("reported %+v", written)
	}
}

func TestMailer_FolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	// A folder that cannot be created is an error at start, and one that is gone is an error that can be
	// tried again.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.New(folder.Config{Path: filepath.Join(file, "mail")}); err == nil {
		t.Error("a folder below a file was accepted")
	}
	mailer, path := newMailer(t, folder.Config{})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	var refused *ports.MessageRefusedError
	if err := mailer.Send(t.Context(), portstest.NewMail()); err == nil || errors.As(err, &refused) {
		t.Errorf("without the folder: %v", err)
	}
}
