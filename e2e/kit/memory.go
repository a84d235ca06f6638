package kit

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Prepare is Build for tests that measure neither memory nor disks: the program collects garbage rarely, and temporary folders are in
// memory if there is enough of it, also those of programs that this process starts. The private Postgres of causeway dev would wait for
// a disk.
func Prepare() (path string, remove func(), err error) {
	removeFolder := func() {}
	if base := memoryFolder(); base != "" {
		removeAbandoned(base)
		dir, err := makeFolder(base)
		if err != nil {
			return "", nil, err
		}
		removeFolder = func() { _ = os.RemoveAll(dir) }
		if err := os.Setenv("TMPDIR", dir); err != nil {
			return "", nil, err
		}
	}
	gcPercent, measuresMemory = 400, false
	path, removeProgram, err := Build()
	if err != nil {
		removeFolder()
		return "", nil, err
	}
	return path, func() { removeProgram(); removeFolder() }, nil
}

// memoryFolder returns the folder of a file system in memory, or nothing if it has too little space.
func memoryFolder() string {
	const enough = 4 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &fs); err != nil || fs.Bavail*uint64(fs.Bsize) <= enough {
		return ""
	}
	return "/dev/shm"
}

const (
	folderPrefix = "causeway-e2e-"
	lockName     = "lock"
)

// makeFolder creates a folder that other users may enter, with a locked file as long as this process runs.
func makeFolder(base string) (string, error) {
	dir, err := os.MkdirTemp(base, folderPrefix)
	if err != nil {
		return "", err
	}
	lock, err := syscall.Open(filepath.Join(dir, lockName), syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return "", err
	}
	return dir, errors.Join(os.Chmod(dir, 0o755), syscall.Flock(lock, syscall.LOCK_EX|syscall.LOCK_NB)) // until the process ends
}

// removeAbandoned removes the folders of processes that were killed, which would occupy the memory.
func removeAbandoned(base string) {
	folders, _ := filepath.Glob(filepath.Join(base, folderPrefix+"*")) // the pattern is valid
	for _, dir := range folders {
		lock, err := os.Open(filepath.Join(dir, lockName))
		if err != nil {
			continue // of another user, or its process has only begun
		}
		if made, err := lock.Stat(); err == nil && time.Since(made.ModTime()) > time.Minute &&
			syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(dir)
		}
		_ = lock.Close()
	}
}
