// Package apptest is the environment in which the use cases of app/ are tested: a migrated
// database of the test's own, a store, a clock that the test moves, the sandbox rail, a
// platform with a token and a customer, builders for what else a test needs, and
// assertions on balances, entries, events and faults.
//
// It is for tests only. It constructs no use case: a test does that itself, from the fields of
// Env, so that this package depends on none of them. TestService_ListInternalReturnsBalances in
// app/accounts is a short example.
package apptest

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/rails/sandbox"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/platform"
	"causeway/core/settlement"
	"causeway/ports"
	"causeway/ports/portstest"
)

// Noon is the time at which a test starts, unless it says otherwise with At.
var Noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// Env is a fresh database with one platform on it, and what use cases need beside it.
type Env struct {
	t testing.TB

	// URL connects to the database as the owner of its tables.
	URL   string
	Store *postgres.DB
	Clock *portstest.FakeClock
	IDs   *ids.Generator
	Log   *logrus.Entry
	// Rail is the rail of every platform: the sandbox's, unless a test overrides a call.
	Rail *Rail
	// Chain is the chain of every platform's wallets: the simulated one, unless a test overrides a call.
	// Custody has the keys of the wallets.
	Chain   *Chain
	Custody ports.Custody
	// Events records the events emitted on all platforms.
	Events *Events
	// Emitted is notified after each commit that emitted events.
	Emitted portstest.Wakeup

	// Platform is a regulated sandbox platform.
	Platform platform.Platform
	// Admin holds a token of Platform with every permission.
	Admin platform.Principal
	// Customer is an approved customer of Platform: ana, whose name is Ana Silva.
	Customer customer.Customer

	receipts atomic.Int64 // benchmarks count them concurrently
}

// Timetable says when payments on every rail are expected to settle.
func (e *Env) Timetable() *settlement.Timetable {
	e.t.Helper()
	timetable, err := settlement.NewTimetable(time.LoadLocation)
	if err != nil {
		e.t.Fatal(err)
	}
	return timetable
}

type options struct {
	now         time.Time
	connections int32
	lockTimeout time.Duration
	onEvent     func(event.Event)
	platform    func(*platform.Platform)
}

// Option changes the environment that New builds.
type Option func(*options)

// At starts the clock at a time other than Noon.
func At(now time.Time) Option { return func(o *options) { o.now = now } }

// Connections sets the size of the pool; the default is 8.
func Connections(n int32) Option { return func(o *options) { o.connections = n } }

// LockTimeout sets how long a statement waits for a lock. The default is long, because units of work at the same time
// wait for each other on a slow machine.
func LockTimeout(d time.Duration) Option { return func(o *options) { o.lockTimeout = d } }

// OnEvent passes every emitted event to fn instead of recording it.
func OnEvent(fn func(event.Event)) Option { return func(o *options) { o.onEvent = fn } }

// EditPlatform changes Platform before it is stored.
func EditPlatform(edit func(*platform.Platform)) Option {
	return func(o *options) { o.platform = edit }
}

// New builds an environment that lasts until the test ends.
func New(t testing.TB, opts ...Option) *Env {
	t.Helper()
	o := options{now: Noon, connections: 8, lockTimeout: time.Minute, platform: func(*platform.Platform) {}}
	for _, option := range opts {
		option(&o)
	}
	logger := logrus.New()
	logger.SetOutput(outputUntilEnd(t))
	clock := portstest.NewFakeClock(o.now)
	env := &Env{
		t: t, URL: pgtest.SimulateClock(t, pgtest.New(t)), Clock: clock, IDs: ids.New(), Log: logrus.NewEntry(logger),
		Rail: &Rail{Rail: sandbox.New(clock, 1)}, Chain: &Chain{}, Custody: Custody{}, Events: &Events{t: t, forward: o.onEvent},
		Emitted: portstest.NewWakeup(),
	}
	var err error
	env.Store, err = postgres.Open(context.Background(), postgres.Options{URL: env.URL, AllPlatforms: true, MaxConnections: o.connections,
		Clock: env.Clock, IDs: env.IDs, TxOf: env.Events.newTx,
		Emitted: func([]ports.CommittedWebhook) { env.Emitted.Notify() }, LockTimeout: o.lockTimeout, IdleTimeout: time.Minute,
		StatementTimeout: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(env.Store.Close)
	env.Platform = env.NewPlatform(o.platform)
	env.Admin = env.NewPrincipal(env.Platform)
	env.Customer = env.NewCustomer("ana", func(c *customer.Customer) { c.FullName = "Ana Silva" })
	return env
}

// outputUntilEnd returns the output of a test, which panics after the end of the test, without that
// panic: workers stop also if a job does not.
func outputUntilEnd(t testing.TB) io.Writer {
	o := &output{out: t.Output()}
	t.Cleanup(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.out = io.Discard
	})
	return o
}

type output struct {
	mu  sync.Mutex
	out io.Writer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(p)
}

// Run runs a worker in the background until the test ends.
func (e *Env) Run(worker func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { worker(ctx) })
	e.t.Cleanup(func() {
		stop()
		running.Wait()
	})
}
