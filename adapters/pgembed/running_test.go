package pgembed

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

func TestServer_StopsWhenOwnerIsKilled(t *testing.T) {
	t.Parallel()
	// When the process that started the server is killed, Postgres shuts down cleanly.
	dir := initializedDir(t)
	owner := startHelper(t, -1, "serve", dir)
	owner.postmasterPID(t)
	url, ok := RunningURL(dir)
	if !ok {
		t.Fatal("the server of the helper process was not found")
	}
	insertRow(t, url)

	owner.kill()

	checkStopped(t, dir)
	if _, err := os.Stat(filepath.Join(dir, clusterName, pidFileName)); !os.IsNotExist(err) {
		t.Errorf("the PID file still exists: %v", err)
	}
	checkRow(t, startServer(t, Options{Dir: dir}).URL())
}

func TestStart_RightAfterOwnerIsKilled(t *testing.T) {
	t.Parallel()
	// A start while the old server is still running or stopping succeeds, and leaves one server.
	dir := initializedDir(t)
	for range 5 {
		owner := startHelper(t, -1, "serve", dir)
		old := owner.postmasterPID(t)
		owner.kill()

		s := startServer(t, Options{Dir: dir})

		connect(t, s.URL())
		if syscall.Kill(old, 0) == nil && isPostgresIn(old, filepath.Join(dir, clusterName)) {
			t.Errorf("the old server %d is still running", old)
		}
		stopServer(t, s)
	}
}

func TestStart_StopsOrphanedServer(t *testing.T) {
	t.Parallel()
	// An orphaned server is stopped cleanly and a new one is started, also if the socket is in
	// another folder because the path is long.
	for name, dir := range map[string]string{
		"short": t.TempDir(),
		"long":  filepath.Join(t.TempDir(), strings.Repeat("long", 30)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, Options{Dir: dir})
			insertRow(t, s.URL())
			stopServer(t, s)
			orphan := startOrphan(t, s.cluster)

			next := startServer(t, Options{Dir: dir})

			checkRow(t, next.URL())
			<-orphan
			log := lastLines(filepath.Join(dir, "postgres.log"), 1000)
			if strings.Contains(log, "not properly shut down") {
				t.Errorf("the orphan was not stopped cleanly:\n%s", log)
			}
		})
	}
}

func TestStopOrphans_KillsUnresponsiveServer(t *testing.T) {
	t.Parallel()
	// An orphan that does not react is killed, and the next start recovers.
	dir := initializedDir(t)
	s := startServer(t, Options{Dir: dir})
	insertRow(t, s.URL())
	stopServer(t, s)
	orphan := startOrphan(t, s.cluster)
	file, _ := readPIDFile(s.cluster.path)
	if err := syscall.Kill(file.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	quiet := logrus.New()
	quiet.SetOutput(io.Discard)

	err := stopOrphans(t.Context(), s.cluster.path, stopTimeouts{graceful: 50 * time.Millisecond, forced: time.Second}, quiet)

	if err != nil {
		t.Fatal(err)
	}
	<-orphan
	checkStopped(t, dir)
	checkRow(t, startServer(t, Options{Dir: dir}).URL())
}

func TestStart_IgnoresStalePIDFile(t *testing.T) {
	t.Parallel()
	// After a crash of the machine the PID file may contain the id of no process or of an unrelated
	// one. The server starts, and the unrelated process is not stopped.
	dir := initializedDir(t)
	s := startServer(t, Options{Dir: dir})
	stopServer(t, s)
	// Postgres itself would take a process of the same user for a server.
	unrelated := exec.Command("sleep", "600")
	unrelated.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if s.cluster.owner.dropPrivileges {
		unrelated.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.cluster.owner.uid), Gid: uint32(s.cluster.owner.gid)}
	}
	exited := make(chan error, 1)
	if err := startOnLockedThread(unrelated, func(err error) { exited <- err }); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unrelated.Process.Kill(); <-exited }()

	for name, text := range map[string]string{
		"an unrelated process": strconv.Itoa(unrelated.Process.Pid) + "\n/proc/self/fd/3\n1\n5432\n.\n\n 1 2\nready   \n",
		"no process":           "4194000\n/proc/self/fd/3\n1\n5432\n.\n\n 1 2\nready   \n",
	} {
		path := filepath.Join(s.cluster.path, pidFileName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.cluster.owner.chown(path); err != nil {
			t.Fatal(err)
		}
		if url, ok := RunningURL(dir); ok {
			t.Errorf("%s: found a server at %s", name, url)
		}

		next := startServer(t, Options{Dir: dir})

		connect(t, next.URL())
		stopServer(t, next)
	}
	select {
	case err := <-exited:
		t.Errorf("the unrelated process was stopped: %v", err)
	default:
	}
}

func TestStart_LongPathUsesTempSocket(t *testing.T) {
	t.Parallel()
	// If the path of the data folder is too long for a socket, the socket is in a temporary folder
	// that is removed with the server.
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	s := startServer(t, Options{Dir: dir})
	connect(t, s.URL())
	if url, ok := RunningURL(dir); !ok || url != s.URL() {
		t.Errorf("RunningURL returned %q, %v; want %q", url, ok, s.URL())
	}
	if info, err := os.Stat(s.socketDir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the socket: %v, %v", info, err)
	}

	stopServer(t, s)

	if _, err := os.Stat(s.socketDir); !os.IsNotExist(err) {
		t.Errorf("the folder of the socket still exists: %v", err)
	}
}

func TestRemoveSocketFolder_OnlyOwnFolders(t *testing.T) {
	t.Parallel()
	// The socket folder is read from a PID file, which may contain anything. Only folders created
	// by makeSocketFolder are removed.
	unrelated := t.TempDir()
	for _, path := range []string{unrelated, "/tmp", "/tmp/causeway-pg-x/../../" + strings.TrimPrefix(unrelated, "/"), "", "."} {
		if err := removeSocketFolder(path); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(unrelated); err != nil {
		t.Errorf("an unrelated folder was removed: %v", err)
	}
}

func FuzzParsePIDFile(f *testing.F) {
	f.Add("8613\n/proc/self/fd/3\n1795225793\n5432\n.\n\n 10085658        10\nready   \n")
	f.Add("8613\n")
	f.Add("-1\n\n\n\n\n\n\nready")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		// A parsed process id is always positive, so that no signal goes to a process group.
		file, ok := parsePIDFile(text)
		if ok && file.pid <= 0 || !ok && file != (pidFile{}) {
			t.Errorf("parsePIDFile(%q) = %+v, %v", text, file, ok)
		}
	})
}

// startOrphan starts a server without the lock of its folder, as if its owner had been killed
// without the kernel stopping the server. The channel is closed when it has exited.
func startOrphan(t *testing.T, c cluster) <-chan struct{} {
	t.Helper()
	sockets, err := c.makeSocketFolder()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{cluster: c, socketDir: sockets, exited: make(chan struct{})}
	flags, err := Options{}.flags()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.launch(filepath.Join(filepath.Dir(c.path), "postgres.log"), flags); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.process.Kill() })
	if err := s.awaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.exited
}
