package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"causeway/app/accounting"
)

// packFolder is a folder that appears under its name when it is complete, with a list of the hashes of its files.
type packFolder struct {
	target, temporary string

	mu   sync.Mutex
	sums map[string]string // SHA-256 in hexadecimal, by name
}

// packManifest lists the files in the format of sha256sum.
const packManifest = "MANIFEST.sha256"

// newPackFolder creates a temporary folder beside the target.
func newPackFolder(target string) (*packFolder, error) {
	entries, err := os.ReadDir(target)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("--folder: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("--folder: %s is not empty; specify a new folder", target)
	}
	temporary, err := os.MkdirTemp(filepath.Dir(target), "."+filepath.Base(target)+".part-*") // mode 0700
	if err != nil {
		return nil, fmt.Errorf("--folder: %w", err)
	}
	return &packFolder{target: target, temporary: temporary, sums: map[string]string{}}, nil
}

// path returns where a file is until the folder is complete.
func (f *packFolder) path(name string) string { return filepath.Join(f.temporary, name) }

// packFile is a file of the folder. Its name has slashes.
type packFile struct {
	name  string
	write func(io.Writer) error
}

func packTable(ctx context.Context, name string, t accounting.Table) packFile {
	return packFile{name, func(out io.Writer) error { return t.CSV(ctx, out) }}
}

func packJSON(name string, value any) packFile {
	return packFile{name, func(out io.Writer) error {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	}}
}

// files writes files in order.
func (f *packFolder) files(list ...packFile) error {
	for _, file := range list {
		if err := f.file(file); err != nil {
			return fmt.Errorf("%s: %w", file.name, err)
		}
	}
	return nil
}

func (f *packFolder) file(p packFile) error {
	if err := os.MkdirAll(filepath.Dir(f.path(p.name)), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(f.path(p.name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	sum := sha256.New()
	buffered := bufio.NewWriterSize(io.MultiWriter(file, sum), 256<<10)
	if err = p.write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sums[p.name] = hex.EncodeToString(sum.Sum(nil))
	return errors.Join(err, file.Close())
}

// finish writes the manifest and gives the folder its name.
func (f *packFolder) finish() error {
	names := slices.Sorted(maps.Keys(f.sums))
	err := f.files(packFile{packManifest, func(out io.Writer) error {
		for _, name := range names {
			if _, err := fmt.Fprintf(out, "%s  %s\n", f.sums[name], name); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		return err
	}
	return os.Rename(f.temporary, f.target) // replaces an empty folder
}

// discard removes the temporary folder unless it was renamed.
func (f *packFolder) discard() { _ = os.RemoveAll(f.temporary) }

// textFinder is a writer that looks for a text.
type textFinder struct {
	text  string
	found bool
	tail  []byte // the last bytes written, fewer than the text has
}

func (t *textFinder) Write(p []byte) (int, error) {
	joined := append(t.tail, p...)
	t.found = t.found || bytes.Contains(joined, []byte(t.text))
	t.tail = bytes.Clone(joined[max(0, len(joined)-len(t.text)+1):])
	return len(p), nil
}
