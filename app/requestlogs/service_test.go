package requestlogs_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/ids"
	"causeway/app/internal/apptest"
	"causeway/app/requestlogs"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/requestlog"
	"causeway/ports"
	"causeway/ports/portstest"
)

// memory is a store of entries in memory, which fails as long as err is set.
type memory struct {
	requestlogs.Store
	mu      sync.Mutex
	entries []requestlog.Entry
	writes  int
	err     error
	panics  bool
	blocked chan struct{} // nil: a write does not block
}

func (m *memory) ClockOffset() time.Duration { return 2 * time.Second }

func (m *memory) DoUnit(ctx context.Context, fn func(context.Context, any) error) error {
	return fn(ctx, m)
}

func (m *memory) SaveRequestLog(ctx context.Context, entries []requestlog.Entry) error {
	if m.blocked != nil {
		select {
		case <-m.blocked:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if m.panics {
		panic("damaged")
	}
	if m.err == nil {
		m.entries = append(m.entries, entries...)
	}
	return m.err
}

func (m *memory) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

func (m *memory) saved() []requestlog.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries
}

// counted counts entries.
type counted struct {
	mu            sync.Mutex
	written, lost int
}

func (c *counted) Written(n int) { c.mu.Lock(); defer c.mu.Unlock(); c.written += n }
func (c *counted) Lost(n int)    { c.mu.Lock(); defer c.mu.Unlock(); c.lost += n }

// total returns both numbers.
func (c *counted) total() (t struct{ written, lost int }) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.written, t.lost = c.written, c.lost
	return t
}

func newService(store requestlogs.Store) (*requestlogs.Service, *counted) {
	log := logrus.New()
	log.SetOutput(io.Discard)
	count := new(counted)
	return requestlogs.New(requestlogs.Config{Store: store, Clock: portstest.NewFakeClock(apptest.Noon), IDs: ids.New(),
		Log: logrus.NewEntry(log), Metrics: count, Bodies: requestlog.FailedBodies}), count
}

func entryOf(n byte) requestlog.Entry {
	e := requestlog.Entry{ArrivedAt: apptest.Noon, Method: "GET", Status: 200}
	e.Platform.SetUUID([16]byte{n})
	return e
}

func TestService_WritesInBatches(t *testing.T) {
	t.Parallel()
	// Entries are written together after a moment, in their order, at the time of the database; a stop writes what waits.
	synctest.Test(t, func(t *testing.T) {
		store := new(memory)
		s, count := newService(store)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx) }()

		for range 3 {
			s.Record(entryOf(1))
		}
		time.Sleep(time.Second)
		s.Record(entryOf(2))
		stop()
		<-done

		saved := store.saved()
		if len(saved) != 4 || store.writes != 2 || count.total().written != 4 || count.total().lost != 0 {
			t.Fatalf("%d entries in %d writes, %+v", len(saved), store.writes, count.total())
		}
		for i, e := range saved {
			if !e.ArrivedAt.Equal(apptest.Noon.Add(-2*time.Second)) || e.LostBefore != 0 || i > 0 && saved[i-1].ID.Compare(e.ID) >= 0 {
				t.Errorf("%d: %+v", i, e)
			}
		}
	})
}

func TestService_CountsWhatAFullQueueDrops(t *testing.T) {
	t.Parallel()
	// While a write blocks, the queue fills up and then drops, without blocking the caller. The next entry of each platform that is
	// taken says how many of its own were lost before.
	synctest.Test(t, func(t *testing.T) {
		store := &memory{blocked: make(chan struct{})}
		s, count := newService(store)
		go s.Run(t.Context())
		const many = 15_000
		for range many {
			s.Record(entryOf(1))
		}
		s.Record(entryOf(3)) // one platform leaves room for others
		for range many {
			s.Record(entryOf(2))
		}
		synctest.Wait()
		close(store.blocked)
		time.Sleep(time.Minute)
		for range 2 {
			s.Record(entryOf(1))
			s.Record(entryOf(2))
		}
		time.Sleep(time.Minute)

		saved, of := store.saved(), map[byte]int{}
		for _, e := range saved {
			of[e.Platform.UUID()[0]]++
		}
		tail := saved[len(saved)-4:]
		if tail[0].LostBefore != int64(many-of[1]+2) || tail[1].LostBefore != int64(many-of[2]+2) || tail[2].LostBefore != 0 ||
			tail[3].LostBefore != 0 {
			t.Errorf("%d of %d entries, lost before the last four: %d %d %d %d", len(saved), many, tail[0].LostBefore, tail[1].LostBefore,
				tail[2].LostBefore, tail[3].LostBefore)
		}
		if of[1] < 10_000 || of[3] != 1 || count.total().lost != 2*many+4-of[1]-of[2] {
			t.Errorf("%v entries, %+v", of, count.total())
		}
	})
}

