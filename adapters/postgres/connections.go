package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/sys/unix"

	"causeway/adapters/postgres/schema"
)

// Limits after which a connection to a host that does not respond is given up, on both sides. The
// server then rolls back what the connection began and releases its locks.
const (
	connectTimeout    = 3 * time.Second
	pingTimeout       = 2 * time.Second
	unackedTimeout    = 10 * time.Second // sent data that the other host does not acknowledge
	keepAliveIdle     = 5 * time.Second
	keepAliveInterval = 2 * time.Second
	keepAliveCount    = 3

	// maxReadSilence is longer than any statement of a report may run without a row.
	maxReadSilence = 5 * time.Minute
)

// commonSettings are the settings of every session.
var commonSettings = map[string]string{
	"application_name": "causeway work",
	"timezone":         "UTC",
	// What follows a lock must show what the lock has waited for, whatever is the default of the database.
	"default_transaction_isolation": "read committed",
	"jit":                           "off", // compiling short statements costs more than it saves
	"random_page_cost":              "1.1", // suits SSDs
}

// keyLookupSettings make the planner look rows up by key. A prepared statement keeps its plan, and
// a plan made while a table was small must still be good when the table is large.
var keyLookupSettings = map[string]string{
	"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
	"plan_cache_mode": "force_generic_plan", // planning costs more than it can win
}

// serverConnectionSettings make the server notice that the host of a connection has vanished. They
// are set after connecting, because a server that does not support them must still be usable.
var serverConnectionSettings = map[string]string{
	"tcp_keepalives_idle":              strconv.Itoa(int(keepAliveIdle / time.Second)),
	"tcp_keepalives_interval":          strconv.Itoa(int(keepAliveInterval / time.Second)),
	"tcp_keepalives_count":             strconv.Itoa(keepAliveCount),
	"tcp_user_timeout":                 milliseconds(unackedTimeout),
	"client_connection_check_interval": milliseconds(keepAliveIdle), // while a statement runs or waits for a lock
}

// workSettings are the session settings of units of work and of reads by key.
func (o Options) workSettings() map[string]string {
	settings := maps.Clone(commonSettings)
	maps.Copy(settings, map[string]string{
		"lock_timeout": milliseconds(o.LockTimeout), "idle_in_transaction_session_timeout": milliseconds(o.IdleTimeout),
		"statement_timeout": milliseconds(o.StatementTimeout), platformSetting: o.platformOf(context.Background()),
	})
	if !o.ForReports {
		maps.Copy(settings, keyLookupSettings)
	}
	return settings
}

// readSettings are the session settings of lists, reports and exports.
func (o Options) readSettings() map[string]string {
	settings := o.workSettings()
	settings["application_name"] = "causeway readers"
	settings["statement_timeout"] = milliseconds(o.ReadTimeout)
	settings["idle_in_transaction_session_timeout"] = "60000"
	settings["default_transaction_read_only"] = "on"
	return settings
}

// OpenOwner returns connections with the login of the URL, for migrations. It does not connect yet.
// A statement may take as long as it needs.
func OpenOwner(databaseURL string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, err
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	dialer := newDialer(config.ConnectTimeout)
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		return newDatabaseHosts().at(address).dial(ctx, dialer, network, address, 0) // each time, because no session is asked meanwhile
	}
	return stdlib.OpenDB(*config), nil
}

// prepareSession sets the role and the settings of a new connection, and makes the server notice a
// lost client. The settings are not parameters of the connection: a pooler may refuse those, and
// target_session_attrs=read-write takes a session that is read-only from the start for a standby's.
func prepareSession(ctx context.Context, conn *pgx.Conn, settings map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, conn.Config().ConnectTimeout)
	defer cancel()
	if err := setServiceRole(ctx, conn); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(settings))
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = settings[name]
	}
	if _, err := conn.Exec(ctx, `SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS s(name, value)`, names,
		values); err != nil {
		return err
	}
	setSessionPlatform(conn, settings[platformSetting])
	for name, value := range serverConnectionSettings {
		_, err := conn.Exec(ctx, `SELECT set_config($1, $2, false) WHERE current_setting($1, true) IS NOT NULL`, name, value)
		var refused *pgconn.PgError
		if err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	return nil
}

func setServiceRole(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SET ROLE causeway_service")
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch pg.Code {
	case "22023": // the role does not exist
		return errors.New("it has no role causeway_service; run causeway migrate")
	case "42501": // not a member of the role
		return fmt.Errorf("its login %[1]s is not a member of the role causeway_service; run: GRANT causeway_service TO %[1]s",
			conn.Config().User)
	}
	return err
}

