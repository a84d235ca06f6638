package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Folder is a folder on this computer, such as one that the program of a bank exchanges with it.
type Folder struct {
	base string

	mu     sync.Mutex
	root   *os.Root
	closed bool
}

var _ Transport = (*Folder)(nil)

// OpenFolder returns the transport for a folder, which exists and is given by its absolute path.
func OpenFolder(base string) (*Folder, error) {
	if !filepath.IsAbs(base) {
		return nil, fmt.Errorf("%q is not an absolute path", base)
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	return &Folder{base: base, root: root}, nil
}

// Close implements Transport.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return f.root.Close()
}

// current returns the folder that has the path now, which is another one after it was moved and made again, or mounted: the
// one that was opened first would be used for ever without anybody noticing. That the folder is missing does not mean
// that its files are, so the error is not fs.ErrNotExist.
func (f *Folder) current() (*os.Root, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, os.ErrClosed
	}
	now, err := os.Stat(f.base)
	if err != nil {
		return nil, fmt.Errorf("make or mount the folder, and let the service enter it: %v", err) //nolint:errorlint // as above
	}
	if opened, err := f.root.Stat("."); err == nil && os.SameFile(opened, now) {
		return f.root, nil
	}
	root, err := os.OpenRoot(f.base)
	if err != nil {
		return nil, fmt.Errorf("make or mount the folder, and let the service enter it: %v", err) //nolint:errorlint // as above
	}
	_ = f.root.Close()
	f.root = root
	return root, nil
}

// List implements Transport.
func (f *Folder) List(ctx context.Context, folder string, limit int) ([]File, error) {
	root, err := f.current()
	if err != nil {
		return nil, err
	}
	dir, err := root.Open(local(folder))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var files []File
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		entries, err := dir.ReadDir(1000)
		for _, entry := range entries {
			if !entry.Type().IsRegular() {
				continue
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // the bank has just removed it
			}
			if err != nil {
				return nil, err
			}
			files = append(files, fileOf(info))
		}
		// More than twice the limit is cut at once, so that memory is bounded.
		if len(files) > 2*limit || err != nil {
			files = firstByName(files, limit)
		}
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// firstByName sorts files by name and returns the first.
func firstByName(files []File, limit int) []File {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files[:min(limit, len(files))]
}

func fileOf(info fs.FileInfo) File { return File{info.Name(), info.Size(), info.ModTime().UTC()} }

// Stat implements Transport.
func (f *Folder) Stat(_ context.Context, name string) (File, error) {
	root, err := f.current()
	if err != nil {
		return File{}, err
	}
	info, err := root.Lstat(local(name))
	if err != nil {
		return File{}, err
	}
	return fileOf(info), nil
}

// Read implements Transport.
func (f *Folder) Read(ctx context.Context, name string, to io.Writer, maxBytes int64) error {
	return f.ReadFrom(ctx, name, 0, to, maxBytes)
}

// ReadFrom implements Transport.
func (f *Folder) ReadFrom(ctx context.Context, name string, offset int64, to io.Writer, maxBytes int64) error {
	root, err := f.current()
	if err != nil {
		return err
	}
	file, err := root.Open(local(name))
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(&maxBytesWriter{to, maxBytes, ctx.Err}, file)
	return err
}

// Create implements Transport.
func (f *Folder) Create(ctx context.Context, name string, content io.Reader) (size int64, err error) {
	root, err := f.current()
	if err != nil {
		return 0, err
	}
	file, err := root.OpenFile(local(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(file, progressReader{content, ctx.Err})
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return 0, err
	}
	return size, f.syncFolder(path.Dir(name))
}

// Rename implements Transport.
func (f *Folder) Rename(_ context.Context, from, to string) error {
	root, err := f.current()
	if err != nil {
		return err
	}
	// os.Root has no rename that leaves the target alone. The paths come from settings and from Join.
	err = unix.Renameat2(unix.AT_FDCWD, filepath.Join(f.base, from), unix.AT_FDCWD, filepath.Join(f.base, to), unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // a file system that cannot, such as NFS
		if _, err = root.Lstat(local(to)); err == nil {
			err = fs.ErrExist
		} else if errors.Is(err, fs.ErrNotExist) {
			err = root.Rename(local(from), local(to))
		}
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return errors.Join(f.syncFolder(path.Dir(from)), f.syncFolder(path.Dir(to)))
}

// Remove implements Transport.
func (f *Folder) Remove(_ context.Context, name string) error {
	root, err := f.current()
	if err != nil {
		return err
	}
	return root.Remove(local(name))
}

// syncFolder makes a change of a folder last through a power failure.
func (f *Folder) syncFolder(folder string) error {
	root, err := f.current()
	if err != nil {
		return err
	}
	dir, err := root.Open(local(folder))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, unix.EINVAL) { // not every file system can
		return err
	}
	return nil
}

// local returns a path in the form of os.Root, which knows no empty one.
func local(name string) string {
	if name == "" {
		return "."
	}
	return filepath.FromSlash(name)
}
