package webhooks

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"causeway/core/event"
	"causeway/core/ident"
)

// meter counts by name.
type meter struct {
	mu     sync.Mutex
	counts map[string]int
}

func (m *meter) count(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts == nil {
		m.counts = map[string]int{}
	}
	m.counts[name]++
}

func (m *meter) get(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[name]
}

func (m *meter) Attempted(o event.Outcome, _ time.Duration) { m.count(string(o)) }
func (m *meter) Delivered(time.Duration)                    { m.count("delivered") }
func (m *meter) Parked()                                    { m.count("parked") }
func (m *meter) Paused(ident.Platform, event.Outcome)       { m.count("paused") }
func (m *meter) Resumed(ident.Platform)                     { m.count("resumed") }
func (m *meter) Disconnected(error)                         { m.count("disconnected") }

func TestStopFinishesWhatRuns(t *testing.T) {
	t.Parallel()
	// A dispatcher that is stopped begins nothing more, and records what it had begun.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		town.answers = func(visit) reply { return reply{after: time.Second, outcome: event.Accepted} }
		stop := run(town.dispatcher(Config{Width: 2}))
		events := town.tell(p, 1, 2, 3, 1, 2, 3)
		time.Sleep(tick + 500*time.Millisecond)

		began := time.Now()
		stop()

		if took := time.Since(began); took > time.Second {
			t.Errorf("stopping took %v", took)
		}
		for i, e := range events {
			want := event.Pending
			if i < 2 {
				want = event.Delivered
			}
			if d := town.delivery(t, e); d.Status != want {
				t.Errorf("event %d: %s, want %s", i, d.Status, want)
			}
		}
	})
}

func TestStopDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	// What takes longer than the grace is broken off, and counts as not tried: the next
	// dispatcher sends it.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		stuck := true
		town.answers = func(visit) reply { return reply{silent: stuck, outcome: event.Accepted} }
		stop := run(town.dispatcher(Config{Grace: time.Second}))
		e := town.tell(p, 1)[0]
		time.Sleep(2 * tick)

		began := time.Now()
		stop()

		if took := time.Since(began); took > time.Second+100*time.Millisecond {
			t.Errorf("stopping took %v", took)
		}
		if d := town.delivery(t, e); d.Status != event.Pending || len(d.Attempts) != 0 {
			t.Errorf("%s after %d attempts", d.Status, len(d.Attempts))
		}
		stuck = false
		defer run(town.dispatcher(Config{}))()
		if !town.settle(time.Minute) {
			t.Error("it was not sent again")
		}
	})
}

func TestQueueLost(t *testing.T) {
	t.Parallel()
	// When the queue is lost, what runs is broken off; what was delivered and not yet
	// recorded is recorded afterwards, and not sent again.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		town.answers = func(v visit) reply {
			if v.ID.UUID()[15]%2 == 0 {
				return reply{after: time.Minute, outcome: event.Accepted} // runs when the queue is lost
			}
			return reply{after: time.Millisecond, outcome: event.Accepted}
		}
		meter := &meter{}
		n := town.dispatcher(Config{Meter: meter})
		defer run(n)()
		events := town.tell(p, 1, 2, 3, 4)
		n.Wake()
		time.Sleep(5 * time.Millisecond) // before anything is recorded
		if town.memory.Pending() != 4 {
			t.Fatal("recorded too early for this test")
		}

		town.memory.DropSessions()
		time.Sleep(time.Second)

		if meter.get("disconnected") == 0 {
			t.Fatal("the loss went unnoticed")
		}
		for _, e := range events {
			if quick := e.ID.UUID()[15]%2 != 0; quick {
				if d := town.delivery(t, e); d.Status != event.Delivered || len(d.Attempts) != 1 {
					t.Errorf("%s after %d attempts", d.Status, len(d.Attempts))
				}
			}
		}
		visits := 0
		for _, v := range town.visits {
			if slices.Contains(idsOf(events), v.ID) {
				visits++
			}
		}
		if visits != 2 {
			t.Errorf("%d deliveries arrived, want the two quick ones once", visits)
		}
	})
}

func TestManyPlatforms(t *testing.T) {
	t.Parallel()
	// With more platforms than lanes, those whose endpoints fail make room for others.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		var dead, alive []ident.Platform
		for range 20 {
			dead, alive = append(dead, town.platform()), append(alive, town.platform())
		}
		town.answers = func(v visit) reply {
			for _, p := range dead {
				if v.Endpoint.URL == town.endpoint+p.String() {
					return reply{outcome: event.Unreachable}
				}
			}
			return reply{after: time.Millisecond, outcome: event.Accepted}
		}
		for _, p := range dead {
			for s := range 100 {
				town.tell(p, byte(s))
			}
		}
		defer run(town.dispatcher(Config{Lanes: 10}))()
		time.Sleep(time.Minute)
		var events []event.Event
		for _, p := range alive {
			events = append(events, town.tell(p, 1)...)
		}

		time.Sleep(time.Minute)

		for _, e := range events {
			if d := town.delivery(t, e); d.Status != event.Delivered {
				t.Errorf("%s: %s", e.Platform, d.Status)
			}
		}
	})
}

func TestIdleLanesAreLetGo(t *testing.T) {
	t.Parallel()
	// A platform without work is not held on to: another dispatcher can take it.
	synctest.Test(t, func(t *testing.T) {
		town := newTown()
		p := town.platform()
		town.tell(p, 1)
		defer run(town.dispatcher(Config{}))()
		time.Sleep(idle + 2*time.Second)

		session, err := town.memory.OpenSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		claimed, err := session.Claim(t.Context(), []ident.Platform{p})
		if err != nil || len(claimed) != 1 {
			t.Errorf("claimed %v, %v", claimed, err)
		}
	})
}