// Connect opens a connection outside the pool, for session locks that are held for long. It sees
// the rows of all platforms. Waiting for a notification on it has no limit; only a host that does
// not answer ends it.
func (db *DB) Connect(ctx context.Context) (*pgx.Conn, error) {
	config := db.pool.Config().ConnConfig
	config.DialFunc = db.hosts.dialer(config.ConnectTimeout, 0)
	if err := closeInsteadOfCancel(ctx, config); err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	schema.RegisterCodecs(conn.TypeMap())
	settings := maps.Clone(db.sessionSettings)
	settings[platformSetting] = allPlatforms
	if err = prepareSession(ctx, conn, settings); err == nil {
		err = db.changes.check(ctx, conn)
	}
	if err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// closeInsteadOfCancel prepares a new connection that writes. The driver asks the server to cancel the statement of a connection that it
// gives up, as at the end of a request. A commit that waits for its synchronous standby would then be shown to everybody, and a
// repeated request be answered with it, although it is lost with this server. So the connection is closed: the commit goes on waiting,
// and other statements end when the server notices.
func closeInsteadOfCancel(_ context.Context, config *pgx.ConnConfig) error {
	var connected atomic.Pointer[markedConn]
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if conn := connected.Load(); conn != nil { // the driver uses the same function to send the request
			return nil, errors.Join(errNoCancel, conn.Close())
		}
		return dial(ctx, network, address)
	}
	config.AfterConnect = func(_ context.Context, conn *pgconn.PgConn) error {
		dialled, err := dialledConn(conn)
		if err == nil {
			connected.Store(&dialled)
		}
		return err
	}
	return nil
}

var errNoCancel = errors.New("statements are not cancelled, because one may be a commit that waits for a standby")

// newDialer returns what opens network connections to the database.
func newDialer(timeout time.Duration) net.Dialer {
	return net.Dialer{
		Timeout:         timeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount},
		Control:         setUnackedTimeout,
	}
}

// connError is an error of a network connection to the database. Others, such as of a folder or of a partner, are not: they do
// not mean that the database is not available.
type connError struct{ error }

func (e *connError) Unwrap() error { return e.error }

// Timeout and Temporary implement net.Error.
func (e *connError) Timeout() bool {
	var network net.Error
	return errors.As(e.error, &network) && network.Timeout()
}

func (e *connError) Temporary() bool { return e.Timeout() }

// markedConn returns connErrors.
type markedConn struct {
	net.Conn
	host *databaseHost // that it leads to
}

// dialledConn returns what was dialled for a connection, which may be wrapped, as tls.Conn does. It is closed without a word to the server.
func dialledConn(conn *pgconn.PgConn) (markedConn, error) {
	network := conn.Conn()
	for {
		wrapped, ok := network.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		network = wrapped.NetConn()
	}
	if marked, ok := network.(markedConn); ok {
		return marked, nil
	}
	return markedConn{}, fmt.Errorf("a connection to the database is a %T", network)
}

// Read implements net.Conn.
func (c markedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		err = &connError{err}
	}
	return n, err
}

// Write implements net.Conn.
func (c markedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil {
		err = &connError{err}
	}
	return n, err
}

// setUnackedTimeout ends a connection whose data is not acknowledged. Keep-alive packets alone do
// not, while data is waiting to be sent.
func setUnackedTimeout(network, _ string, c syscall.RawConn) error {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil
	}
	var refused error
	err := c.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unackedTimeout.Milliseconds()))
	})
	return errors.Join(err, refused)
}

// timedConn is a connection on which each read and write has a deadline, so that a statement whose
// context has none ends too, also if only the process of its session has stopped.
type timedConn struct {
	net.Conn
	host       *databaseHost
	maxSilence time.Duration // zero for none
	dialled    time.Time
	givenUp    atomic.Pointer[error] // why it was closed; nil unless its host was given up

	mu                          sync.Mutex
	received                    time.Time // when something was received; zero before the first time
	readDeadline, writeDeadline time.Time // set by the driver; zero for none
}

// Read implements net.Conn.
func (c *timedConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	err := c.Conn.SetReadDeadline(c.earliest(c.readDeadline))
	c.mu.Unlock()
	if err != nil {
		return 0, c.reason(err)
	}
	n, err := c.Conn.Read(b)
	switch {
	case n > 0:
		c.mu.Lock()
		c.received = time.Now()
		c.mu.Unlock()
		if c.host.silent.Load() {
			c.host.silent.Store(false)
		}
	case errors.Is(err, os.ErrDeadlineExceeded) && c.isSilent(c.dialled) && time.Since(c.dialled) >= answerTicks*answerTick:
		c.host.giveUp(c.dialled) // it has accepted the connection, and no more
	}
	return n, c.reason(err)
}

// Write implements net.Conn.
func (c *timedConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	err := c.Conn.SetWriteDeadline(c.earliest(c.writeDeadline))
	c.mu.Unlock()
	if err != nil {
		return 0, c.reason(err)
	}
	n, err := c.Conn.Write(b)
	return n, c.reason(err)
}

// Close implements net.Conn.
func (c *timedConn) Close() error {
	c.host.remove(c)
	return c.Conn.Close()
}

// reason returns why a read or write has failed.
func (c *timedConn) reason(err error) error {
	if givenUp := c.givenUp.Load(); err != nil && givenUp != nil {
		return *givenUp
	}
	return err
}

func (c *timedConn) isSilent(since time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.received.Before(since)
}

func (c *timedConn) earliest(deadline time.Time) time.Time {
	if c.maxSilence == 0 {
		return deadline
	}
	limit := time.Now().Add(c.maxSilence)
	if deadline.IsZero() || limit.Before(deadline) {
		return limit
	}
	return deadline
}

// SetDeadline implements net.Conn.
func (c *timedConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readDeadline, c.writeDeadline = t, t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *timedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readDeadline = t
	return c.Conn.SetReadDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (c *timedConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeDeadline = t
	return c.Conn.SetWriteDeadline(t)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
