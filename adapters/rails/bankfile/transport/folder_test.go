package transport_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"causeway/adapters/rails/bankfile/transport"
)

func TestFolder_FollowsItsPath(t *testing.T) {
	t.Parallel()
	// The folder is moved away while it is open. Nothing is read from the moved one, and that it is missing is not taken for
	// missing files. One that is made in its place is used, as one that is mounted there.
	base := filepath.Join(t.TempDir(), "bank")
	for _, dir := range []string{base, base + "-new"} {
		if err := os.MkdirAll(filepath.Join(dir, "in"), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "in", "old.xml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base+"-new", "in", "new.xml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := transport.OpenFolder(base)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := os.Rename(base, base+"-moved"); err != nil {
		t.Fatal(err)
	}
	_, listed := folder.List(t.Context(), "in", 10)
	_, found := folder.Stat(t.Context(), "in/old.xml")
	for _, err := range []error{listed, found, folder.Rename(t.Context(), "in/old.xml", "in/older.xml"),
		folder.Remove(t.Context(), "in/old.xml")} {
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without the folder: %v, want an error that does not say that a file is missing", err)
		}
	}
	if err := os.Rename(base+"-new", base); err != nil {
		t.Fatal(err)
	}
	files, err := folder.List(t.Context(), "in", 10)
	if err != nil || len(files) != 1 || files[0].Name != "new.xml" {
		t.Errorf("the new folder has %v, %v", files, err)
	}
	if err := folder.Close(); err != nil {
		t.Error(err)
	}
	if _, err := folder.List(t.Context(), "in", 10); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after it was closed: %v", err)
	}
}
