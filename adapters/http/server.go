package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

// Timeouts limit how long one connection may take, so that slow clients do not use up
// connections.
type Timeouts struct {
	ReadHeader time.Duration // from the first byte to the end of the headers
	Read       time.Duration // of a whole request
	Write      time.Duration // from the end of the headers to the end of the response
	Idle       time.Duration // between two requests
	Drain      time.Duration // for running requests when the server stops
}

// DefaultTimeouts are suitable for clients anywhere. Write is longer than the timeout of
// an operation, so that the client receives the timeout error.
var DefaultTimeouts = Timeouts{
	ReadHeader: 5 * time.Second,
	Read:       20 * time.Second,
	Write:      45 * time.Second,
	Idle:       2 * time.Minute,
	Drain:      8 * time.Second,
}

const maxHeaderBytes = 32 << 10

// Serve serves requests on the listener until ctx is done. Then it accepts no more
// requests, waits for the running ones and returns nil. It returns an error if requests
// did not finish within timeouts.Drain and were aborted. Serve closes the listener.
func (a *API) Serve(ctx context.Context, listener net.Listener, timeouts Timeouts) error {
	errorLog := a.config.Log.WriterLevel(logrus.DebugLevel)
	defer errorLog.Close()
	server := &http.Server{
		Handler:           a,
		ReadHeaderTimeout: timeouts.ReadHeader,
		ReadTimeout:       timeouts.Read,
		WriteTimeout:      timeouts.Write,
		IdleTimeout:       timeouts.Idle,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnContext:       withFramedConn,
		ErrorLog:          log.New(io.Writer(errorLog), "", 0), // failed TLS handshakes and the like
	}
	unused := unusedConnections{connections: map[net.Conn]struct{}{}}
	server.ConnState = unused.track
	server.RegisterOnShutdown(unused.closeAll)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(framingListener{listener}) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}

	a.Drain()
	drainCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeouts.Drain)
	defer cancel()
	if err := server.Shutdown(drainCtx); err != nil {
		return errors.Join(fmt.Errorf("requests were aborted after %s: %w", timeouts.Drain, err), server.Close())
	}
	return nil
}

// unusedConnections are the connections without a request so far. Clients open them in
// advance, and http.Server.Shutdown would wait for them longer than Drain.
type unusedConnections struct {
	mu          sync.Mutex
	connections map[net.Conn]struct{}
}

func (u *unusedConnections) track(c net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if state == http.StateNew {
		u.connections[c] = struct{}{}
	} else {
		delete(u.connections, c)
	}
}

func (u *unusedConnections) closeAll() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for c := range u.connections {
		_ = c.Close() // no request is running on it
	}
}
