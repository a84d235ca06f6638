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

// countingMetrics counts calls by name.
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
func (m *countingMetrics) Abandoned()                                 { m.count("abandoned") }
func (m *countingMetrics) InternalError(ident.Platform, string)       { m.count("internal error") }
func (m *countingMetrics) Paused(ident.Platform, event.Outcome)       { m.count("paused") }
func (m *countingMetrics) Resumed(ident.Platform)                     { m.count("resumed") }
func (m *countingMetrics) Disconnected(error)                         { m.count("disconnected") }

func TestRun_StopFinishesRunningDeliveries(t *testing.T) {
	t.Parallel()
	// A stopped dispatcher starts no further deliveries and records those that it had started.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		env.respond = func(receivedRequest) receiverReply { return receiverReply{delay: time.Second, outcome: event.Accepted} }
		stop := startService(env.newService(Config{MaxConcurrency: 2}))
		events := env.appendEvents(p, 1, 2, 3, 1, 2, 3)
		time.Sleep(pollInterval + 500*time.Millisecond)

		start := time.Now()
		stop()

		if duration := time.Since(start); duration > time.Second {
			t.Errorf("stopping took %v", duration)
		}
		for i, e := range events {
			want := event.Pending
			if i < 2 {
				want = event.Delivered
			}
			if d := env.delivery(t, e); d.Status != want {
				t.Errorf("event %d: %s, want %s", i, d.Status, want)
			}
		}
	})
}

func TestRun_StopIsBoundedByGrace(t *testing.T) {
	t.Parallel()
	// A delivery that takes longer than Grace is interrupted and does not count as an attempt. The
	// next dispatcher sends the event.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		silent := true
		env.respond = func(receivedRequest) receiverReply { return receiverReply{silent: silent, outcome: event.Accepted} }
		stop := startService(env.newService(Config{Grace: time.Second}))
		e := env.appendEvents(p, 1)[0]
		time.Sleep(2 * pollInterval)

		start := time.Now()
		stop()

		if duration := time.Since(start); duration > time.Second+100*time.Millisecond {
			t.Errorf("stopping took %v", duration)
		}
		if d := env.delivery(t, e); d.Status != event.Pending || len(d.Attempts) != 0 {
			t.Errorf("%s after %d attempts", d.Status, len(d.Attempts))
		}
		silent = false
		defer startService(env.newService(Config{}))()
		if !env.advanceUntilDelivered(time.Minute) {
			t.Error("it was not sent again")
		}
	})
}

func TestRun_LostSessionRecordsDeliveries(t *testing.T) {
	t.Parallel()
	// When the session is lost, running deliveries are interrupted. Those that were delivered and
	// not yet recorded are recorded afterwards and not sent again.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		env.respond = func(v receivedRequest) receiverReply {
			if v.ID.UUID()[15]%2 == 0 {
				return receiverReply{delay: time.Minute, outcome: event.Accepted} // still running when the session is lost
			}
			return receiverReply{delay: time.Millisecond, outcome: event.Accepted}
		}
		metrics := &countingMetrics{}
		service := env.newService(Config{Metrics: metrics})
		events := env.appendEvents(p, 1, 2, 3, 4)
		defer startService(service)()
		time.Sleep(5 * time.Millisecond) // before anything is recorded
		if env.queue.Pending() != 4 {
			t.Fatal("recorded too early for this test")
		}

		env.queue.DropSessions()
		time.Sleep(time.Second)

		if metrics.get("disconnected") == 0 {
			t.Fatal("the lost session was not noticed")
		}
		for _, e := range events {
			if quick := e.ID.UUID()[15]%2 != 0; quick {
				if d := env.delivery(t, e); d.Status != event.Delivered || len(d.Attempts) != 1 {
					t.Errorf("%s after %d attempts", d.Status, len(d.Attempts))
				}
			}
		}
		received := 0
		for _, v := range env.requests {
			if slices.Contains(idsOf(events), v.ID) {
				received++
			}
		}
		if received != 2 {
			t.Errorf("%d deliveries arrived, want the two quick ones once", received)
		}
	})
}

func TestService_FailingEndpointsMakeRoom(t *testing.T) {
	t.Parallel()
	// With more platforms than MaxTenants, those whose endpoints fail are released for others.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		var dead, alive []ident.Platform
		for range 20 {
			dead, alive = append(dead, env.newPlatform()), append(alive, env.newPlatform())
		}
		env.respond = func(v receivedRequest) receiverReply {
			for _, p := range dead {
				if v.Endpoint.URL == env.endpoint+p.String() {
					return receiverReply{outcome: event.Unreachable}
				}
			}
			return receiverReply{delay: time.Millisecond, outcome: event.Accepted}
		}
		for _, p := range dead {
			for s := range 100 {
				env.appendEvents(p, byte(s))
			}
		}
		defer startService(env.newService(Config{MaxTenants: 10}))()
		time.Sleep(time.Minute)
		var events []event.Event
		for _, p := range alive {
			events = append(events, env.appendEvents(p, 1)...)
		}

		time.Sleep(time.Minute)

		for _, e := range events {
			if d := env.delivery(t, e); d.Status != event.Delivered {
				t.Errorf("%s: %s", e.Platform, d.Status)
			}
		}
	})
}

func TestService_ReleasesIdlePlatforms(t *testing.T) {
	t.Parallel()
	// A platform without events is released, so that another dispatcher can claim it.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		env.appendEvents(p, 1)
		defer startService(env.newService(Config{}))()
		time.Sleep(idleTimeout + 2*time.Second)

		session, err := env.queue.OpenSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		claimed, err := session.Claim(t.Context(), []ident.Platform{p})
		if err != nil || len(claimed) != 1 {
			t.Errorf("claimed %v, %v", claimed, err)
		}
	})
}
