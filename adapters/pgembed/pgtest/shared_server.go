package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"causeway/adapters/pgembed"
)

// The shared server must outlive the test binary that starts it, but a server stops with the
// process that started it. The test binary therefore starts a copy of itself, the host process,
// which only runs the server. Each test binary holds a shared lock until it ends. The host
// process gets the exclusive lock when no user is left.

// hostProcessEnv makes a test binary run as the host process. Its arguments are the folder and
// the idle timeout.
const hostProcessEnv = "CAUSEWAY_PGTEST_HOST"

// defaultIdleTimeout covers the time that `go test` needs to link the next package.
const defaultIdleTimeout = time.Minute

func init() {
	if os.Getenv(hostProcessEnv) == "" {
		return
	}
	// Postgres must not inherit the pipe: its reader waits until the last process has closed it.
	syscall.CloseOnExec(3)
	idleTimeout, err := time.ParseDuration(os.Args[2])
	if err == nil {
		err = runHostProcess(os.Args[1], idleTimeout, os.NewFile(3, "ready"))
	}
	if err != nil {
		os.Exit(1) // runHostProcess has reported the error to its parent
	}
	os.Exit(0)
}

// sharedFolder returns the folder of this user's shared server, in memory if there is enough
// space.
func sharedFolder() (string, error) {
	const enough = 2 << 30
	base := os.TempDir()
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &fs); err == nil && fs.Bavail*uint64(fs.Bsize) >= enough {
		base = "/dev/shm"
	}
	dir := filepath.Join(base, "causeway-test-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("create the folder of the shared server: %w", err)
	}
	// Another user may have created a folder with that name.
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("read the folder of the shared server: %w", err)
	}
	if stat := info.Sys().(*syscall.Stat_t); !info.IsDir() || int(stat.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s does not belong to this user: remove it", dir)
	}
	return dir, nil
}

// usersLockName is the lock held by the users of the server.
const usersLockName = "users.lock"

// startHostProcess starts the host process unless one is running, and returns when its server
// accepts connections.
func startHostProcess(dir string, idleTimeout time.Duration) error {
	// The first test binary starts it; the others wait here and find it running.
	startLock, err := lock(filepath.Join(dir, "start.lock"), syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer startLock.Close()
	if _, ok := pgembed.RunningSuperuserURL(dir); ok {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the test binary: %w", err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("create a pipe: %w", err)
	}
	defer reader.Close()
	cmd := exec.Command(self, dir, idleTimeout.String())
	cmd.Env = append(os.Environ(), hostProcessEnv+"=1")
	cmd.Dir = dir
	cmd.ExtraFiles = []*os.File{writer}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // does not receive Ctrl-C
	err = cmd.Start()
	_ = writer.Close()
	if err != nil {
		return fmt.Errorf("start the host process of the shared server: %w", err)
	}
	go func() { _ = cmd.Wait() }() // avoids a zombie if it ends first
	status, err := io.ReadAll(reader)
	if err != nil {
		return fmt.Errorf("read the status of the shared server: %w", err)
	}
	if string(status) != "ready" {
		return fmt.Errorf("the shared server failed to start: %s", strings.TrimSpace(string(status)))
	}
	return nil
}

// runHostProcess runs the shared server of dir until it has been unused for idleTimeout. It
// writes "ready" or an error to status and closes it.
func runHostProcess(dir string, idleTimeout time.Duration, status io.WriteCloser) error {
	server, err := pgembed.Start(context.Background(), pgembed.Options{
		// On a machine with many cores many tests run at once, each with some servers.
		Dir: dir, Throwaway: true, MaxConnections: 2000,
		Settings: map[string]string{
			// Many databases are created at once: a large WAL avoids checkpoints while copying.
			"max_wal_size": "4GB", "shared_buffers": "64MB",
			// A database lives for some seconds. A test that needs statistics collects them.
			"autovacuum": "off",
			// In the folder, so that it is removed with it: a server that is killed leaves it behind.
			"dynamic_shared_memory_type": "mmap",
		},
	})
	if err != nil {
		_, _ = io.WriteString(status, err.Error())
		return errors.Join(err, status.Close())
	}
	_, err = io.WriteString(status, "ready")
	if err := errors.Join(err, status.Close()); err != nil {
		return errors.Join(err, server.Stop(context.Background()))
	}
	unused := make(chan *os.File, 1)
	go func() {
		if f, err := awaitUnused(filepath.Join(dir, usersLockName), idleTimeout); err == nil {
			unused <- f
		}
	}()
	select {
	case <-server.Done(): // the next user starts a new one
		return server.Stop(context.Background())
	case f := <-unused:
		// New users wait for the lock until this server is gone, then start a new one.
		defer f.Close()
		return errors.Join(server.Stop(context.Background()), os.RemoveAll(filepath.Join(dir, "postgres")))
	}
}

// awaitUnused waits until the server has been unused for idleTimeout and returns the exclusive
// users' lock.
func awaitUnused(path string, idleTimeout time.Duration) (*os.File, error) {
	for {
		f, err := lock(path, syscall.LOCK_EX) // blocks while there is a user
		if err != nil {
			return nil, err
		}
		_ = f.Close()
		<-time.After(idleTimeout)
		f, err = lock(path, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, err
		}
	}
}

func lock(path string, mode int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a lock of the shared server: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), mode)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}
