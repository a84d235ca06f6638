package faults

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/e2e/kit"
)

// probe makes one payment after the other with one process.
type probe struct {
	*load
	to   *drill
	stop context.CancelFunc
	done sync.WaitGroup

	mu   sync.Mutex
	paid []time.Time
}

func (d *drill) newProbe(p *process) *probe {
	only := *d.system
	only.processes = []*process{p}
	return &probe{load: &load{system: &only, customers: d.customers}, to: d}
}

func (p *probe) start() {
	ctx, stop := context.WithCancel(p.t.Context())
	p.stop = stop
	p.done.Go(func() {
		for turn := 0; ctx.Err() == nil; turn++ {
			one, err := p.transferOut(p.customers[turn%len(p.customers)])
			if err != nil {
				p.t.Errorf("a transfer by the process on %s: %v", p.processes[0].address, err)
				return
			}
			p.to.accepted(one)
			p.mu.Lock()
			p.paid = append(p.paid, time.Now())
			p.mu.Unlock()
			p.sleep(50 * time.Millisecond)
		}
	})
	p.t.Cleanup(p.finish)
}

func (p *probe) finish() {
	p.stop()
	p.done.Wait()
}

// awaitPayment returns when a payment was made after a time.
func (p *probe) awaitPayment(after time.Time) (made time.Time) {
	p.t.Helper()
	p.eventually(func() string { return "a payment by the process on " + p.processes[0].address }, func() bool {
		if p.t.Failed() {
			p.t.FailNow()
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		i := slices.IndexFunc(p.paid, func(at time.Time) bool { return at.After(after) })
		if i >= 0 {
			made = p.paid[i]
		}
		return i >= 0
	})
	return made
}

// longestPause returns the longest time between two payments, of which the second was made after a time.
func (p *probe) longestPause(after time.Time) (longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, at := range p.paid {
		if i > 0 && at.After(after) {
			longest = max(longest, at.Sub(p.paid[i-1]))
		}
	}
	return longest
}

// serverWatch knows which servers accept writes.
type serverWatch struct {
	nodes []*kit.PatroniNode

	mu    sync.Mutex
	since map[*kit.PatroniNode]time.Time // when a server was first seen to accept writes, without a break
}

// watchServers asks each server all the time, until the test ends.
func watchServers(t *testing.T, c *kit.PatroniCluster) *serverWatch {
	t.Helper()
	w := &serverWatch{nodes: c.Nodes, since: map[*kit.PatroniNode]time.Time{}}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, n := range c.Nodes {
		all.Go(func() {
			for ctx.Err() == nil {
				w.follow(ctx, n)
				w.set(n, false)
				select {
				case <-time.After(50 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		})
	}
	t.Cleanup(func() { stop(); all.Wait() })
	return w
}

// follow asks one server until it does not answer.
func (w *serverWatch) follow(ctx context.Context, n *kit.PatroniNode) {
	conn, err := pgx.Connect(ctx, n.URL())
	if err != nil {
		return
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	for {
		asking, cancel := context.WithTimeout(ctx, time.Second)
		var writes bool
		err := conn.QueryRow(asking, "SELECT NOT pg_is_in_recovery()").Scan(&writes)
		cancel()
		if err != nil {
			return
		}
		w.set(n, writes)
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}

func (w *serverWatch) set(n *kit.PatroniNode, writes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, was := w.since[n]; !writes {
		delete(w.since, n)
	} else if !was {
		w.since[n] = time.Now()
	}
}

// onlyPrimary returns the server that accepts writes; nil if none or several do.
func (w *serverWatch) onlyPrimary() (primary *kit.PatroniNode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.since) == 1 {
		for n := range w.since {
			primary = n
		}
	}
	return primary
}

// primaryAndStandby returns the primary and one of its synchronous standbys.
func (w *serverWatch) primaryAndStandby(t *testing.T) (primary, standby *kit.PatroniNode) {
	t.Helper()
	primary = w.onlyPrimary()
	if primary == nil {
		t.Fatal("there is no primary")
	}
	var name string
	const synchronous = "SELECT application_name FROM pg_stat_replication WHERE sync_state = 'sync' LIMIT 1"
	if err := queryOn(waitContext(t), primary, synchronous, &name); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(w.nodes, func(n *kit.PatroniNode) bool { return n.Name == name })
	return primary, w.nodes[i]
}

// awaitPromotion returns when a server was promoted: another one than the former primary, or that one after a start.
func (w *serverWatch) awaitPromotion(t *testing.T, former *kit.PatroniNode, after time.Time) (promoted time.Time) {
	t.Helper()
	ctx := waitContext(t)
	for promoted.IsZero() {
		w.mu.Lock()
		for _, since := range w.since {
			if since.After(after) {
				promoted = since
			}
		}
		w.mu.Unlock()
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("nothing was promoted within %s in place of %s", recoveryTimeout, former.Name)
		}
	}
	return promoted
}

func execOn(ctx context.Context, n *kit.PatroniNode, statement string) error {
	conn, err := pgx.Connect(ctx, n.URL())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

func queryOn(ctx context.Context, n *kit.PatroniNode, query string, value any) error {
	conn, err := pgx.Connect(ctx, n.URL())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return conn.QueryRow(ctx, query).Scan(value)
}
