package connections_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/app/internal/connections"
	"causeway/core/rail"
	"causeway/ports"
	"causeway/ports/portstest"
)

// store is a store of connections in memory.
type store struct {
	connections.RailConnectionReader
	mu       sync.Mutex
	versions []ports.RailConnectionVersion
	err      error
}

func (s *store) RailConnections(context.Context) ([]ports.RailConnectionVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ports.RailConnectionVersion(nil), s.versions...), s.err
}

func (s *store) set(connections ...rail.Connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions = nil
	for _, c := range connections {
		s.versions = append(s.versions, ports.RailConnectionVersion{Connection: c})
	}
}

// adapter is an adapter that says when it is closed.
type adapter struct {
	ports.ConnectedRail
	closed chan struct{}
}

func (a *adapter) Close() error {
	close(a.closed)
	return nil
}

type opener struct {
	opened []*adapter
	err    error
	panics bool
}

func (o *opener) open(rail.Connection) (ports.ConnectedRail, error) {
	if o.panics {
		panic("broken adapter")
	}
	if o.err != nil {
		return nil, o.err
	}
	o.opened = append(o.opened, &adapter{closed: make(chan struct{})})
	return o.opened[len(o.opened)-1], nil
}

func newConnections(s *store, o *opener, clock ports.Clock) *connections.Connections {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return connections.New(connections.Config{Store: s, Open: o.open, Bound: func(r ports.Rail) ports.Rail { return r }, Clock: clock,
		Log: logrus.NewEntry(log)})
}

func refresh(t *testing.T, c *connections.Connections) {
	t.Helper()
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func TestConnections_ChangedVersionReplacesItsAdapter(t *testing.T) {
	t.Parallel()
	// An adapter stays open as long as its version is the latest. A changed version opens a new one and closes the old.
	s, o := &store{}, &opener{}
	c := newConnections(s, o, portstest.NewFakeClock(noon))
	s.set(rail.Connection{Name: "bank-eur", Version: 1}, rail.Connection{Name: "bank-usd", Version: 1})
	refresh(t, c)
	refresh(t, c)
	if len(o.opened) != 2 {
		t.Fatalf("opened %d adapters, want 2", len(o.opened))
	}

	s.set(rail.Connection{Name: "bank-eur", Version: 2}, rail.Connection{Name: "bank-usd", Version: 1})
	refresh(t, c)

	live := c.ConnectedRails()
	if len(o.opened) != 3 || live[0].Version != 2 || live[0].Adapter != o.opened[2] || live[1].Adapter != o.opened[1] {
		t.Errorf("opened %d, connections %+v", len(o.opened), live)
	}
	<-o.opened[0].closed
	c.Close()
	<-o.opened[1].closed
	<-o.opened[2].closed
	if left := c.ConnectedRails(); len(left) != 0 {
		t.Errorf("%d connections are left", len(left))
	}
}

func TestConnections_LostVersionIsReplacedByOneOfTheSameNumber(t *testing.T) {
	t.Parallel()
	// A database that has lost version 2 gives its number to other settings. Once it has changed, every adapter
	// is opened again, also if the connections cannot be read at first.
	s, o := &store{}, &opener{}
	c := newConnections(s, o, portstest.NewFakeClock(noon))
	s.set(rail.Connection{Name: "bank-eur", Version: 2, Settings: map[string]string{"folder": "lost"}})
	refresh(t, c)
	s.set(rail.Connection{Name: "bank-eur", Version: 2, Settings: map[string]string{"folder": "kept"}})

	c.Reopen()
	s.err = errors.New("no connection")
	if err := c.Refresh(t.Context()); !errors.Is(err, s.err) {
		t.Fatal(err)
	}
	s.err = nil
	refresh(t, c)
	refresh(t, c)

	live := c.ConnectedRails()
	if len(o.opened) != 2 || live[0].Adapter != o.opened[1] || live[0].Settings["folder"] != "kept" {
		t.Errorf("opened %d, connections %+v", len(o.opened), live)
	}
	<-o.opened[0].closed
	c.Close()
}

func TestConnections_FailedOpeningIsRepeatedAfterAMinute(t *testing.T) {
	t.Parallel()
	// A connection that cannot be opened, or whose adapter panics, is shown with the reason, and opened again after a minute.
	s, o, clock := &store{}, &opener{err: errors.New("settings.url: is required")}, portstest.NewFakeClock(noon)
	c := newConnections(s, o, clock)
	s.set(rail.Connection{Name: "psp", Version: 1})
	refresh(t, c)
	if live := c.ConnectedRails(); live[0].Adapter != nil || !errors.Is(live[0].Err, o.err) {
		t.Fatalf("connection %+v", live[0])
	}
	o.err, o.panics = nil, true
	refresh(t, c)
	clock.Advance(time.Minute)
	refresh(t, c)
	if live := c.ConnectedRails(); live[0].Adapter != nil || live[0].Err == nil {
		t.Fatalf("connection %+v", live[0])
	}

	o.panics = false
	clock.Advance(time.Minute)
	refresh(t, c)

	if live := c.ConnectedRails(); live[0].Adapter == nil || live[0].Err != nil {
		t.Errorf("connection %+v", live[0])
	}
}
