package backups

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// tarArchive is an open file of tar, which may be compressed.
type tarArchive struct {
	*tar.Reader
	close []func() error
}

// Close closes the file.
func (a *tarArchive) Close() (err error) {
	for _, c := range a.close {
		err = errors.Join(err, c())
	}
	return err
}

// openArchive opens the file of a name without its ending. fs.ErrNotExist if there is none.
func openArchive(name string) (*tarArchive, error) {
	for _, ending := range []string{".tar", ".tar.gz", ".tar.zst"} {
		f, err := os.Open(name + ending)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		a := &tarArchive{close: []func() error{f.Close}}
		var content io.Reader = f
		switch ending {
		case ".tar.gz":
			content, err = gzip.NewReader(f)
		case ".tar.zst":
			var decoder *zstd.Decoder
			if decoder, err = zstd.NewReader(f); err == nil {
				content = decoder
				a.close = append(a.close, func() error { decoder.Close(); return nil })
			}
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", f.Name(), err), a.Close())
		}
		a.Reader = tar.NewReader(content)
		return a, nil
	}
	if _, err := os.Stat(name + ".tar.lz4"); err == nil {
		return nil, fmt.Errorf("%s.tar.lz4: lz4 is not supported: compress with gzip or zstd", name)
	}
	return nil, fmt.Errorf("%s.tar: %w", name, fs.ErrNotExist)
}

// extract writes the files of a backup in the format tar: those of the server, of each tablespace, and the logs.
func extract(ctx context.Context, from, to string) error {
	if err := extractTar(ctx, filepath.Join(from, "base"), to); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name, isTar := cutTar(entry.Name())
		folder := filepath.Join(to, "pg_tblspc", name)
		switch {
		case entry.Name() == manifestFile:
			err = copyFile(ctx, filepath.Join(from, manifestFile), filepath.Join(to, manifestFile))
		case !isTar || name == "base":
		case name == "pg_wal":
			err = extractTar(ctx, filepath.Join(from, name), filepath.Join(to, name))
		default: // the number of a tablespace, for which pg_basebackup leaves a folder or a link
			if err = os.RemoveAll(folder); err == nil {
				err = extractTar(ctx, filepath.Join(from, name), folder)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cutTar returns the name of an archive without its ending.
func cutTar(name string) (string, bool) {
	before, after, found := strings.Cut(name, ".tar")
	return before, found && (after == "" || after == ".gz" || after == ".zst" || after == ".lz4")
}

func extractTar(ctx context.Context, archive, to string) error {
	a, err := openArchive(archive)
	if err != nil {
		return err
	}
	err = a.extract(ctx, to)
	if err != nil {
		err = fmt.Errorf("%s.tar: %w", filepath.Base(archive), err)
	}
	return errors.Join(err, a.Close())
}

func (a *tarArchive) extract(ctx context.Context, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for {
		header, err := a.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.Clean(header.Name)
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%s is outside of the backup", header.Name)
		}
		path := filepath.Join(to, name)
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o700)
		case tar.TypeReg:
			err = writeFile(ctx, path, a)
		case tar.TypeSymlink: // a tablespace, which is extracted there, or pg_wal
			err = os.MkdirAll(path, 0o700)
		default:
			err = fmt.Errorf("%s has the type %q, which a base backup does not have", header.Name, header.Typeflag)
		}
		if err != nil {
			return err
		}
	}
}
