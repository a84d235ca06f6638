package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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

func TestDatabaseHosts_ProbeIsOfTheServerThatAnswered(t *testing.T) {
	t.Parallel()
	// The first server is refused. The session is that of the second one, although the first one is dialled again after it, as the driver
	// does to cancel what it has asked.
	database := pgtest.New(t)
	first, second := forward(t, database), forward(t, database)
	config := severalHosts(t, database, first, second)
	var refused *pgconn.PgConn
	config.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if refused == nil {
			refused = conn
			return errors.New("it is refused")
		}
		return refused.CancelRequest(ctx)
	}
	hosts := newDatabaseHosts()

	conn, host, err := hosts.openProbe(t.Context(), config)

	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeNow(conn) })
	if host != hosts.at(second) {
		t.Error("the session is of another server")
	}
}

func TestDatabaseHosts_TimelinesAreReadWithoutEncryption(t *testing.T) {
	t.Parallel()
	// With a URL that prefers encryption, also servers that have none are asked for their timeline.
	database := pgtest.New(t)
	first, second := forward(t, database), forward(t, database)
	hosts := newDatabaseHosts()
	writable := writableHosts(severalHosts(t, database, first, second))
	if len(writable) != 2 {
		t.Fatalf("%d servers, want 2", len(writable))
	}
	for _, one := range writable {
		go hosts.watchTimeline(t.Context(), one)
	}
	for _, address := range []string{first, second} {
		await(t, func() bool { return hosts.at(address).timeline.Load() > 0 })
	}
}

func TestDatabaseHosts_ReadersMayUseAnyHost(t *testing.T) {
	t.Parallel()
	// The session that asks a server of readers makes it no primary: other hosts are dialled as before. Of the hosts for writing it does.
	database := pgtest.New(t)
	first, second := forward(t, database), forward(t, database)
	for _, writes := range []bool{false, true} {
		hosts, config := newDatabaseHosts(), severalHosts(t, database, first, second)
		var writable []*pgx.ConnConfig
		if writes {
			writable = writableHosts(config)
		}
		ctx, end := context.WithCancel(t.Context())
		t.Cleanup(end)
		go hosts.watch(ctx, config, writable)
		await(t, func() bool { return hosts.at(first).isAsked() })
		if writes {
			await(t, func() bool { return hosts.primary.Load() == hosts.at(first) })
		}

		conn, err := hosts.dialer(time.Minute, 0)(t.Context(), "tcp", second)

		if err == nil {
			_ = conn.Close()
		}
		if refused := errors.Is(err, errNotPrimary); refused != writes || !refused && err != nil {
			t.Errorf("writes %t: dialled another host: %v", writes, err)
		}
	}
}

func TestDatabaseHosts_OnlyConnectionsToThePrimaryStay(t *testing.T) {
	t.Parallel()
	// When a server becomes the primary, connections to others end, also one that is being dialled then. Those to the primary stay, and a
	// server that has found another primary than it knew replaces none.
	database := pgtest.New(t)
	first, second := forward(t, database), forward(t, database)
	hosts := newDatabaseHosts()
	dial := hosts.dialer(time.Minute, 0)
	toFirst, err := dial(t.Context(), "tcp", first)
	if err != nil {
		t.Fatal(err)
	}
	toSecond, err := dial(t.Context(), "tcp", second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(toFirst.Close(), toSecond.Close()) })
	becomePrimary := newDialer(time.Minute)
	becomePrimary.Control = func(string, string, syscall.RawConn) error {
		if !hosts.replacePrimary(nil, hosts.at(second)) {
			return errors.New("it did not become the primary")
		}
		return nil
	}

	_, err = hosts.dialPrimary(t.Context(), hosts.at(first), becomePrimary, "tcp", first, 0)

	if !errors.Is(err, errNotPrimary) || !IsUnavailable(err) {
		t.Errorf("dialled meanwhile: %v", err)
	}
	if _, err := toFirst.Write([]byte{0}); !errors.Is(err, errNotPrimary) || !IsUnavailable(err) {
		t.Errorf("to the former server: %v", err)
	}
	if _, err := toSecond.Write([]byte{0}); err != nil {
		t.Errorf("to the primary: %v", err)
	}
	if hosts.replacePrimary(nil, hosts.at(first)) {
		t.Error("another primary was replaced than the one that was known")
	}
}

// isAsked reports whether a session has been answered for a while.
func (h *databaseHost) isAsked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if !c.isSilent(c.dialled.Add(3 * probeInterval)) {
			return true
		}
	}
	return false
}

func await(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come")
		}
	}
}

// severalHosts returns the configuration of a URL that has servers instead of the one of a database, and does not mention encryption.
func severalHosts(t *testing.T, database string, servers ...string) *pgx.ConnConfig {
	t.Helper()
	several, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	query := several.Query()
	for _, name := range []string{"host", "port", "sslmode"} {
		query.Del(name)
	}
	query.Set("target_session_attrs", "read-write")
	query.Set("connect_timeout", "600")
	several.Host, several.RawQuery = strings.Join(servers, ","), query.Encode()
	config, err := pgx.ParseConfig(several.String())
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// forward returns the address of a server that passes connections on to a database.
func forward(t *testing.T, database string) (address string) {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	pass := func(client net.Conn) {
		defer func() { _ = client.Close() }()
		network, address := pgconn.NetworkAddress(config.Host, config.Port)
		server, err := net.Dial(network, address)
		if err != nil {
			return
		}
		defer func() { _ = server.Close() }()
		go func() {
			_, _ = io.Copy(client, server)
			_ = client.Close()
		}()
		_, _ = io.Copy(server, client)
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go pass(client)
		}
	}()
	return listener.Addr().String()
}
