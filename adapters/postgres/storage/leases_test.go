package storage_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres/storage"
	"causeway/ports"
	"causeway/ports/portstest"
)

// leasedTables are the tables with leases.
var leasedTables = []storage.LeasedTable{
	{Name: "rail_feeds", Fence: "fence", RetryAt: "retry_at"},
	{Name: "bank_connections", Fence: "fence"},
	{Name: "bitcoin_wallets", Fence: "lease", CreatedAt: "created_at"},
}

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// process are the leases as one process has them.
type process struct {
	*storage.Leases
	t *testing.T
}

func (p process) take(want bool) ports.Lease {
	p.t.Helper()
	lease, taken, err := p.Take(p.t.Context(), "one", time.Minute)
	if err != nil || taken != want {
		p.t.Fatalf("taken %t, %v; want %t", taken, err, want)
	}
	return lease
}

func TestLeases_BelongToOneProcessUntilTheirEnd(t *testing.T) {
	t.Parallel()
	// A lease belongs to one process until its end, which it can put off. The next process has a higher fence, and the one before
	// changes nothing any more. One that is released is free at once, and one of another name always was.
	for _, table := range leasedTables {
		t.Run(table.Name, func(t *testing.T) {
			t.Parallel()
			pool, clock := pgtest.Pool(t, pgtest.SimulateClock(t, pgtest.New(t)), 4), portstest.NewFakeClock(noon)
			first, second := process{storage.New(pool, clock).Leases(table), t}, process{storage.New(pool, clock).Leases(table), t}
			ctx := t.Context()

			lost := first.take(true)
			clock.Advance(59 * time.Second)
			second.take(false)
			first.take(false)
			if err := first.Renew(ctx, lost, time.Minute); err != nil {
				t.Fatal(err)
			}
			clock.Advance(59 * time.Second)
			second.take(false)
			if _, other, err := second.Take(ctx, "other", time.Minute); err != nil || !other {
				t.Errorf("that of another name: %t, %v", other, err)
			}
			clock.Advance(time.Second)
			held := second.take(true)
			if held.Fence <= lost.Fence {
				t.Errorf("fence %d after %d", held.Fence, lost.Fence)
			}

			changed := false
			change := func(storage.Tx) error {
				changed = true
				return nil
			}
			for _, lease := range []ports.Lease{lost, {Name: "one"}, {Name: "unknown"}, {Name: "one", Fence: held.Fence + 1}} {
				for name, call := range map[string]func() error{
					"renew":   func() error { return first.Renew(ctx, lease, time.Hour) },
					"release": func() error { return first.Release(ctx, lease) },
					"update":  func() error { return first.Update(ctx, lease, `leased_until = 'infinity'`) },
					"hold":    func() error { return first.Hold(ctx, lease, change) },
				} {
					if err := call(); !errors.Is(err, ports.ErrLeaseLost) || changed {
						t.Errorf("%s with %+v: %v", name, lease, err)
					}
				}
			}
			if err := second.Hold(ctx, held, change); err != nil || !changed {
				t.Errorf("under the lease: %v", err)
			}
			if err := second.Release(ctx, held); err != nil {
				t.Fatal(err)
			}
			if again := first.take(true); again.Fence <= held.Fence {
				t.Errorf("fence %d after %d", again.Fence, held.Fence)
			}
		})
	}
}

func TestLeases_OneOfManyProcessesTakesIt(t *testing.T) {
	t.Parallel()
	// Of many processes that take a lease at once, one gets it.
	pool := pgtest.Pool(t, pgtest.New(t), 8)
	var group sync.WaitGroup
	taken := make(chan ports.Lease, 8)
	for range cap(taken) {
		group.Go(func() {
			lease, got, err := storage.New(pool, new(portstest.OffsetClock)).Leases(leasedTables[0]).Take(t.Context(), "one", time.Minute)
			if err != nil {
				t.Error(err)
			} else if got {
				taken <- lease
			}
		})
	}
	if group.Wait(); len(taken) != 1 {
		t.Errorf("%d have the lease", len(taken))
	}
}

func TestLeases_EndInTheTimeOfTheDatabase(t *testing.T) {
	t.Parallel()
	// The clock of a process has no part in it: one that is a year ahead takes no lease that has not ended, and one that is a year
	// behind has one that ends as any other.
	pool, ahead, behind := pgtest.Pool(t, pgtest.New(t), 8), new(portstest.OffsetClock), new(portstest.OffsetClock)
	ahead.Set(365 * 24 * time.Hour)
	behind.Set(-365 * 24 * time.Hour)
	for _, table := range leasedTables {
		early, late := process{storage.New(pool, ahead).Leases(table), t}, process{storage.New(pool, behind).Leases(table), t}
		lease := late.take(true)
		early.take(false)
		if err := late.Renew(t.Context(), lease, -time.Second); err != nil {
			t.Fatal(err)
		}
		early.take(true)
		late.take(false)
	}
}

func TestLeases_HoldLocksTheRow(t *testing.T) {
	t.Parallel()
	// While a change runs under a lease that has ended, who takes the lease waits for its end.
	pool := pgtest.Pool(t, pgtest.New(t), 8)
	leases := process{storage.New(pool, new(portstest.OffsetClock)).Leases(leasedTables[1]), t}
	lease, _, err := leases.Take(t.Context(), "one", 0)
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan bool, 1)
	err = leases.Hold(t.Context(), lease, func(storage.Tx) error {
		go func() {
			_, got, err := leases.Take(t.Context(), "one", time.Minute)
			taken <- got && err == nil
		}()
		select {
		case <-taken:
			t.Error("taken while a change runs")
		case <-time.After(100 * time.Millisecond):
		}
		return nil
	})
	if err != nil || !<-taken {
		t.Errorf("%v, or not taken afterwards", err)
	}
}
