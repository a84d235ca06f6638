package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFileAtomically_KeepsOldFileOnError(t *testing.T) {
	t.Parallel()
	// After an error the file does not exist, or has its previous content.
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	broken := errors.New("broken")
	fail := func(out io.Writer) error {
		_, err := out.Write(bytes.Repeat([]byte("x"), 1<<20))
		return errors.Join(err, broken)
	}
	if err := writeFileAtomically(path, fail); !errors.Is(err, broken) {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("files left: %v", entries)
	}
	if err := writeFileAtomically(path, func(out io.Writer) error { _, err := out.Write([]byte("complete")); return err }); err != nil {
		t.Fatal(err)
	}
	err := writeFileAtomically(path, fail)
	if content, _ := os.ReadFile(path); !errors.Is(err, broken) || string(content) != "complete" {
		t.Errorf("%v, %q", err, content)
	}
}
