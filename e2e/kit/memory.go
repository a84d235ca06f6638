package kit

import (
	"os"
	"syscall"
)

// Prepare is Build for tests that measure neither memory nor disks: the program collects garbage rarely, and temporary folders are in
// memory if there is enough of it, also those of programs that this process starts. The private Postgres of causeway dev would wait for
// a disk.
func Prepare() (path string, remove func(), err error) {
	removeFolder := func() {}
	if base := memoryFolder(); base != "" {
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
	const enough = 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &fs); err != nil || fs.Bavail*uint64(fs.Bsize) <= enough {
		return ""
	}
	return "/dev/shm"
}

// makeFolder creates a folder that other users may enter.
func makeFolder(base string) (string, error) {
	dir, err := os.MkdirTemp(base, "causeway-e2e-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}
