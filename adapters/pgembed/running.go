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

// RunningURL finds the server that runs on a data folder right now, whichever
// process owns it, and says how the service connects to it.
func RunningURL(dir string) (url string, ok bool) {
	return runningURL(dir, serviceRole, serviceDatabase)
}

// RunningSuperuserURL is Running for an operator or a test.
func RunningSuperuserURL(dir string) (url string, ok bool) {
	return runningURL(dir, superuser, superuser)
}

func runningURL(dir, role, database string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	path := filepath.Join(dir, clusterName)
	note, ok := readPIDFile(path)
	if !ok || !note.ready || !isPostgresIn(note.pid, path) {
		return "", false
	}
	return socketURL(note.socketDir, role, database), true
}

// stopOrphans stops every Postgres process that works in the cluster: a server
// whose owner was killed, or what is left of one. The caller holds the lock, so
// none of them has an owner any more. They are stopped, not adopted, because the
// server must be our child: it ends with us, and we notice when it ends.
func stopOrphans(ctx context.Context, path string, wait stopTimeouts, log logrus.FieldLogger) error {
	note, noted := readPIDFile(path)
	left := orphans(path)
	if len(left) > 0 {
		log.WithField("processes", len(left)).Warn("stopping a Postgres that an earlier process left behind")
		// The server itself first, cleanly. Only if that does not help, or there is
		// no server any more, everything at once; the next start recovers.
		if noted && slices.Contains(left, note.pid) {
			_ = syscall.Kill(note.pid, syscall.SIGINT)
			if err := awaitStopped(ctx, path, wait.graceful); err != nil {
				return err
			}
		}
		for _, hard := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGKILL} {
			left = orphans(path)
			if len(left) == 0 {
				break
			}
			for _, pid := range left {
				_ = syscall.Kill(pid, hard)
			}
			if err := awaitStopped(ctx, path, wait.forced); err != nil {
				return err
			}
		}
		if left = orphans(path); len(left) > 0 {
			return fmt.Errorf("an earlier Postgres (process %d) works on %s and does not stop: end it and try again", left[0], path)
		}
	}
	if !noted {
		return nil
	}
	// Nothing works here any more, so the note is stale. It would stop Postgres
	// from starting if its number has gone to another process.
	if err := os.Remove(filepath.Join(path, pidFileName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the note of an earlier Postgres: %w", err)
	}
	return removeSocketFolder(note.socketDir)
}

// stopTimeouts is how long a leftover has to end when it is asked to, and when it is
// told to.
type stopTimeouts struct{ graceful, forced time.Duration }

var defaultStopTimeouts = stopTimeouts{graceful: 30 * time.Second, forced: 5 * time.Second}

// awaitStopped waits until nothing works in the cluster, or patience runs out.
func awaitStopped(ctx context.Context, path string, patience time.Duration) error {
	enough := time.NewTimer(patience)
	defer enough.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("an earlier Postgres was still stopping: %w", context.Cause(ctx))
		case <-enough.C:
			return nil
		case <-look.C:
			if len(orphans(path)) == 0 {
				return nil
			}
		}
	}
}

// orphans are the ids of the Postgres processes that work in the cluster. Each
// of them, server or servant, has the cluster as its working directory; that
// holds when the note is gone or tells of a process long dead.
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

// isPostgresIn says whether a process is a Postgres with the cluster as its working
// directory. It is false for processes that we may not look into.
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
	here, err := os.Stat(path)
	return err == nil && os.SameFile(cwd, here)
}

// pidFile is what a server writes about itself into its cluster.
type pidFile struct {
	pid       int
	socketDir string
	ready     bool
}

const pidFileName = "postmaster.pid"

// readPIDFile reads the note of the cluster at path, if there is one.
func readPIDFile(path string) (pidFile, bool) {
	text, err := os.ReadFile(filepath.Join(path, pidFileName))
	if err != nil {
		return pidFile{}, false
	}
	n, ok := parsePIDFile(string(text))
	if !filepath.IsAbs(n.socketDir) {
		n.socketDir = filepath.Join(path, n.socketDir)
	}
	return n, ok
}

// parsePIDFile reads the lines of a note: process id, data directory, start time,
// port, socket folder, listen address, shared memory, status. The later ones are
// written as the server comes up.
func parsePIDFile(text string) (pidFile, bool) {
	line := strings.Split(text, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line[0]))
	if err != nil || pid <= 0 {
		return pidFile{}, false
	}
	n := pidFile{pid: pid}
	if len(line) > 4 {
		n.socketDir = line[4]
	}
	n.ready = len(line) > 7 && strings.TrimSpace(line[7]) == "ready"
	return n, true
}

// socketURL is the address of a database behind a unix socket.
func socketURL(sockets, role, database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User(role),
		Path:     "/" + database,
		RawQuery: url.Values{"host": {sockets}, "port": {socketPort}}.Encode(),
	}
	return u.String()
}
