package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"causeway/ports"
)

// Folder stores blobs as files. Several processes may use one folder.
type Folder struct{ root *os.Root }

var _ ports.Blobs = (*Folder)(nil)

// OpenFolder opens a folder, and creates it if it does not exist.
func OpenFolder(name string) (*Folder, error) {
	if err := os.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Folder{root}, nil
}

// partial ends the name of a file that is being written. No blob has such a name.
const partial = ".partial"

// Put implements ports.Blobs.
func (f *Folder) Put(ctx context.Context, name string, content io.Reader, size int64) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := f.makeFolders(path.Dir(name)); err != nil {
		return err
	}
	if err := f.write(ctx, name+partial, content, size); err != nil {
		return errors.Join(err, ignoreMissing(f.root.Remove(name+partial)))
	}
	if err := f.root.Rename(name+partial, name); err != nil {
		return err
	}
	return f.sync(path.Dir(name))
}

// makeFolders creates the folders of a name, durably.
func (f *Folder) makeFolders(name string) error {
	if name == "." {
		return nil
	}
	if _, err := f.root.Stat(name); err == nil {
		return nil
	}
	if err := f.makeFolders(path.Dir(name)); err != nil {
		return err
	}
	if err := f.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.sync(path.Dir(name))
}

func (f *Folder) write(ctx context.Context, name string, content io.Reader, size int64) error {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, &withContext{ctx, &exactly{r: content, left: size}})
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// sync makes the entries of a folder durable.
func (f *Folder) sync(name string) error {
	folder, err := f.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Get implements ports.Blobs.
func (f *Folder) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	file, err := f.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, ports.ErrNoBlob)
	}
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{&withContext{ctx, file}, file}, nil
}

// Delete implements ports.Blobs.
func (f *Folder) Delete(_ context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return errors.Join(ignoreMissing(f.root.Remove(name)), ignoreMissing(f.root.Remove(name+partial)))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// withContext ends reading with its context.
type withContext struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (w *withContext) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}
