package pgembed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestServer_DataSurvivesRestart(t *testing.T) {
	t.Parallel()
	// What was committed is there after a stop and a start, and at every moment the
	// folder tells truly whether a server runs on it.
	dir := filepath.Join(t.TempDir(), "made", "on", "demand")
	if url, ok := RunningURL(dir); ok {
		t.Fatalf("a server at %s before the first start", url)
	}

	first := startServer(t, Options{Dir: dir})
	insertRow(t, first.URL())
	if url, ok := RunningURL(dir); !ok || url != first.URL() {
		t.Errorf("Running says %q, %v; want %q", url, ok, first.URL())
	}
	if url, ok := RunningSuperuserURL(dir); !ok || url != first.SuperuserURL() {
		t.Errorf("RunningSuperuser says %q, %v; want %q", url, ok, first.SuperuserURL())
	}
	stopServer(t, first)

	select {
	case <-first.Done():
	default:
		t.Error("a stopped server is not done")
	}
	if url, ok := RunningURL(dir); ok {
		t.Errorf("a server at %s after the stop", url)
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Errorf("stopping twice: %v", err)
	}

	second := startServer(t, Options{Dir: dir})
	checkRow(t, second.URL())
}

func TestServer_ServiceRoleIsNotSuperuser(t *testing.T) {
	t.Parallel()
	// The service owns its database, may make the role it works as, and no more.
	s := startServer(t, Options{Dir: initializedDir(t)})
	conn := connect(t, s.URL())

	if got := queryValue[string](t, conn, "SELECT rolsuper::text || rolcreatedb::text || rolcreaterole::text FROM pg_roles WHERE rolname = current_user"); got != "falsefalsetrue" {
		t.Errorf("superuser, createdb, createrole: %s", got)
	}
	if got := queryValue[string](t, conn, "SELECT datdba::regrole::text FROM pg_database WHERE datname = current_database()"); got != serviceRole {
		t.Errorf("the database belongs to %s", got)
	}
	if !queryValue[bool](t, connect(t, s.SuperuserURL()), "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") {
		t.Error("SuperuserURL is not that of a superuser")
	}
}

func TestStart_SecondStartIsRejected(t *testing.T) {
	t.Parallel()
	// The second start on a folder is refused and says who has it; the first server
	// does not notice. When the first is gone, the folder is free.
	dir := initializedDir(t)
	first := startServer(t, Options{Dir: dir})

	_, err := Start(t.Context(), Options{Dir: dir})

	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) || !strings.Contains(err.Error(), dir) {
		t.Errorf("the second start answers %v", err)
	}
	connect(t, first.URL())
	stopServer(t, first)
	startServer(t, Options{Dir: dir})
}

func TestServer_HasOwnProcessGroup(t *testing.T) {
	t.Parallel()
	// Ctrl-C goes to our process group; Postgres has one of its own, so that it is
	// stopped last.
	s := startServer(t, Options{Dir: initializedDir(t)})
	group, err := syscall.Getpgid(s.process.Pid)
	if err != nil || group != s.process.Pid {
		t.Errorf("postgres %d is in group %d (%v)", s.process.Pid, group, err)
	}
}

func TestStop_DisconnectsClients(t *testing.T) {
	t.Parallel()
	// A client in the middle of a transaction does not hold up a stop, and what it
	// did not commit is not there afterwards.
	dir := initializedDir(t)
	s := startServer(t, Options{Dir: dir})
	insertRow(t, s.URL())
	idle := connect(t, s.URL())
	execSQL(t, idle, "BEGIN; UPDATE kept SET n = 0")

	stopServer(t, s)

	checkRow(t, startServer(t, Options{Dir: dir}).URL())
}

func TestStop_CancelledContext(t *testing.T) {
	t.Parallel()
	// A stop that may not take any time says that it was rough, leaves no process,
	// and loses nothing that was committed.
	dir := initializedDir(t)
	s, err := Start(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	insertRow(t, s.URL())
	// A stopped process cannot answer a polite request.
	if err := s.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	resume := time.AfterFunc(100*time.Millisecond, func() { _ = s.process.Signal(syscall.SIGCONT) })
	defer resume.Stop()
	hurry, cancel := context.WithCancel(t.Context())
	cancel()

	err = s.Stop(hurry)

	// Postgres may be quick enough to see both requests at once and end well.
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("a stop in a hurry answers %v", err)
	}
	checkStopped(t, dir)
	checkRow(t, startServer(t, Options{Dir: dir}).URL())
}

func TestServer_DoneClosesWhenProcessDies(t *testing.T) {
	t.Parallel()
	// Done is closed when the server dies under us; stopping it is no error, and
	// the next start comes up though a client is still waiting for an answer.
	dir := initializedDir(t)
	s := startServer(t, Options{Dir: dir})
	insertRow(t, s.URL())
	busy := connect(t, s.URL())
	answered := make(chan error, 1)
	go func() {
		_, err := busy.Exec(context.Background(), "SELECT pg_sleep(600)")
		answered <- err
	}()

	if err := s.process.Kill(); err != nil {
		t.Fatal(err)
	}

	select {
	case <-s.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("nobody noticed")
	}
	stopServer(t, s)
	checkRow(t, startServer(t, Options{Dir: dir}).URL())
	if err := <-answered; err == nil {
		t.Error("the client of the dead server got an answer")
	}
}

func TestStart_CancelledLeavesNothing(t *testing.T) {
	t.Parallel()
	// A first start that is given up at any moment leaves no process and nothing
	// half-made that the next start would trip over.
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 150 * time.Millisecond, 300 * time.Millisecond} {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()

			s, err := Start(ctx, Options{Dir: dir})

			if err == nil { // a fast machine
				stopServer(t, s)
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a start that is given up answers %v", err)
			}
			checkStopped(t, dir)
			connect(t, startServer(t, Options{Dir: dir}).URL())
			if rest, _ := filepath.Glob(filepath.Join(dir, "*.new-*")); len(rest) > 0 {
				t.Errorf("half-made databases are left: %v", rest)
			}
		})
	}
}

func TestStart_ErrorIncludesLog(t *testing.T) {
	t.Parallel()
	// The error carries what Postgres said, so that nobody has to look for its log,
	// and the folder is free again.
	dir := initializedDir(t)
	_, err := Start(t.Context(), Options{Dir: dir, Settings: map[string]string{"shared_buffers": "nonsense"}})
	if err == nil || !strings.Contains(err.Error(), "shared_buffers") {
		t.Errorf("a bad setting answers %v", err)
	}
	startServer(t, Options{Dir: dir})
}

func BenchmarkFirstStart(b *testing.B) {
	for b.Loop() {
		s, err := Start(b.Context(), Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func BenchmarkRestart(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		s, err := Start(b.Context(), Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		conn, err := pgx.Connect(b.Context(), s.URL())
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(conn.Close(b.Context()), s.Stop(b.Context())); err != nil {
			b.Fatal(err)
		}
	}
}
