package webhooks

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
)

func TestService_InternalErrorsDoNotCount(t *testing.T) {
	t.Parallel()
	// While attempts fail in this service, for longer than the retry window and also for events that
	// are sent once, nothing counts: no attempt, no failure of the endpoint. Afterwards every
	// event is delivered, in the order of its subject.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		var attempts atomic.Int64
		var failing atomic.Bool
		failing.Store(true)
		env.respond = func(receivedRequest) receiverReply {
			attempts.Add(1)
			if failing.Load() {
				return receiverReply{outcome: event.InternalError}
			}
			return receiverReply{outcome: event.Accepted}
		}
		metrics := &countingMetrics{}
		defer startService(env.newService(Config{Metrics: metrics}))()
		test := env.newEvent(p, 9)
		test.Name, test.Type = event.TestSent, event.Test
		env.queue.Append(test)
		events := append(env.appendEvents(p, 1, 2, 3, 1, 2, 3, 1), test)
		for range 100 {
			env.appendEvents(p, 4)
		}

		time.Sleep(time.Minute)
		if n := attempts.Load(); n < 20 || n > 90 {
			t.Errorf("%d attempts in a minute, want about one each second", n)
		}
		env.clock.advance(2 * event.RetryWindow)
		time.Sleep(5 * time.Second)
		if metrics.get("paused")+metrics.get("abandoned") > 0 || metrics.get("internal error") != 1 {
			t.Errorf("metrics %v", metrics.counts)
		}
		for _, e := range events {
			if d := env.delivery(t, e); d.Status != event.Pending || len(d.Attempts) != 0 {
				t.Errorf("%s: %s after %d attempts", e.ID, d.Status, len(d.Attempts))
			}
		}

		failing.Store(false)
		time.Sleep(time.Minute)

		for _, e := range events {
			if d := env.delivery(t, e); d.Status != event.Delivered || len(d.Attempts) != 1 || d.Attempts[0].Number != 1 {
				t.Errorf("%s: %s, attempts %+v", e.ID, d.Status, d.Attempts)
			}
		}
		if env.queue.Pending() != 0 {
			t.Errorf("%d events are pending", env.queue.Pending())
		}
		accepted := env.acceptedIDs()
		for _, subject := range [][]event.Event{{events[0], events[3], events[6]}, {events[1], events[4]}, {events[2], events[5]}} {
			last := -1
			for _, e := range subject {
				if at := slices.Index(accepted, e.ID); at <= last {
					t.Errorf("%s was delivered at position %d, after the next event of its subject", e.ID, at)
				} else {
					last = at
				}
			}
		}
	})
}

func TestService_PanicOfOneEventDelaysNoOther(t *testing.T) {
	t.Parallel()
	// If sending one event panics every time, the events of other subjects are delivered as usual.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		bad := env.appendEvents(p, 1)[0]
		var panics atomic.Bool
		panics.Store(true)
		env.respond = func(r receivedRequest) receiverReply {
			if r.ID == bad.ID && panics.Load() {
				panic("cannot send this")
			}
			return receiverReply{outcome: event.Accepted}
		}
		defer startService(env.newService(Config{}))()
		var others []event.Event
		for i := range 50 {
			others = append(others, env.appendEvents(p, byte(2+i))...)
		}
		time.Sleep(2 * time.Second)

		for _, e := range others {
			if d := env.delivery(t, e); d.Status != event.Delivered {
				t.Errorf("%s: %s", e.ID, d.Status)
			}
		}
		if d := env.delivery(t, bad); d.Status != event.Pending || len(d.Attempts) != 0 {
			t.Errorf("%s after %d attempts", d.Status, len(d.Attempts))
		}
		panics.Store(false)
		time.Sleep(3 * time.Second)
		if d := env.delivery(t, bad); d.Status != event.Delivered {
			t.Errorf("afterwards %s", d.Status)
		}
	})
}

// panickingMetrics panics at the first delivery, between an attempt and its outcome.
type panickingMetrics struct {
	countingMetrics
	panicked atomic.Bool
}

func (m *panickingMetrics) Delivered(time.Duration) {
	if !m.panicked.Swap(true) {
		panic("metrics")
	}
}

func TestRun_PanicOfWorkerRestartsSession(t *testing.T) {
	t.Parallel()
	// A panic after an attempt ends the session, and the next one delivers everything.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		metrics := &panickingMetrics{}
		defer startService(env.newService(Config{Metrics: metrics}))()
		events := env.appendEvents(p, 1, 1, 2)

		time.Sleep(5 * time.Second)

		for _, e := range events {
			if d := env.delivery(t, e); d.Status != event.Delivered {
				t.Errorf("%s: %s", e.ID, d.Status)
			}
		}
		if metrics.get("disconnected") != 1 {
			t.Errorf("metrics %v", metrics.counts)
		}
	})
}

// panickingQueue is a queue whose first session panics in the dispatcher.
type panickingQueue struct {
	ports.WebhookQueue
	panicked atomic.Bool
}

type panickingSession struct {
	ports.WebhookSession
	queue *panickingQueue
}

func (q *panickingQueue) OpenSession(ctx context.Context) (ports.WebhookSession, error) {
	session, err := q.WebhookQueue.OpenSession(ctx)
	return panickingSession{session, q}, err
}

