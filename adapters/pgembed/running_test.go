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
	// When the process that owns the server is killed without a chance to tidy up,
	// Postgres shuts down by itself and leaves the folder as after a clean stop.
	dir := initializedDir(t)
	owner := startHelper(t, -1, "hold", dir)
	owner.postmasterPID(t)
	url, ok := RunningURL(dir)
	if !ok {
		t.Fatal("the server of another process is not found")
	}
	insertRow(t, url)

	owner.kill()

	checkStopped(t, dir)
	if _, err := os.Stat(filepath.Join(dir, clusterName, pidFileName)); !os.IsNotExist(err) {
		t.Errorf("the server did not tidy up: %v", err)
	}
	checkRow(t, startServer(t, Options{Dir: dir}).URL())
}

func TestStart_RightAfterOwnerIsKilled(t *testing.T) {
	t.Parallel()
	// The next start does not wait for the old server to be gone: it may find it
	// running, stopping or gone, and there is one server afterwards.
	dir := initializedDir(t)
	for range 5 {
		owner := startHelper(t, -1, "hold", dir)
		old := owner.postmasterPID(t)
		owner.kill()

		s := startServer(t, Options{Dir: dir})

		connect(t, s.URL())
		if syscall.Kill(old, 0) == nil && isPostgresIn(old, filepath.Join(dir, clusterName)) {
			t.Errorf("the old server %d is still there", old)
		}
		stopServer(t, s)
	}
}

func TestStart_StopsOrphanedServer(t *testing.T) {
	t.Parallel()
	// A server that nobody owns is stopped, cleanly, and another one started; in a
	// folder with a short path as in one whose socket lies elsewhere.
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
	// A leftover that does not react to a request is ended by force, and the next
	// start recovers.
	dir := initializedDir(t)
	s := startServer(t, Options{Dir: dir})
	insertRow(t, s.URL())
	stopServer(t, s)
	orphan := startOrphan(t, s.cluster)
	note, _ := readPIDFile(s.cluster.path)
	if err := syscall.Kill(note.pid, syscall.SIGSTOP); err != nil {
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
	// After a crash of the machine the note of the old server names a process that
	// is not there, is somebody else's, or makes no sense. None of it is in the way,
	// and nobody else's process is touched.
	dir := initializedDir(t)
	s := startServer(t, Options{Dir: dir})
	stopServer(t, s)
	// A process of the same user: Postgres itself takes such a one for a server.
	bystander := exec.Command("sleep", "600")
	bystander.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if s.cluster.owner.dropPrivileges {
		bystander.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.cluster.owner.uid), Gid: uint32(s.cluster.owner.gid)}
	}
	gone := make(chan error, 1)
	if err := startOnLockedThread(bystander, func(err error) { gone <- err }); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bystander.Process.Kill(); <-gone }()

	for name, text := range map[string]string{
		"a bystander": strconv.Itoa(bystander.Process.Pid) + "\n/proc/self/fd/3\n1\n5432\n.\n\n 1 2\nready   \n",
		"nobody":      "4194000\n/proc/self/fd/3\n1\n5432\n.\n\n 1 2\nready   \n",
	} {
		path := filepath.Join(s.cluster.path, pidFileName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.cluster.owner.chown(path); err != nil {
			t.Fatal(err)
		}
		if url, ok := RunningURL(dir); ok {
			t.Errorf("%s passes for a server at %s", name, url)
		}

		next := startServer(t, Options{Dir: dir})

		connect(t, next.URL())
		stopServer(t, next)
	}
	select {
	case err := <-gone:
		t.Errorf("the bystander was ended: %v", err)
	default:
	}
}

func TestStart_LongPathUsesTempSocket(t *testing.T) {
	t.Parallel()
	// A data folder whose path is too long for a socket works like any other, and
	// the folder of its socket goes away with the server.
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	s := startServer(t, Options{Dir: dir})
	connect(t, s.URL())
	if url, ok := RunningURL(dir); !ok || url != s.URL() {
		t.Errorf("Running says %q, %v; want %q", url, ok, s.URL())
	}
	if info, err := os.Stat(s.socketDir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the socket: %v, %v", info, err)
	}

	stopServer(t, s)

	if _, err := os.Stat(s.socketDir); !os.IsNotExist(err) {
		t.Errorf("the folder of the socket is still there: %v", err)
	}
}

func TestRemoveSocketFolder_OnlyOwnFolders(t *testing.T) {
	t.Parallel()
	// Where the socket lay is read from a file that we did not write; nothing but a
	// folder that we made is removed for it.
	mine := t.TempDir()
	for _, path := range []string{mine, "/tmp", "/tmp/causeway-pg-x/../../" + strings.TrimPrefix(mine, "/"), "", "."} {
		if err := removeSocketFolder(path); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("a folder of somebody else is gone: %v", err)
	}
}

func FuzzParsePIDFile(f *testing.F) {
	f.Add("8613\n/proc/self/fd/3\n1795225793\n5432\n.\n\n 10085658        10\nready   \n")
	f.Add("8613\n")
	f.Add("-1\n\n\n\n\n\n\nready")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		// Whatever the note says, a server that passes for ready has a process that a
		// signal can be sent to, and not to a group or to everyone.
		n, ok := parsePIDFile(text)
		if ok && n.pid <= 0 || !ok && n != (pidFile{}) {
			t.Errorf("parseNote(%q) = %+v, %v", text, n, ok)
		}
	})
}

// startOrphan runs a server that no process owns, as if its owner had been killed
// and the kernel had not told it. The channel is closed when it has ended.
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
