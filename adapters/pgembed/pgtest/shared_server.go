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

// The shared server must outlive the test program that needs it first, and it
// ends with the process that starts it. So that first program starts a copy of
// itself, the keeper, which runs the server and nothing else. The keeper knows
// its users by a lock: each test program holds it shared until it ends, however
// it ends; the keeper gets it alone when nobody is left.

// hostProcessEnv makes a test program a keeper; its arguments are the folder and how
// long an unused server lingers.
const hostProcessEnv = "CAUSEWAY_PGTEST_KEEPER"

// defaultIdleTimeout is about as long as `go test` needs to link the next package.
const defaultIdleTimeout = time.Minute

func init() {
	if os.Getenv(hostProcessEnv) == "" {
		return
	}
	linger, err := time.ParseDuration(os.Args[2])
	if err == nil {
		err = runHostProcess(os.Args[1], linger, os.NewFile(3, "ready"))
	}
	if err != nil {
		os.Exit(1) // the one who waits for it has heard why
	}
	os.Exit(0)
}

// sharedFolder is where this user's shared server lives: in memory if there is
// enough of it.
func sharedFolder() (string, error) {
	const enough = 2 << 30
	base := os.TempDir()
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &fs); err == nil && fs.Bavail*uint64(fs.Bsize) >= enough {
		base = "/dev/shm"
	}
	dir := filepath.Join(base, "causeway-test-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("make the folder of the shared server: %w", err)
	}
	// Anyone may have made a folder of that name there.
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("look at the folder of the shared server: %w", err)
	}
	if stat := info.Sys().(*syscall.Stat_t); !info.IsDir() || int(stat.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s is not a folder of this user: remove it", dir)
	}
	return dir, nil
}

// usersLockName is the lock by which the keeper knows its users.
const usersLockName = "users.lock"

// startHostProcess makes sure that a keeper runs, and returns when its server is up.
func startHostProcess(dir string, linger time.Duration) error {
	// One program starts it, the others wait here and find it running.
	turn, err := lock(filepath.Join(dir, "start.lock"), syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer turn.Close()
	if _, ok := pgembed.RunningSuperuserURL(dir); ok {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the test program: %w", err)
	}
	hear, say, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer hear.Close()
	cmd := exec.Command(self, dir, linger.String())
	cmd.Env = append(os.Environ(), hostProcessEnv+"=1")
	cmd.Dir = dir
	cmd.ExtraFiles = []*os.File{say}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is not for the keeper
	err = cmd.Start()
	_ = say.Close()
	if err != nil {
		return fmt.Errorf("start the keeper of the shared server: %w", err)
	}
	go func() { _ = cmd.Wait() }() // no zombie, should it end before us
	answer, err := io.ReadAll(hear)
	if err != nil {
		return fmt.Errorf("hear from the keeper of the shared server: %w", err)
	}
	if string(answer) != "ready" {
		return fmt.Errorf("the keeper of the shared server failed: %s", strings.TrimSpace(string(answer)))
	}
	return nil
}

// runHostProcess runs the shared server of dir until nobody has used it for a while. It
// says "ready" or what went wrong, then closes said.
func runHostProcess(dir string, linger time.Duration, said io.WriteCloser) error {
	server, err := pgembed.Start(context.Background(), pgembed.Options{
		Dir: dir, Throwaway: true, MaxConnections: 400,
		// Many databases at once: copying one should not wait for the others' writes.
		Settings: map[string]string{"max_wal_size": "4GB", "shared_buffers": "256MB"},
	})
	if err != nil {
		_, _ = io.WriteString(said, err.Error())
		return errors.Join(err, said.Close())
	}
	_, err = io.WriteString(said, "ready")
	if err := errors.Join(err, said.Close()); err != nil {
		return errors.Join(err, server.Stop(context.Background()))
	}
	alone := make(chan *os.File, 1)
	go func() {
		if f, err := awaitUnused(filepath.Join(dir, usersLockName), linger); err == nil {
			alone <- f
		}
	}()
	select {
	case <-server.Done(): // the next user starts another
		return server.Stop(context.Background())
	case f := <-alone:
		// New users wait for the lock until all this is gone, then start afresh.
		defer f.Close()
		return errors.Join(server.Stop(context.Background()), os.RemoveAll(filepath.Join(dir, "postgres")))
	}
}

// awaitUnused returns, holding the users' lock alone, when nobody has used the
// server for as long as linger.
func awaitUnused(path string, linger time.Duration) (*os.File, error) {
	for {
		f, err := lock(path, syscall.LOCK_EX) // blocks while there is a user
		if err != nil {
			return nil, err
		}
		_ = f.Close()
		<-time.After(linger)
		f, err = lock(path, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, err
		}
	}
}

func lock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a lock of the shared server: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f, nil
}
