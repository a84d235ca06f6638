package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
)

func TestHosts_GiveUpEndsOnlyWhatIsSilent(t *testing.T) {
	t.Parallel()
	// When a host does not answer, what waits for it ends with this reason, and it is not dialled again. A connection that has received
	// something since the question is kept, and when more arrives on it the host is dialled again.
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "server"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	hosts := newDatabaseHosts()
	address := listener.Addr().String()
	open := func() (near, far net.Conn) {
		t.Helper()
		near, err := hosts.dialer(time.Minute, 0)(t.Context(), "unix", address)
		if err != nil {
			t.Fatal(err)
		}
		if far, err = listener.Accept(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = errors.Join(near.Close(), far.Close()) })
		return near, far
	}
	hear := func(near, far net.Conn) {
		t.Helper()
		_, err := far.Write([]byte{1})
		if _, failed := io.ReadFull(near, make([]byte, 1)); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	silent, silentFar := open()
	answering, answeringFar := open()
	hear(silent, silentFar)
	asked := time.Now()
	hear(answering, answeringFar)
	waiting := make(chan error, 1)
	go func() {
		_, err := silent.Read(make([]byte, 1))
		waiting <- err
	}()

	hosts.at(address).giveUp(asked)

	if err := <-waiting; !errors.Is(err, errNoAnswer) || !IsUnavailable(err) {
		t.Errorf("a read that waited: %v", err)
	}
	if _, err := hosts.dialer(time.Minute, 0)(t.Context(), "unix", address); !errors.Is(err, errNoAnswer) {
		t.Errorf("dialled: %v", err)
	}
	hear(answering, answeringFar)
	open()
}

func TestHosts_UnansweredFirstMessageShowsSilence(t *testing.T) {
	t.Parallel()
	// A host that accepts a connection and sends nothing until the deadline of a connection attempt is silent. A shorter attempt, as
	// for a request that ends, shows nothing.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	for age, want := range map[time.Duration]bool{0: false, answerTicks * answerTick: true} {
		hosts := newDatabaseHosts()
		conn, err := hosts.dialer(time.Minute, 0)(t.Context(), "tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		timed := conn.(markedConn).Conn.(*timedConn)
		timed.dialled = timed.dialled.Add(-age)
		if err := conn.SetDeadline(time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err == nil || !want && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: %v", err)
		}
		if got := hosts.at(listener.Addr().String()).silent.Load(); got != want {
			t.Errorf("silent after %s: %t", age, got)
		}
	}
}

func TestOpen_SlowStatementIsNotGivenUp(t *testing.T) {
	t.Parallel()
	// A statement that runs for longer than a server may take for an answer ends as usual, because the server answers another session.
	db, err := Open(t.Context(), Options{URL: pgtest.New(t), MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if _, err := db.pool.Exec(t.Context(), "SELECT pg_sleep(5)"); err != nil {
		t.Error(err)
	}
}

func TestOpen_LostProbeIsOpenedAgain(t *testing.T) {
	t.Parallel()
	// The end of the session that watches the server, as by an administrator, ends no other, and another session takes its place.
	url := pgtest.New(t)
	db, err := Open(t.Context(), Options{URL: url, MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	watching := func() (pid int) {
		for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline) && pid == 0; time.Sleep(20 * time.Millisecond) {
			if err := db.pool.QueryRow(t.Context(), `SELECT coalesce(max(pid), 0) FROM pg_stat_activity
				WHERE datname = current_database() AND application_name = 'causeway watch'`).Scan(&pid); err != nil {
				t.Fatal(err)
			}
		}
		return pid
	}
	first := watching()
	pgtest.ExecAsSuperuser(t, url, fmt.Sprintf("SELECT pg_terminate_backend(%d, 60000)", first)) // returns when it has ended
	if again := watching(); first == 0 || again == 0 {
		t.Errorf("watched by %d and then by %d", first, again)
	}
}

func TestDatabaseHosts_WatcherGoesOnAfterAPanic(t *testing.T) {
	t.Parallel()
	// A watcher that panics is reported and begun again, and ends with its context.
	ctx, cancel := context.WithCancel(t.Context())
	hosts, runs, panics := newDatabaseHosts(), 0, []string{}
	hosts.panicked = func(value any, stack []byte) { panics = append(panics, fmt.Sprint(value, len(stack) > 0)) }

	hosts.keepRunning(ctx, func() {
		if runs++; runs == 1 {
			panic("first")
		}
		cancel()
	})

	if runs != 2 || !slices.Equal(panics, []string{"firsttrue"}) {
		t.Errorf("%d runs, panics %q", runs, panics)
	}
}
