package pgembed

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockFolder makes this process the only one that may run the server of the folder, until the
// lock is closed or the process ends. Child processes do not inherit the lock.
func lockFolder(dir string) (io.Closer, error) {
	path := filepath.Join(dir, "postgres.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(path)
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s%s; stop it first or choose another data folder", ErrInUse, dir, processSuffix(holder))
		}
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	// The process id is shown to a process that finds the folder locked.
	if err := errors.Join(f.Truncate(0), writeAt(f, strconv.Itoa(os.Getpid())+"\n")); err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock of the data folder: %w", err), f.Close())
	}
	return folderLock{f}, nil
}

// folderLock is the locked file of a data folder.
type folderLock struct{ file *os.File }

// Close unlocks the folder explicitly: a child process that is being started at the moment has a
// copy of the handle until it runs its program, so closing the handle alone would not unlock it.
func (l folderLock) Close() error {
	return errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

func processSuffix(holder []byte) string {
	if pid := strings.TrimSpace(string(holder)); pid != "" {
		return " (process " + pid + ")"
	}
	return ""
}