func (s panickingSession) Exchange(ctx context.Context, now time.Time, results []ports.WebhookResult,
	fetches []ports.WebhookFetch) ([]ports.DueWebhooks, error) {
	if len(results) > 0 && !s.queue.panicked.Swap(true) {
		panic("exchange")
	}
	return s.WebhookSession.Exchange(ctx, now, results, fetches)
}

func TestRun_PanicOfDispatcherRestartsSession(t *testing.T) {
	t.Parallel()
	// A panic of the dispatcher ends its session, which releases its platforms. What was
	// delivered before is recorded by the next one and not sent again.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		metrics := &countingMetrics{}
		service := env.newService(Config{Metrics: metrics})
		service.Queue = &panickingQueue{WebhookQueue: env.queue}
		defer startService(service)()
		events := env.appendEvents(p, 1, 1, 2)

		time.Sleep(5 * time.Second)

		for _, e := range events {
			if d := env.delivery(t, e); d.Status != event.Delivered {
				t.Errorf("%s: %s", e.ID, d.Status)
			}
		}
		if metrics.get("disconnected") != 1 || metrics.get(string(event.Accepted)) != len(events) {
			t.Errorf("metrics %v", metrics.counts)
		}
	})
}

func TestService_TestEventIsNotAbandoned(t *testing.T) {
	t.Parallel()
	// A test event that is not accepted is listed as failed, and does not count as given up.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		env.respond = func(receivedRequest) receiverReply { return receiverReply{outcome: event.Refused} }
		metrics := &countingMetrics{}
		defer startService(env.newService(Config{Metrics: metrics}))()
		test := env.newEvent(p, 1)
		test.Name, test.Type = event.TestSent, event.Test
		env.queue.Append(test)

		time.Sleep(2 * time.Second)

		if d := env.delivery(t, test); d.Status != event.Failed || len(d.Attempts) != 1 || metrics.get("abandoned") != 0 {
			t.Errorf("%s after %d attempts, metrics %v", d.Status, len(d.Attempts), metrics.counts)
		}
	})
}

func TestService_SendAndWaitInternalError(t *testing.T) {
	t.Parallel()
	// If an event cannot be sent for a reason of this service, the caller gets an error and nothing
	// is recorded, so that the caller repeats the call.
	env := newTestEnv()
	p, service := env.newPlatform(), env.newService(Config{})
	env.respond = func(receivedRequest) receiverReply { return receiverReply{outcome: event.InternalError} }

	if _, err := service.SendAndWait(t.Context(), env.newEvent(p, 1).Rendered([]byte("{}"))); err == nil {
		t.Error("no error")
	}

	page, err := service.Deliveries(t.Context(), p, ports.DeliveryFilter{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("recorded %+v, %v", page.Items, err)
	}
}

// unreadableQueue is a queue that cannot read the body of one event.
type unreadableQueue struct {
	ports.WebhookQueue
	unreadable ident.Webhook
	repaired   atomic.Bool
}

type unreadableSession struct {
	ports.WebhookSession
	queue *unreadableQueue
}

func (q *unreadableQueue) OpenSession(ctx context.Context) (ports.WebhookSession, error) {
	session, err := q.WebhookQueue.OpenSession(ctx)
	return unreadableSession{session, q}, err
}

func (s unreadableSession) Exchange(ctx context.Context, now time.Time, results []ports.WebhookResult,
	fetches []ports.WebhookFetch) ([]ports.DueWebhooks, error) {
	due, err := s.WebhookSession.Exchange(ctx, now, results, fetches)
	for _, d := range due {
		for _, events := range [][]ports.QueuedWebhook{d.Fresh, d.Retries} {
			for i := range events {
				if events[i].ID == s.queue.unreadable && !s.queue.repaired.Load() {
					events[i].Body, events[i].BodyError = nil, errors.New("cannot decrypt")
				}
			}
		}
	}
	return due, err
}

func TestService_UnreadableBodyDelaysNoOther(t *testing.T) {
	t.Parallel()
	// An event whose body cannot be read is not sent until it can, and the others are, in one session.
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv()
		p := env.newPlatform()
		bad := env.appendEvents(p, 1)[0]
		metrics := &countingMetrics{}
		queue := &unreadableQueue{WebhookQueue: env.queue, unreadable: bad.ID}
		service := env.newService(Config{Metrics: metrics})
		service.Queue = queue
		defer startService(service)()
		others := env.appendEvents(p, 2, 3, 4)
		time.Sleep(2 * time.Second)

		for _, e := range others {
			if d := env.delivery(t, e); d.Status != event.Delivered {
				t.Errorf("%s: %s", e.ID, d.Status)
			}
		}
		if d := env.delivery(t, bad); d.Status != event.Pending || len(d.Attempts) != 0 || slices.Contains(env.acceptedIDs(), bad.ID) {
			t.Errorf("unreadable: %s after %d attempts", d.Status, len(d.Attempts))
		}
		queue.repaired.Store(true)
		time.Sleep(3 * time.Second)
		if d := env.delivery(t, bad); d.Status != event.Delivered || metrics.get("disconnected") != 0 {
			t.Errorf("afterwards %s, metrics %v", d.Status, metrics.counts)
		}
	})
}
