// Package connections holds the connections to partners of a process, with their adapters, and is the rail of the
// platforms that they serve.
//
// Connections are read from the store every few seconds. core/rail decides which one a payment takes.
package connections

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/settlement"
	"causeway/ports"
)

const (
	// maxAge is how soon every process follows a change of the connections.
	maxAge = 5 * time.Second
	// readTimeout bounds one reading of the store.
	readTimeout = 5 * time.Second
	// reopenDelay is the delay before an adapter that could not be opened is opened again.
	reopenDelay = time.Minute
)

// Config is what connections need.
type Config struct {
	Store RailConnectionReader
	// Open returns the adapter of a connection; it calls no partner.
	Open func(rail.Connection) (ports.ConnectedRail, error)
	// Bound returns a rail whose calls of another one end in time.
	Bound func(ports.Rail) ports.Rail
	// BoundChain does so for the chain of embedded wallets.
	BoundChain func(ports.WalletChain) ports.WalletChain
	Clock      ports.Clock
	IDs        ports.IDs
	Log        *logrus.Entry
	// Called is called after each call of an adapter about payments, for each of their platforms; nil for nothing.
	Called func(p ident.Platform, connection string, outcomes []ports.Outcome, took time.Duration)
}

// Connections are the connections of one process.
type Connections struct {
	Config
	refreshing sync.Mutex  // held while adapters are opened and replaced
	outdated   atomic.Bool // every adapter is opened again by the next Refresh
	current    atomic.Pointer[[]live]
	closing    sync.WaitGroup
}

// live is a connection of this process.
type live struct {
	ports.LiveConnection
	bounded  ports.Rail            // calls the adapter
	chain    ports.WalletChain     // calls it as the chain of embedded wallets; nil if it is none
	times    *settlement.Timetable // of its schedules; nil if a zone of theirs is not known
	openedAt time.Time             // also if it could not be opened
}

// opens returns when payments of a rail are handed over again, and false if they are now.
func (l live) opens(r corridor.Rail, now time.Time) (time.Time, bool) {
	if l.times == nil {
		return time.Time{}, false
	}
	return l.times.IsClosed(l.ScheduleOf(r), now)
}

// closed says when payments of a rail are handed over again; empty if they are now.
func (l live) closed(r corridor.Rail, now time.Time) string {
	if opens, closed := l.opens(r, now); closed {
		return fmt.Sprintf("%s is closed for %s until %s (%s)", l.Name, r, opens.Format("2006-01-02 15:04"), opens.Location())
	}
	return ""
}

var _ ports.ConnectedRails = (*Connections)(nil)

// New returns connections that have read nothing yet; Refresh or Run reads them.
func New(c Config) *Connections {
	opened := &Connections{Config: c}
	opened.current.Store(&[]live{})
	return opened
}

// ConnectedRails implements ports.ConnectedRails.
func (c *Connections) ConnectedRails() []ports.LiveConnection {
	current := *c.current.Load()
	all := make([]ports.LiveConnection, len(current))
	for i, l := range current {
		all[i] = l.LiveConnection
	}
	return all
}

// routes are the connections that payments are routed to.
type routes struct {
	all, open []rail.Connection // open: those whose adapters this process could open
}

func (c *Connections) routes() routes {
	var r routes
	for _, l := range *c.current.Load() {
		if r.all = append(r.all, l.Connection); l.Adapter != nil {
			r.open = append(r.open, l.Connection)
		}
	}
	return r
}

// choose returns the connection that a new payment takes: of those that are open if one of them serves its route.
func (r routes) choose(route rail.Route) (rail.Connection, error) {
	if chosen, err := rail.Choose(r.open, route); err == nil {
		return chosen, nil
	}
	return rail.Choose(r.all, route)
}

