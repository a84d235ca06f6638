package pgembed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// startOnLockedThread starts cmd and calls exited with the result of Wait. The kernel sends
// Pdeathsig when the thread that started a child ends, and Go may end idle threads, so this
// thread is kept until the child exits.
func startOnLockedThread(cmd *exec.Cmd, exited func(error)) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function
		err := cmd.Start()
		started <- err
		if err == nil {
			exited(cmd.Wait())
		}
	}()
	return <-started
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// openLog opens the server's log for appending, after renaming a large one.
func openLog(path string) (*os.File, error) {
	const maxSize = 10 << 20
	if info, err := os.Stat(path); err == nil && info.Size() > maxSize {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("rename the old Postgres log: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the Postgres log: %w", err)
	}
	return f, nil
}

// lastLines returns the last n lines of a file, or why it cannot be read.
func lastLines(path string, n int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// syncFolder makes a rename in dir durable.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync the data folder: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}
