package pgembed

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
)

// RunningURL returns the URL by which the service connects to the server that is running on a
// data folder, whichever process started it. It reports false if none is running.
func RunningURL(dir string) (url string, ok bool) {
	return runningURL(dir, serviceRole, serviceDatabase)
}

// RunningSuperuserURL is like RunningURL, with the superuser, for operators and tests.
func RunningSuperuserURL(dir string) (url string, ok bool) {
	return runningURL(dir, superuser, superuser)
}

func runningURL(dir, role, database string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	path := filepath.Join(dir, clusterName)
	file, ok := readPIDFile(path)
	if !ok || !file.ready || !isPostgresIn(file.pid, path) {
		return "", false
	}
	return socketURL(file.socketDir, role, database), true
}

// stopOrphans stops every Postgres process of the cluster. The caller holds the folder's lock,
// so the process that started them has ended. They are stopped, not reused, because the server
// must be a child of this process: each must notice when the other ends.
func stopOrphans(ctx context.Context, path string, timeouts stopTimeouts, log logrus.FieldLogger) error {
	file, found := readPIDFile(path)
	pids := orphans(path)
	if len(pids) > 0 {
		log.WithField("processes", len(pids)).Warn("stopping an orphaned Postgres")
		// Stop the server cleanly first. If that fails, or only child processes are left,
		// kill all of them; the next start recovers.
		if found && slices.Contains(pids, file.pid) {
			_ = syscall.Kill(file.pid, syscall.SIGINT)
			if err := awaitStopped(ctx, path, timeouts.graceful); err != nil {
				return err
			}
		}
		for _, signal := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGKILL} {
			pids = orphans(path)
			if len(pids) == 0 {
				break
			}
			for _, pid := range pids {
				_ = syscall.Kill(pid, signal)
			}
			if err := awaitStopped(ctx, path, timeouts.forced); err != nil {
				return err
			}
		}
		if pids = orphans(path); len(pids) > 0 {
			return fmt.Errorf("an orphaned Postgres (process %d) on %s does not stop: kill it and try again", pids[0], path)
		}
	}
	if !found {
		return nil
	}
	// The PID file is stale. It would prevent Postgres from starting if another process now has
	// that process id.
	if err := os.Remove(filepath.Join(path, pidFileName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove a stale postmaster.pid: %w", err)
	}
	return removeSocketFolder(file.socketDir)
}

// stopTimeouts limit the wait for an orphan after a request to stop and after a kill.
type stopTimeouts struct{ graceful, forced time.Duration }

var defaultStopTimeouts = stopTimeouts{graceful: 30 * time.Second, forced: 5 * time.Second}

// awaitStopped waits until no process of the cluster is left, or until the timeout.
func awaitStopped(ctx context.Context, path string, timeout time.Duration) error {
	expired := time.NewTimer(timeout)
	defer expired.Stop()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("an orphaned Postgres was still stopping: %w", context.Cause(ctx))
		case <-expired.C:
			return nil
		case <-poll.C:
			if len(orphans(path)) == 0 {
				return nil
			}
		}
	}
}

// orphans returns the ids of the Postgres processes of the cluster. Each of them has the cluster
// as its working directory, even if the PID file is missing or stale.
func orphans(path string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && isPostgresIn(pid, path) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isPostgresIn reports whether a process is a Postgres with the cluster as its working
// directory. It returns false for processes that this user may not inspect.
func isPostgresIn(pid int, path string) bool {
	proc := "/proc/" + strconv.Itoa(pid)
	program, err := os.Readlink(proc + "/exe")
	if err != nil || !strings.HasPrefix(filepath.Base(program), "postgres") {
		return false
	}
	cwd, err := os.Stat(proc + "/cwd")
	if err != nil {
		return false
	}
	cluster, err := os.Stat(path)
	return err == nil && os.SameFile(cwd, cluster)
}

// pidFile is the content of postmaster.pid, which a server writes into its cluster.
type pidFile struct {
	pid       int
	socketDir string
	ready     bool
}

const pidFileName = "postmaster.pid"

// readPIDFile reads the PID file of the cluster at path. It reports false if there is none.
func readPIDFile(path string) (pidFile, bool) {
	text, err := os.ReadFile(filepath.Join(path, pidFileName))
	if err != nil {
		return pidFile{}, false
	}
	file, ok := parsePIDFile(string(text))
	if !filepath.IsAbs(file.socketDir) {
		file.socketDir = filepath.Join(path, file.socketDir)
	}
	return file, ok
}

// parsePIDFile parses the lines of a PID file: process id, data directory, start time, port,
// socket folder, listen address, shared memory, status. The last ones are added during startup.
func parsePIDFile(text string) (pidFile, bool) {
	line := strings.Split(text, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line[0]))
	if err != nil || pid <= 0 {
		return pidFile{}, false
	}
	file := pidFile{pid: pid}
	if len(line) > 4 {
		file.socketDir = line[4]
	}
	file.ready = len(line) > 7 && strings.TrimSpace(line[7]) == "ready"
	return file, true
}

// socketURL returns the URL of a database on a unix socket.
func socketURL(sockets, role, database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User(role),
		Path:     "/" + database,
		RawQuery: url.Values{"host": {sockets}, "port": {socketPort}}.Encode(),
	}
	return u.String()
}