// Run reads the connections every few seconds until ctx ends. Close closes the adapters after their last calls.
func (c *Connections) Run(ctx context.Context) {
	tick := time.NewTicker(maxAge)
	defer tick.Stop()
	for {
		if err := c.Refresh(ctx); err != nil && ctx.Err() == nil {
			c.Log.WithError(err).Warn("cannot read the connections to partners; will retry")
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Reopen makes the next Refresh open every adapter again. It is called when the database may have lost
// commits: a version may then stand for other settings, and adapters know of files and orders that were lost.
func (c *Connections) Reopen() { c.outdated.Store(true) }

// Refresh reads the connections, opens the adapters of new versions and closes those that they replace.
func (c *Connections) Refresh(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	c.refreshing.Lock()
	defer c.refreshing.Unlock()
	ctx, cancel := context.WithTimeout(ports.ForAllPlatforms(ctx), readTimeout)
	defer cancel()
	outdated := c.outdated.Swap(false)
	defer func() {
		if err != nil && outdated {
			c.outdated.Store(true)
		}
	}()
	versions, err := c.Store.RailConnections(ctx)
	if err != nil {
		return err
	}
	if len(versions) > rail.MaxConnections {
		return fmt.Errorf("there are %d connections, and at most %d can be used", len(versions), rail.MaxConnections)
	}
	before := *c.current.Load()
	after, replaced := make([]live, 0, len(versions)), make(map[string]live, len(before))
	for _, l := range before {
		replaced[l.Name] = l
	}
	now := c.Clock.Now()
	for _, v := range versions {
		if old, known := replaced[v.Name]; known && !outdated && old.Version == v.Version &&
			(old.Err == nil || now.Sub(old.openedAt) < reopenDelay) {
			old.Untested = v.Untested // until a test passes
			after = append(after, old)
			delete(replaced, v.Name)
			continue
		}
		after = append(after, c.open(v.Connection, now))
	}
	c.current.Store(&after)
	for _, old := range replaced {
		c.close(old)
	}
	return nil
}

// open opens the adapter of a connection.
func (c *Connections) open(connection rail.Connection, now time.Time) (opened live) {
	opened = live{LiveConnection: ports.LiveConnection{Connection: connection}, openedAt: now}
	log := c.Log.WithFields(logrus.Fields{"connection": connection.Name, "version": connection.Version})
	defer func() {
		if p := recover(); p != nil {
			opened.Adapter, opened.Err = nil, errors.New("the adapter panicked")
			log.WithField("stack", string(debug.Stack())).Errorf("opening a connection panicked: %v; will retry", p)
		}
	}()
	if opened.times, opened.Err = connection.Timetable(time.LoadLocation); opened.Err == nil {
		opened.Adapter, opened.Err = c.Open(connection)
	}
	if opened.Err != nil {
		opened.Adapter = nil
		log.WithError(opened.Err).Error("cannot open a connection; its payments wait; will retry")
		return opened
	}
	opened.bounded = c.Bound(opened.Adapter)
	if chain, moves := opened.Adapter.(ports.WalletChain); moves {
		opened.chain = c.BoundChain(chain)
	}
	if log.Info("connection opened"); connection.Untested {
		log.Warn("the connection was not tested, so that no payment takes it; test it with: causeway rails test " + connection.Name)
	}
	return opened
}

// close closes an adapter without waiting for its calls.
func (c *Connections) close(l live) {
	if l.Adapter == nil {
		return
	}
	c.closing.Go(func() {
		log := c.Log.WithFields(logrus.Fields{"connection": l.Name, "version": l.Version})
		defer func() {
			if p := recover(); p != nil {
				log.WithField("stack", string(debug.Stack())).Errorf("closing a connection panicked: %v", p)
			}
		}()
		if err := l.Adapter.Close(); err != nil {
			log.WithError(err).Warn("a connection was not closed properly")
		}
	})
}

// Close closes all adapters and waits until they are.
func (c *Connections) Close() {
	c.refreshing.Lock()
	defer c.refreshing.Unlock()
	for _, l := range *c.current.Swap(&[]live{}) {
		c.close(l)
	}
	c.closing.Wait()
}