func TestService_WritesSomeRateLimitedRequests(t *testing.T) {
	t.Parallel()
	// Of a flood beyond the rate limit, some requests are written, and the others counted; other requests of the platform are written.
	synctest.Test(t, func(t *testing.T) {
		store := new(memory)
		s, _ := newService(store)
		go s.Run(t.Context())
		limited := entryOf(1)
		limited.Status = 429
		for range 1000 {
			s.Record(limited)
		}
		s.Record(entryOf(1))
		time.Sleep(time.Second)
		s.Record(limited)
		time.Sleep(time.Second)

		if saved := store.saved(); len(saved) != 102 || saved[100].Status != 200 || saved[100].LostBefore != 900 || saved[101].Status != 429 {
			t.Errorf("%d entries", len(saved))
		}
	})
}

func TestService_BoundsTheMemoryOfTheQueue(t *testing.T) {
	t.Parallel()
	// Entries with long bodies fill the queue earlier.
	s, count := newService(new(memory))
	long := entryOf(1)
	long.Response.Body = string(make([]byte, 1<<20))
	for range 100 {
		s.Record(long)
	}
	if count.total().lost < 68 || count.total().lost > 69 {
		t.Errorf("%d of 100 MiB were dropped", count.total().lost)
	}
}

func TestService_SurvivesFailures(t *testing.T) {
	t.Parallel()
	// While the database does not respond, a batch waits and is written later with the ids it had; what it refuses, or what panics, is
	// given up soon and counted, and the service goes on.
	synctest.Test(t, func(t *testing.T) {
		store := &memory{err: ports.ErrStoreUnavailable}
		s, count := newService(store)
		go s.Run(t.Context())
		s.Record(entryOf(1))
		time.Sleep(10 * time.Second)
		store.set(func() { store.err = nil })
		time.Sleep(10 * time.Second)
		if saved := store.saved(); len(saved) != 1 || !saved[0].ArrivedAt.Equal(apptest.Noon.Add(-2*time.Second)) || count.total().lost != 0 {
			t.Fatalf("after an outage: %+v, %+v", saved, count.total())
		}

		for name, fail := range map[string]func(){
			"refused": func() { store.err = errors.New("refused") }, "panic": func() { store.panics = true },
		} {
			store.set(fail)
			s.Record(entryOf(1))
			s.Record(entryOf(1))
			time.Sleep(10 * time.Second)
			store.set(func() { store.err, store.panics = nil, false })
			s.Record(entryOf(1))
			time.Sleep(10 * time.Second)
			if saved := store.saved(); saved[len(saved)-1].LostBefore != 2 {
				t.Errorf("%s: %d entries, lost %d", name, len(saved), saved[len(saved)-1].LostBefore)
			}
		}
		if count.total().lost != 4 || count.total().written != 3 {
			t.Errorf("%+v", count.total())
		}
	})
}

func TestService_StopsAlsoWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	// A stop waits for a write for a moment only, and counts what it leaves.
	synctest.Test(t, func(t *testing.T) {
		s, count := newService(&memory{blocked: make(chan struct{})})
		ctx, stop := context.WithCancel(t.Context())
		s.Record(entryOf(1))
		begin := time.Now()
		stop()
		s.Run(ctx)
		if took := time.Since(begin); took > 3*time.Second || count.total().lost != 1 {
			t.Errorf("it took %s, %+v", took, count.total())
		}
	})
}

func TestService_KeepsBodiesOfSomeSuccesses(t *testing.T) {
	t.Parallel()
	// Bodies of failed requests are always kept, those of successful ones in a sandbox up to a number between two flushes.
	synctest.Test(t, func(t *testing.T) {
		s, _ := newService(new(memory))
		go s.Run(t.Context())
		for range 2 {
			kept := 0
			for range 1000 {
				if s.KeepsBodies(platform.Sandbox, 200) {
					kept++
				}
				if !s.KeepsBodies(platform.Production, 400) || s.KeepsBodies(platform.Production, 200) {
					t.Fatal("of production, those of failed requests are kept, and only these")
				}
			}
			if kept < 10 || kept > 100 {
				t.Errorf("of 1000 successful requests, the bodies of %d are kept", kept)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestService_ReadsWhatItWrote(t *testing.T) {
	t.Parallel()
	// On a real database, what was recorded is listed without bodies and shown with them, for its platform only.
	env := apptest.New(t)
	log := logrus.New()
	log.SetOutput(io.Discard)
	s := requestlogs.New(requestlogs.Config{Store: env.Store, Clock: env.Clock, IDs: env.IDs, Log: logrus.NewEntry(log)})
	entry := requestlog.Entry{Platform: env.Platform.ID, Token: env.Admin.Token, ArrivedAt: apptest.Noon, Method: "GET", Status: 200,
		Response: requestlog.Content{Type: "application/json", Size: 2, Body: "{}"}}
	s.Record(entry)
	ctx, stop := context.WithCancel(ports.ForAllPlatforms(t.Context()))
	stop()
	s.Run(ctx)

	page, err := s.List(t.Context(), env.Platform.ID, ports.RequestLogFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || len(page.Items) != 1 || page.Items[0].Response.Body != "" || page.Items[0].Token != env.Admin.Token {
		t.Fatalf("%+v, %v", page, err)
	}
	if got, err := s.Entry(t.Context(), env.Platform.ID, page.Items[0].ID); err != nil || got.Response.Body != "{}" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.Entry(t.Context(), ident.Platform{}, page.Items[0].ID); err == nil {
		t.Error("another platform reads it")
	}
}
