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
	// Committed data survives a restart, and RunningURL reports correctly whether a server runs.
	dir := filepath.Join(t.TempDir(), "created", "on", "demand")
	if url, ok := RunningURL(dir); ok {
		t.Fatalf("found a server at %s before the first start", url)
	}

	first := startServer(t, Options{Dir: dir})
	insertRow(t, first.URL())
	if url, ok := RunningURL(dir); !ok || url != first.URL() {
		t.Errorf("RunningURL returned %q, %v; want %q", url, ok, first.URL())
	}
	if url, ok := RunningSuperuserURL(dir); !ok || url != first.SuperuserURL() {
		t.Errorf("RunningSuperuserURL returned %q, %v; want %q", url, ok, first.SuperuserURL())
	}
	stopServer(t, first)

	select {
	case <-first.Done():
	default:
		t.Error("Done is not closed after Stop")
	}
	if url, ok := RunningURL(dir); ok {
		t.Errorf("found a server at %s after Stop", url)
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Errorf("second Stop: %v", err)
	}

	second := startServer(t, Options{Dir: dir})
	checkRow(t, second.URL())
}

func TestServer_ServiceRoleIsNotSuperuser(t *testing.T) {
	t.Parallel()
	// The service's role owns its database, may create roles, and has no other privileges.
	s := startServer(t, Options{Dir: initializedDir(t)})
	conn := connect(t, s.URL())

	if got := queryValue[string](t, conn, "SELECT rolsuper::text || rolcreatedb::text || rolcreaterole::text FROM pg_roles WHERE rolname = "+
		"current_user"); got != "falsefalsetrue" {
		t.Errorf("superuser, createdb, createrole: %s", got)
	}
	if got := queryValue[string](
		t, conn, "SELECT datdba::regrole::text FROM pg_database WHERE datname = current_database()"); got != serviceRole {
		t.Errorf("the database belongs to %s", got)
	}
	if !queryValue[bool](t, connect(t, s.SuperuserURL()), "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") {
		t.Error("SuperuserURL is not that of a superuser")
	}
}

func TestStart_SecondStartIsRejected(t *testing.T) {
	t.Parallel()
	// A second start on a folder fails and names the process that uses it. After the first server
	// has stopped, the folder can be used again.
	dir := initializedDir(t)
	first := startServer(t, Options{Dir: dir})

	_, err := Start(t.Context(), Options{Dir: dir})

	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) || !strings.Contains(err.Error(), dir) {
		t.Errorf("second start: %v", err)
	}
	connect(t, first.URL())
	stopServer(t, first)
	startServer(t, Options{Dir: dir})
}

func TestServer_HasOwnProcessGroup(t *testing.T) {
	t.Parallel()
	// Postgres has its own process group, so that Ctrl-C does not stop it before the service.
	s := startServer(t, Options{Dir: initializedDir(t)})
	group, err := syscall.Getpgid(s.process.Pid)
	if err != nil || group != s.process.Pid {
		t.Errorf("postgres %d is in group %d (%v)", s.process.Pid, group, err)
	}
}

func TestStop_DisconnectsClients(t *testing.T) {
	t.Parallel()
	// An open transaction does not delay Stop, and is rolled back.
	dir := initializedDir(t)
	s := startServer(t, Options{Dir: dir})
	insertRow(t, s.URL())
	idle := connect(t, s.URL())
	execSQL(t, idle, "BEGIN; UPDATE saved SET n = 0")

	stopServer(t, s)

	checkRow(t, startServer(t, Options{Dir: dir}).URL())
}

func TestStop_CancelledContext(t *testing.T) {
	t.Parallel()
	// Stop with a cancelled context kills the server, returns an error and loses no committed data.
	dir := initializedDir(t)
	s, err := Start(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	insertRow(t, s.URL())
	// A suspended process does not react to SIGINT.
	if err := s.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	resume := time.AfterFunc(100*time.Millisecond, func() { _ = s.process.Signal(syscall.SIGCONT) })
	defer resume.Stop()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()

	err = s.Stop(cancelled)

	// Postgres may receive both signals at once and shut down cleanly.
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Stop: %v", err)
	}
	checkStopped(t, dir)
	checkRow(t, startServer(t, Options{Dir: dir}).URL())
}

func TestServer_DoneClosesWhenProcessDies(t *testing.T) {
	t.Parallel()
	// Done is closed when the server is killed. Stop then returns no error, and the next start
	// works while a client is still waiting.
	dir := initializedDir(t)
	s := startServer(t, Options{Dir: dir})
	insertRow(t, s.URL())
	busy := connect(t, s.URL())
	queryErr := make(chan error, 1)
	go func() {
		_, err := busy.Exec(context.Background(), "SELECT pg_sleep(600)")
		queryErr <- err
	}()

	if err := s.process.Kill(); err != nil {
		t.Fatal(err)
	}

	select {
	case <-s.Done():
	case <-time.After(3 * time.Minute):
		t.Fatal("Done was not closed")
	}
	stopServer(t, s)
	checkRow(t, startServer(t, Options{Dir: dir}).URL())
	if err := <-queryErr; err == nil {
		t.Error("the query of the killed server succeeded")
	}
}

func TestStart_CancelledLeavesNothing(t *testing.T) {
	t.Parallel()
	// A first start that is cancelled at any time leaves no process, and the next start removes
	// incomplete files.
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 150 * time.Millisecond, 300 * time.Millisecond} {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()

			s, err := Start(ctx, Options{Dir: dir})

			if err == nil { // it was fast enough
				stopServer(t, s)
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("cancelled start: %v", err)
			}
			checkStopped(t, dir)
			connect(t, startServer(t, Options{Dir: dir}).URL())
			if rest, _ := filepath.Glob(filepath.Join(dir, "*.new-*")); len(rest) > 0 {
				t.Errorf("incomplete databases left: %v", rest)
			}
		})
	}
}

func TestStart_ErrorIncludesLog(t *testing.T) {
	t.Parallel()
	// The error contains the end of the server's log, and the folder is unlocked.
	dir := initializedDir(t)
	_, err := Start(t.Context(), Options{Dir: dir, Settings: map[string]string{"shared_buffers": "nonsense"}})
	if err == nil || !strings.Contains(err.Error(), "shared_buffers") {
		t.Errorf("invalid setting: %v", err)
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
