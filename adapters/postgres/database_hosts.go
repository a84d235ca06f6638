package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A server that is stopped keeps its connections open, and its kernel acknowledges what is sent, so it looks like one that runs a long
// statement. One more session tells them apart: it asks every probeInterval for an empty answer, which no lock and no statement
// delays. If none comes within the ticks, 2.5 s after the server stopped at the latest, what waits for it is given up. The ticks
// are counted one by one, so that a pause of this process is not taken for one of the server.
const (
	probeInterval = 500 * time.Millisecond
	answerTick    = 250 * time.Millisecond
	answerTicks   = 8
)

// errNoAnswer is the error of connections to a server that has stopped to answer.
var errNoAnswer = errors.New("the database server accepts connections and does not answer")

// databaseHosts are the addresses of a database.
type databaseHosts struct {
	// primary is the server of the session that is asked, if the URL for writing has several hosts. Otherwise, and while there is no such
	// session, it is nil. Other servers are not dialled.
	primary atomic.Pointer[databaseHost]
	// panicked gets the panic of a watcher, which goes on; it may be nil.
	panicked func(value any, stack []byte)

	mu        sync.Mutex
	byAddress map[string]*databaseHost
}

func newDatabaseHosts() *databaseHosts { return &databaseHosts{byAddress: map[string]*databaseHost{}} }

// databaseHost is one address, with the open connections to it.
type databaseHost struct {
	silent      atomic.Bool  // has stopped to answer, and not answered since
	behindUntil atomic.Int64 // of a standby: until when it is left alone, in nanoseconds since 1970
	timeline    atomic.Int64 // of a server that accepts writes; see primaries.go

	mu    sync.Mutex
	conns map[*timedConn]struct{}
}

func (h *databaseHosts) at(address string) *databaseHost {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byAddress[address] == nil {
		h.byAddress[address] = &databaseHost{conns: map[*timedConn]struct{}{}}
	}
	return h.byAddress[address]
}

// dialer returns the function that opens the connections of a pool, whose reads and writes end after maxSilence, if it is not zero. A
// host that is silent is not dialled: the next one of the URL is tried at once, and a pool does not wait for it again and again.
func (h *databaseHosts) dialer(timeout, maxSilence time.Duration) pgconn.DialFunc {
	dial := newDialer(timeout)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host := h.at(address)
		switch {
		case host.silent.Load():
			return nil, &connError{errNoAnswer}
		case host.isBehind():
			return nil, &connError{errBehind}
		}
		return h.dialPrimary(ctx, host, dial, network, address, maxSilence)
	}
}

func (h *databaseHost) dial(ctx context.Context, dialer net.Dialer, network, address string, maxSilence time.Duration) (net.Conn, error) {
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, &connError{err}
	}
	timed := &timedConn{Conn: conn, host: h, maxSilence: maxSilence, dialled: time.Now()}
	h.mu.Lock()
	h.conns[timed] = struct{}{}
	h.mu.Unlock()
	return markedConn{timed, h}, nil
}

func (h *databaseHost) isBehind() bool { return time.Now().UnixNano() < h.behindUntil.Load() }

func (h *databaseHost) remove(c *timedConn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, c)
}

// giveUp closes the connections that have received nothing since a time. Others are kept: they may lead to another server behind the
// same address.
func (h *databaseHost) giveUp(since time.Time) {
	h.silent.Store(true)
	h.closeConns(errNoAnswer, func(c *timedConn) bool { return c.isSilent(since) })
}

func (h *databaseHost) closeConns(reason error, which func(*timedConn) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.conns {
		if which(c) {
			c.givenUp.Store(&reason)
			_ = c.Conn.Close() // ends its reads and writes; the driver closes it again, which removes it
		}
	}
}

// keepRunning runs a watcher until ctx ends, again after a panic.
func (h *databaseHosts) keepRunning(ctx context.Context, watch func()) {
	guarded := func() {
		defer func() {
			if value := recover(); value != nil && h.panicked != nil {
				h.panicked(value, debug.Stack())
			}
		}()
		watch()
	}
	for ctx.Err() == nil {
		guarded()
		_ = pause(ctx, probeInterval)
	}
}

// watch notices until ctx ends when the server that new sessions are opened at stops to answer. Of several writable hosts one is used as
// the primary, until it is replaced; there are none for readers, which may use any host.
func (h *databaseHosts) watch(ctx context.Context, config *pgx.ConnConfig, writable []*pgx.ConnConfig) {
	ctx, end := context.WithCancel(ctx) // of those that it starts, when it panics
	defer end()
	for _, one := range writable {
		go h.keepRunning(ctx, func() { h.watchTimeline(ctx, one) })
	}
	for pause(ctx, 2*probeInterval) == nil { // a command is mostly done before, and needs no further session
		former := h.primary.Load()
		conn, host, err := h.openProbe(ctx, config.Copy())
		if err != nil {
			h.primary.CompareAndSwap(former, nil)
			continue
		}
		if writable == nil || h.replacePrimary(former, host) {
			host.probe(ctx, conn)
		}
		closeNow(conn)
		h.primary.CompareAndSwap(host, nil)
	}
}

// openProbe opens the session that is asked, also at a host that is silent. If only its first statement gets no answer, that shows
// nothing: a pooler may have no connection for it.
func (h *databaseHosts) openProbe(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, *databaseHost, error) {
	dialer := newDialer(config.ConnectTimeout)
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		host := h.at(address)
		conn, err := h.dialPrimary(ctx, host, dialer, network, address, 0)
		if err != nil && !errors.Is(err, errNotPrimary) {
			host.silent.Store(false) // nothing is accepted any more, which a pool learns at once
		}
		return conn, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, config.ConnectTimeout)
	defer cancel()
	_, err = conn.Exec(ctx, "SET application_name = 'causeway watch'")
	dialled, unknown := dialledConn(conn.PgConn())
	if err = errors.Join(err, unknown); err != nil {
		closeNow(conn)
		return nil, nil, fmt.Errorf("open the session that watches the database: %w", err)
	}
	return conn, dialled.host, nil
}

// probe asks until the session is lost, and gives the host up if no answer comes.
func (h *databaseHost) probe(ctx context.Context, conn *pgx.Conn) {
	for {
		asked, answer := time.Now(), make(chan error, 1)
		go func() { answer <- conn.Ping(ctx) }()
		err := awaitAnswer(answer)
		if errors.Is(err, errNoAnswer) {
			h.giveUp(asked)
			err = errors.Join(err, <-answer) // which comes now, because its connection is closed
		}
		if err != nil || pause(ctx, probeInterval) != nil {
			return
		}
	}
}

func awaitAnswer(answer <-chan error) error {
	for range answerTicks {
		select {
		case err := <-answer:
			return err
		case <-time.After(answerTick):
		}
	}
	return errNoAnswer
}

// closeNow closes a connection without waiting for its server.
func closeNow(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// pause waits, and returns an error if ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
