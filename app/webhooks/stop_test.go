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

// countingMetrics counts by name.
type countingMetrics struct {
	mu     sync.Mutex
	counts map[string]int
}

func (m *countingMetrics) count(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts == nil {
		m.counts = map[string]int{}
	}
	m.counts[name]++
}

func (m *countingMetrics) get(name string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[name]
}

func (m *countingMetrics) Attempted(o event.Outcome, _ time.Duration) { m.count(string(o)) }
func (m *countingMetrics) Delivered(time.Duration)                    { m.count("delivered") }
func (m *countingMetrics) Abandoned()                                 { m.count("parked") }
func (m *countingMetrics) Paused(ident.Platform, event.Outcome)       { m.count("paused") }
func (m *countingMetrics) Resumed(ident.Platform)                     { m.count("resumed") }
func (m *countingMetrics) Disconnected(error)                         { m.count("disconnected") }

func TestRun_StopFinishesRunningDeliveries(t *testing.T) {
	t.Parallel()
	// A dispatcher that is stopped begins nothing more, and records what it had begun.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		town.respond = func(receivedRequest) receiverReply { return receiverReply{delay: time.Second, outcome: event.Accepted} }
		stop := startService(town.newService(Config{MaxConcurrency: 2}))
		events := town.appendEvents(p, 1, 2, 3, 1, 2, 3)
		time.Sleep(pollInterval + 500*time.Millisecond)

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

func TestRun_StopIsBoundedByGrace(t *testing.T) {
	t.Parallel()
	// What takes longer than the grace is broken off, and counts as not tried: the next
	// dispatcher sends it.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		stuck := true
		town.respond = func(receivedRequest) receiverReply { return receiverReply{silent: stuck, outcome: event.Accepted} }
		stop := startService(town.newService(Config{Grace: time.Second}))
		e := town.appendEvents(p, 1)[0]
		time.Sleep(2 * pollInterval)

		began := time.Now()
		stop()

		if took := time.Since(began); took > time.Second+100*time.Millisecond {
			t.Errorf("stopping took %v", took)
		}
		if d := town.delivery(t, e); d.Status != event.Pending || len(d.Attempts) != 0 {
			t.Errorf("%s after %d attempts", d.Status, len(d.Attempts))
		}
		stuck = false
		defer startService(town.newService(Config{}))()
		if !town.advanceUntilDelivered(time.Minute) {
			t.Error("it was not sent again")
		}
	})
}

func TestRun_LostSessionRecordsDeliveries(t *testing.T) {
	t.Parallel()
	// When the queue is lost, what runs is broken off; what was delivered and not yet
	// recorded is recorded afterwards, and not sent again.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		town.respond = func(v receivedRequest) receiverReply {
			if v.ID.UUID()[15]%2 == 0 {
				return receiverReply{delay: time.Minute, outcome: event.Accepted} // runs when the queue is lost
			}
			return receiverReply{delay: time.Millisecond, outcome: event.Accepted}
		}
		meter := &countingMetrics{}
		n := town.newService(Config{Metrics: meter})
		defer startService(n)()
		events := town.appendEvents(p, 1, 2, 3, 4)
		n.Wake()
		time.Sleep(5 * time.Millisecond) // before anything is recorded
		if town.queue.Pending() != 4 {
			t.Fatal("recorded too early for this test")
		}

		town.queue.DropSessions()
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
		for _, v := range town.requests {
			if slices.Contains(idsOf(events), v.ID) {
				visits++
			}
		}
		if visits != 2 {
			t.Errorf("%d deliveries arrived, want the two quick ones once", visits)
		}
	})
}

func TestService_FailingEndpointsMakeRoom(t *testing.T) {
	t.Parallel()
	// With more platforms than lanes, those whose endpoints fail make room for others.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		var dead, alive []ident.Platform
		for range 20 {
			dead, alive = append(dead, town.newPlatform()), append(alive, town.newPlatform())
		}
		town.respond = func(v receivedRequest) receiverReply {
			for _, p := range dead {
				if v.Endpoint.URL == town.endpoint+p.String() {
					return receiverReply{outcome: event.Unreachable}
				}
			}
			return receiverReply{delay: time.Millisecond, outcome: event.Accepted}
		}
		for _, p := range dead {
			for s := range 100 {
				town.appendEvents(p, byte(s))
			}
		}
		defer startService(town.newService(Config{MaxTenants: 10}))()
		time.Sleep(time.Minute)
		var events []event.Event
		for _, p := range alive {
			events = append(events, town.appendEvents(p, 1)...)
		}

		time.Sleep(time.Minute)

		for _, e := range events {
			if d := town.delivery(t, e); d.Status != event.Delivered {
				t.Errorf("%s: %s", e.Platform, d.Status)
			}
		}
	})
}

func TestService_ReleasesIdlePlatforms(t *testing.T) {
	t.Parallel()
	// A platform without work is not held on to: another dispatcher can take it.
	synctest.Test(t, func(t *testing.T) {
		town := newTestEnv()
		p := town.newPlatform()
		town.appendEvents(p, 1)
		defer startService(town.newService(Config{}))()
		time.Sleep(idleTimeout + 2*time.Second)

		session, err := town.queue.OpenSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		claimed, err := session.Claim(t.Context(), []ident.Platform{p})
		if err != nil || len(claimed) != 1 {
			t.Errorf("claimed %v, %v", claimed, err)
		}
	})
}
