package cli

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"causeway/app/accounting"
)

// packFolder is a folder that appears under its name when it is complete, with a list of the hashes of its files; or files without a
// folder, which are compressed and disappear with the process, until they are written as one archive.
type packFolder struct {
	target, temporary string
	// written is called with the number of files that are complete; may be nil.
	written func(files int64)
	// createTemp is os.CreateTemp, but in tests.
	createTemp func(folder, pattern string) (*os.File, error)

	mu      sync.Mutex
	sums    map[string]string       // SHA-256 in hexadecimal, by name
	unnamed map[string]*unnamedFile // nil of a folder
}

// unnamedFile is a file as it is in an archive.
type unnamedFile struct {
	*os.File
	deflate *flate.Writer
	header  zip.FileHeader
}

// Write implements io.Writer.
func (u *unnamedFile) Write(p []byte) (int, error) {
	u.header.CRC32 = crc32.Update(u.header.CRC32, crc32.IEEETable, p)
	u.header.UncompressedSize64 += uint64(len(p))
	return u.deflate.Write(p)
}

// Sync completes the file.
func (u *unnamedFile) Sync() error {
	size, err := int64(0), u.deflate.Close()
	if err == nil {
		size, err = u.Seek(0, io.SeekCurrent)
	}
	u.header.CompressedSize64, u.deflate = uint64(size), nil
	return err
}

// Close leaves the file for the archive.
func (u *unnamedFile) Close() error { return nil }

func (u *unnamedFile) compressed() io.Reader {
	return io.NewSectionReader(u, 0, int64(u.header.CompressedSize64))
}

// flagDataDescriptor says that sizes follow the content, where they may exceed 4 GiB.
const flagDataDescriptor = 1 << 3

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

// newPackFiles returns files without a folder.
func newPackFiles() *packFolder {
	return &packFolder{createTemp: os.CreateTemp, sums: map[string]string{}, unnamed: map[string]*unnamedFile{}}
}

// path returns where a file is until the folder is complete.
func (f *packFolder) path(name string) string { return filepath.Join(f.temporary, name) }

// syncedFile is a file that is complete after Sync.
type syncedFile interface {
	io.WriteCloser
	Sync() error
}

func (f *packFolder) create(name string) (syncedFile, error) {
	if f.unnamed == nil {
		if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o700); err != nil {
			return nil, err
		}
		return os.OpenFile(f.path(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
	file, err := f.createTemp("", "causeway-audit-pack-*")
	if err != nil {
		return nil, err
	}
	deflate, err := flate.NewWriter(file, flate.DefaultCompression)
	unnamed := &unnamedFile{file, deflate, zip.FileHeader{Method: zip.Deflate, Flags: flagDataDescriptor}}
	f.mu.Lock()
	f.unnamed[name] = unnamed
	f.mu.Unlock()
	return unnamed, errors.Join(err, os.Remove(file.Name()))
}

// open opens a complete file.
func (f *packFolder) open(name string) (io.ReadCloser, error) {
	if f.unnamed == nil {
		return os.Open(f.path(name))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return flate.NewReader(f.unnamed[name].compressed()), nil
}

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
	file, err := f.create(p.name)
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
	err = errors.Join(err, file.Close())
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sums[p.name] = hex.EncodeToString(sum.Sum(nil))
	if f.written != nil {
		f.written(int64(len(f.sums)))
	}
	return err
}

// writeManifest writes the hashes of all other files.
func (f *packFolder) writeManifest() error {
	names := slices.Sorted(maps.Keys(f.sums))
	return f.files(packFile{packManifest, func(out io.Writer) error {
		for _, name := range names {
			if _, err := fmt.Fprintf(out, "%s  %s\n", f.sums[name], name); err != nil {
				return err
			}
		}
		return nil
	}})
}

// finish writes the manifest and gives the folder its name.
func (f *packFolder) finish() error {
	if err := f.writeManifest(); err != nil {
		return err
	}
	return os.Rename(f.temporary, f.target) // replaces an empty folder
}

// archive writes the manifest, and all files as a ZIP archive in which they are in a folder. The same files give the same bytes.
func (f *packFolder) archive(out io.Writer, folder string) error {
	if err := f.writeManifest(); err != nil {
		return err
	}
	archive := zip.NewWriter(out)
	for _, name := range slices.Sorted(maps.Keys(f.sums)) {
		file := f.unnamed[name]
		file.header.Name = folder + "/" + name
		entry, err := archive.CreateRaw(&file.header)
		if err == nil {
			_, err = io.Copy(entry, file.compressed())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return archive.Close()
}

// discard removes the temporary folder unless it was renamed, and files without one.
func (f *packFolder) discard() {
	if f.unnamed == nil {
		_ = os.RemoveAll(f.temporary)
	}
	for _, file := range f.unnamed {
		_ = file.File.Close()
	}
}

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
