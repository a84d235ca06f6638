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

// Timeouts bound what one connection may take. They keep slow callers from holding
// what the others need.
type Timeouts struct {
	ReadHeader time.Duration // from the first byte to the end of the headers
	Read       time.Duration // of a whole request
	Write      time.Duration // from the end of the headers to the end of the answer
	Idle       time.Duration // between two requests
	Drain      time.Duration // for what runs when the server is told to stop
}

// DefaultTimeouts suit callers anywhere. Write is longer than what an operation may
// take, so that the caller is told when it took too long.
var DefaultTimeouts = Timeouts{
	ReadHeader: 5 * time.Second,
	Read:       20 * time.Second,
	Write:      45 * time.Second,
	Idle:       2 * time.Minute,
	Drain:      8 * time.Second,
}

const maxHeaderBytes = 32 << 10

// Serve answers requests on the listener until ctx ends; then it takes no more,
// finishes those that run, and returns nil. Requests that do not finish in time are
// cut off, and that is an error. Serve closes the listener.
func (a *API) Serve(ctx context.Context, listener net.Listener, timeouts Timeouts) error {
	complaints := a.config.Log.WriterLevel(logrus.DebugLevel)
	defer complaints.Close()
	server := &http.Server{
		Handler:           a,
		ReadHeaderTimeout: timeouts.ReadHeader,
		ReadTimeout:       timeouts.Read,
		WriteTimeout:      timeouts.Write,
		IdleTimeout:       timeouts.Idle,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(io.Writer(complaints), "", 0), // broken TLS and the like
	}
	spares := unusedConnections{connections: map[net.Conn]struct{}{}}
	server.ConnState = spares.track
	server.RegisterOnShutdown(spares.closeAll)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}

	a.Drain()
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeouts.Drain)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		return errors.Join(fmt.Errorf("requests were cut off after %s: %w", timeouts.Drain, err), server.Close())
	}
	return nil
}

// unusedConnections are the connections on which nothing has been asked yet. Clients keep such
// spares, and the library, when it stops, waits for them longer than Drain.
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
		_ = c.Close() // nobody waits for anything on it
	}
}
