package backups

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// copyTree copies the files of a server. The folders that links in pg_tblspc name are tablespaces, and that of pg_wal the logs:
// their content is copied in place of the link, so that the copy shares no file with the backup or with the server. Other links
// are refused.
func copyTree(ctx context.Context, from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case entry.IsDir():
			return os.Mkdir(target, 0o700)
		case entry.Type().IsRegular():
			return copyFile(ctx, path, target)
		case isFolderLink(name, entry):
			folder, err := filepath.EvalSymlinks(path)
			if err != nil {
				return err
			}
			return copyTree(ctx, folder, target)
		default:
			return fmt.Errorf("%s is neither a file nor a folder, which a base backup does not have", path)
		}
	})
}

// isFolderLink reports whether a file of a server is a link to the folder of a tablespace or of the logs.
func isFolderLink(name string, entry fs.DirEntry) bool {
	return entry.Type()&fs.ModeSymlink != 0 && (name == "pg_wal" || filepath.Dir(name) == "pg_tblspc")
}

func copyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return writeFile(ctx, to, in)
}

// chunk is how much is copied before the context is asked again.
const chunk = 64 << 20

// writeFile writes a new file. The kernel copies from another file, without the bytes passing through this process.
func writeFile(ctx context.Context, path string, content io.Reader) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	for {
		_, err = io.CopyN(out, content, chunk)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, out.Close())
}

// linksInPlace replaces the links to tablespaces by the folders that they name, which pgBackRest has restored beside the others. It
// refuses other links, such as that of pg_wal: the copy would share files with another server.
func linksInPlace(files string) error {
	links, err := os.ReadDir(filepath.Join(files, "pg_tblspc"))
	if err != nil {
		return fmt.Errorf("the backup is incomplete: %w", err)
	}
	for _, link := range links {
		if link.Type()&fs.ModeSymlink == 0 {
			continue
		}
		path := filepath.Join(files, "pg_tblspc", link.Name())
		folder, err := os.Readlink(path)
		if err != nil {
			return err
		}
		if inside, err := filepath.Rel(filepath.Dir(files), folder); err != nil || strings.HasPrefix(inside, "..") {
			return fmt.Errorf("the tablespace %s of the copy is at %s, outside of the folder for the copy", link.Name(), folder)
		}
		if err := errors.Join(os.Remove(path), os.Rename(folder, path)); err != nil {
			return err
		}
	}
	return filepath.WalkDir(files, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			err = fmt.Errorf("%s of the copy is a link, by which it would share files with another server", path)
		}
		return err
	})
}

// sizeOf adds up the files that copyTree copies from a folder.
func sizeOf(folder string) (total int64, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name, err := filepath.Rel(folder, path); err == nil && isFolderLink(name, entry) {
			linked, err := filepath.EvalSymlinks(path)
			if err != nil {
				return err
			}
			size, err := sizeOf(linked)
			total += size
			return err
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// spaceForLogs is for the logs that are recovered beside the files: those of some checkpoints.
const spaceForLogs = 1 << 30

// FreeSpace returns how many bytes can be written to a folder.
func FreeSpace(folder string) (int64, error) {
	var disk syscall.Statfs_t
	err := syscall.Statfs(folder, &disk)
	return int64(disk.Bavail) * disk.Bsize, err
}

// checkSpace returns an error if a folder has not enough space for a copy and the logs. The size may be less than that of the copy.
func checkSpace(folder string, bytes int64) error {
	free, err := FreeSpace(folder)
	if err != nil {
		return fmt.Errorf("the folder for the copy: %s: %w", folder, err)
	}
	if free < bytes+spaceForLogs {
		return fmt.Errorf("%s has %d MiB free, but the copy needs at least %d MiB, with the logs that are recovered: choose another --work-dir",
			folder, free>>20, (bytes+spaceForLogs)>>20)
	}
	return nil
}

// explainSpace says what to do about a disk that became full, which Postgres says in its log only.
func explainSpace(err error, folder string) error {
	if errors.Is(err, syscall.ENOSPC) || strings.Contains(strings.ToLower(err.Error()), syscall.ENOSPC.Error()) {
		return fmt.Errorf("the disk of %s is full: choose another --work-dir: %w", folder, err)
	}
	return err
}
