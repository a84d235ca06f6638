package webhookstest

import (
	"context"
	"testing"
	"time"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
)

// Fixture is an empty queue and log under test.
type Fixture struct {
	Queue ports.WebhookQueue
	Log   ports.WebhookLog
	// Platform creates a sandbox platform with an endpoint.
	Platform func(t *testing.T, endpoint string) ident.Platform
	// Append stores events in one commit.
	Append func(t *testing.T, events ...event.Event)
}

// RunQueueTests runs the conformance tests of a queue and its log.
func RunQueueTests(t *testing.T, open func(t *testing.T) Fixture) {
	for name, test := range map[string]func(*testing.T, Fixture){
		"fresh events are in order": testNewEventsInOrder, "events are read in pages": testReadInPages,
		"a settled event leaves the queue": testSettledEventLeavesQueue, "a failed event is retried when due": testFailedEventIsRetriedWhenDue,
		"a retry without an attempt is not counted":               testRetryWithoutAttempt,
		"attempts outside the queue are numbered with the others": testAttemptsOutsideQueue,
		"later events of a subject are deferred":                  testLaterEventsOfSubjectAreDeferred,
		"the first deferred event is made due":                    testFirstDeferredEventIsMadeDue,
		"recording is idempotent":                                 testRecordingIsIdempotent,
		"a platform has one owner":                                testPlatformHasOneOwner, "a scan finds due events": testScanFindsDue,
		"without an endpoint events are not queued": testNoEndpoint, "redelivery keeps ids and order": testRedeliveryKeepsIDAndOrder,
		"queued events are not redelivered": testRedeliverySkipsQueuedEvents, "lists are filtered": testListFilters,
		"lists have pages":       testListPages,
		"platforms are isolated": testPlatformIsolation, "an event outside the queue is logged": testRecordUnqueuedEvent,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func testNewEventsInOrder(t *testing.T, b Fixture) {
	// Events are returned in the order in which they were stored, with all that is needed to send them.
	w := newEnv(t, b)
	events := w.append("a1", "b1", "a2")

	due := w.exchange(nil, w.fetch(10, 0))

	w.wantLabels(due.Fresh, "a1", "b1", "a2")
	first := due.Fresh[0]
	if string(first.Body) != string(events[0].Envelope()) || first.ID != events[0].ID || !first.Created.Equal(events[0].OccurredAt) ||
		!first.DueSince.Equal(events[0].OccurredAt) || first.Attempts != 0 || first.AttemptsSinceDue != 0 || first.InBacklog || first.Blocked ||
		first.HasSuccessor {
		t.Errorf("got %+v", first)
	}
	for i, q := range due.Fresh {
		if q.Trace != events[i].Trace {
			t.Errorf("event %d has the trace %q, want %q", i, q.Trace, events[i].Trace)
		}
	}
	if due.Endpoint.URL != endpointURL || due.Endpoint.Environment != "SANDBOX" {
		t.Errorf("endpoint %+v", due.Endpoint)
	}
}

func testReadInPages(t *testing.T, b Fixture) {
	// Events in flight are not returned again, and later events follow in every fetch.
	w := newEnv(t, b)
	w.append("a1", "a2", "a3", "b1", "c1")

	w.wantLabels(w.take(2), "a1", "a2")
	w.wantLabels(w.take(2), "a3", "b1")
	w.append("d1")
	w.wantLabels(w.take(10), "c1", "d1")
	w.wantLabels(w.take(10))
	w.append("e1")
	w.wantLabels(w.take(10), "e1")
}

func testSettledEventLeavesQueue(t *testing.T, b Fixture) {
	// A settled event is never returned again, and the log has its status.
	w := newEnv(t, b)
	events := w.append("a1", "b1")
	got := w.take(2)

	w.exchange([]ports.WebhookResult{
		w.settled(got[0], event.Accepted), w.settled(got[1], event.Refused),
	}, w.fetch(10, 10))

	w.restart()
	due := w.exchange(nil, w.fetch(10, 10))
	w.wantLabels(due.Fresh)
	w.wantLabels(due.Retries)
	w.wantStatus(events[0], event.Delivered, event.Accepted)
	w.wantStatus(events[1], event.Failed, event.Refused)
}

func testFailedEventIsRetriedWhenDue(t *testing.T, b Fixture) {
	// A failed event is returned again when it is due, not before, with its attempts counted.
	w := newEnv(t, b)
	e := w.append("a1")[0]
	got := w.take(1)[0]
	due := w.exchange([]ports.WebhookResult{w.failed(got, w.now.Add(time.Minute))}, w.fetch(10, 10))
	w.wantLabels(due.Retries)
	if want := w.now.Add(time.Minute); !due.NextRetry.Equal(want) {
		t.Errorf("next retry at %v, want %v", due.NextRetry, want)
	}
	w.wantStatus(e, event.Pending, event.Refused)

	w.now = w.now.Add(time.Minute)
	due = w.exchange(nil, w.fetch(10, 10))

	w.wantLabels(due.Fresh)
	w.wantLabels(due.Retries, "a1")
	again := due.Retries[0]
	if !again.InBacklog || again.Trace != e.Trace || again.Attempts != 1 || again.AttemptsSinceDue != 1 || again.Blocked ||
		!again.DueSince.Equal(e.OccurredAt) {
		t.Errorf("got %+v", again)
	}
	w.exchange([]ports.WebhookResult{w.failed(again, w.now.Add(time.Hour))}, w.fetch(1, 1))
	w.now = w.now.Add(time.Hour)
	again = w.exchange(nil, w.fetch(10, 10)).Retries[0]
	if again.Attempts != 2 || again.AttemptsSinceDue != 2 {
		t.Errorf("got %+v", again)
	}
	w.exchange([]ports.WebhookResult{w.settled(again, event.Duplicate)}, w.fetch(1, 1))
	w.wantStatus(e, event.Delivered, event.Refused, event.Refused, event.Duplicate)
}

func testRetryWithoutAttempt(t *testing.T, b Fixture) {
	// An event whose attempt does not count is returned when it is due, before the later events of
	// its subject, and has no attempt, in the queue as well as in the backlog.
	w := newEnv(t, b)
	e := w.append("a1", "a2")[0]
	got := w.take(2)
	uncounted := func(q ports.QueuedWebhook) ports.WebhookResult {
		return ports.WebhookResult{Event: q, Outcome: ports.WebhookRetry, RetryAt: w.now.Add(time.Minute)}
	}
	w.exchange([]ports.WebhookResult{uncounted(got[0]), w.deferred(got[1])}, w.fetch(1, 1))

	for range 2 {
		w.wantLabels(w.exchange(nil, w.fetch(10, 10)).Retries)
		w.now = w.now.Add(time.Minute)
		due := w.exchange(nil, w.fetch(10, 10))
		w.wantLabels(due.Retries, "a1")
		if again := due.Retries[0]; again.Attempts != 0 || again.AttemptsSinceDue != 0 || !again.DueSince.Equal(e.OccurredAt) {
			t.Errorf("got %+v", again)
		}
		w.wantStatus(e, event.Pending)
		got[0] = due.Retries[0]
		w.exchange([]ports.WebhookResult{uncounted(got[0])}, w.fetch(1, 1))
	}

	w.exchange([]ports.WebhookResult{w.settled(got[0], event.Accepted)}, w.fetch(1, 1))
	w.wantStatus(e, event.Delivered, event.Accepted)
	w.wantLabels(w.exchange(nil, w.fetch(10, 10)).Retries, "a2")
}

func testAttemptsOutsideQueue(t *testing.T, b Fixture) {
	// An event in the backlog may be sent outside the queue too. Its attempts are numbered in the
	// order in which they are recorded.
	w := newEnv(t, b)
	e := w.append("a1")[0]
	got := w.take(1)[0]
	outside := func() {
		t.Helper()
		if err := b.Log.Record(context.Background(), e.Rendered(e.Envelope()), *w.attempt(event.TimedOut)); err != nil {
			t.Fatal(err)
		}
	}
	w.exchange([]ports.WebhookResult{w.failed(got, w.now)}, w.fetch(1, 1))
	outside()
	got = w.exchange(nil, w.fetch(10, 10)).Retries[0]
	w.exchange([]ports.WebhookResult{w.failed(got, w.now)}, w.fetch(1, 1))
	outside()
	got = w.exchange(nil, w.fetch(10, 10)).Retries[0]

	w.exchange([]ports.WebhookResult{w.settled(got, event.Accepted)}, w.fetch(1, 1))

	w.wantStatus(e, event.Delivered, event.Refused, event.TimedOut, event.Refused, event.TimedOut, event.Accepted)
}

func testLaterEventsOfSubjectAreDeferred(t *testing.T, b Fixture) {
	// Events after a failed one of their subject wait until it is settled, also those that
	// are stored later, and are then returned one by one.
	w := newEnv(t, b)
	w.append("a1", "a2", "b1")
	got := w.take(3)
	retry := w.now.Add(time.Minute)
	w.exchange([]ports.WebhookResult{w.failed(got[0], retry), w.deferred(got[1]), w.settled(got[2], event.Accepted)}, w.fetch(1, 1))

	// A new event of the subject is blocked.
	w.append("a3", "b2")
	due := w.exchange(nil, w.fetch(10, 10))
	w.wantLabels(due.Fresh, "a3", "b2")
	if !due.Fresh[0].Blocked || due.Fresh[1].Blocked {
		t.Errorf("blocked: %v %v", due.Fresh[0].Blocked, due.Fresh[1].Blocked)
	}
	w.exchange([]ports.WebhookResult{w.deferred(due.Fresh[0]), w.settled(due.Fresh[1], event.Accepted)}, w.fetch(1, 1))

	// Only the first is due at its time; when it is settled the second is due, and so on.
	w.now = retry
	promoted := w.now
	for _, label := range []string{"a1", "a2", "a3"} {
		due = w.exchange(nil, w.fetch(10, 10))
		w.wantLabels(due.Retries, label)
		if due.Retries[0].Blocked || !due.Retries[0].HasSuccessor {
			t.Errorf("%s: %+v", label, due.Retries[0])
		}
		// Events without an attempt are due since they were made due.
		if since := due.Retries[0].DueSince; label != "a1" && !since.Equal(promoted) {
			t.Errorf("%s is due since %v, not %v", label, since, promoted)
		}
		w.now = w.now.Add(time.Minute)
		promoted = w.now
		w.exchange([]ports.WebhookResult{w.settled(due.Retries[0], event.Accepted)}, w.fetch(1, 1))
	}
	w.wantLabels(w.exchange(nil, w.fetch(10, 10)).Retries)
}

func testFirstDeferredEventIsMadeDue(t *testing.T, b Fixture) {
	// With HasSuccessor, the outcome of a deferred event makes the first event of its subject
	// due if that is deferred too.
	w := newEnv(t, b)
	w.append("a1", "a2")
	got := w.take(2)
	w.exchange([]ports.WebhookResult{w.deferred(got[0]), w.deferred(got[1])}, w.fetch(1, 1))
	w.wantLabels(w.exchange(nil, w.fetch(10, 10)).Retries)
	w.append("a3")
	got = w.take(1)
	if !got[0].Blocked {
		t.Error("a3 is not blocked by a1")
	}

	got[0].HasSuccessor = true
	w.exchange([]ports.WebhookResult{w.deferred(got[0])}, w.fetch(1, 1))

	w.wantLabels(w.exchange(nil, w.fetch(10, 10)).Retries, "a1")
}

func testRecordingIsIdempotent(t *testing.T, b Fixture) {
	// Recording an outcome again, also by a session that lost the platform, changes nothing.
	w := newEnv(t, b)
	events := w.append("a1", "b1")
	got := w.take(2)
	done := []ports.WebhookResult{w.settled(got[0], event.Accepted), w.failed(got[1], w.now.Add(time.Minute))}
	w.exchange(done, w.fetch(1, 1))

	w.exchange(done, w.fetch(1, 1))
	w.restart()
	w.exchange(done, w.fetch(1, 1))

	w.wantStatus(events[0], event.Delivered, event.Accepted)
	w.wantStatus(events[1], event.Pending, event.Refused)
	w.now = w.now.Add(time.Minute)
	due := w.exchange(nil, w.fetch(10, 10))
	w.wantLabels(due.Fresh)
	w.wantLabels(due.Retries, "b1")
}

func testPlatformHasOneOwner(t *testing.T, b Fixture) {
	// A platform is owned by the first session that claims it, until that session releases it
	// or ends.
	w := newEnv(t, b)
	ctx := context.Background()
	unknown := newPlatformID()
	other, err := b.Queue.OpenSession(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	claim := func(s ports.WebhookSession) bool {
		t.Helper()
		claimed, err := s.Claim(ctx, []ident.Platform{w.platform, unknown})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := claimed[unknown]; ok {
			t.Error("a platform that does not exist was claimed")
		}
		endpoint, ok := claimed[w.platform]
		if ok && (endpoint.URL != endpointURL || endpoint.Environment != "SANDBOX") {
			t.Errorf("endpoint %+v", endpoint)
		}
		return ok
	}

	if claim(other) {
		t.Fatal("two owners")
	}
	if err := w.session.Release(ctx, []ident.Platform{w.platform}); err != nil {
		t.Fatal(err)
	}
	if !claim(other) {
		t.Fatal("no owner after a release")
	}
	if claim(w.session) {
		t.Fatal("two owners")
	}
	other.Close()
	w.eventually(func() bool { return claim(w.session) }, "no owner after the end of the session")
}

func testScanFindsDue(t *testing.T, b Fixture) {
	// A scan returns the platforms with due events, except the skipped ones, and the endpoints
	// of the watched ones.
	w := newEnv(t, b)
	ctx := context.Background()
	fresh, failing, idle := b.Platform(t, endpointURL), b.Platform(t, endpointURL), b.Platform(t, "")
	w.append("a1")
	got := w.take(1)
	b.Append(t, w.event(fresh, "x1"), w.event(failing, "y1"), w.event(idle, "z1"))
	if _, err := w.session.Claim(ctx, []ident.Platform{failing}); err != nil {
		t.Fatal(err)
	}
	retry := w.now.Add(time.Hour)
	y := w.exchange(nil, ports.WebhookFetch{Platform: failing, Fresh: 1}).Fresh[0]
	w.exchange([]ports.WebhookResult{w.settled(got[0], event.Accepted), w.failed(y, retry)}, w.fetch(1, 1))

	scan := func(now time.Time, skip ...ident.Platform) map[ident.Platform]bool {
		t.Helper()
		s, err := w.session.Scan(ctx, now, skip, []ident.Platform{fresh, idle}, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Endpoints) != 2 || s.Endpoints[fresh].URL != endpointURL || s.Endpoints[idle].URL != "" {
			t.Errorf("endpoints %+v", s.Endpoints)
		}
		found := map[ident.Platform]bool{}
		for _, p := range s.Due {
			found[p] = true
		}
		return found
	}
	if found := scan(w.now); !found[fresh] || found[failing] || found[idle] || found[w.platform] {
		t.Errorf("now: %v", found)
	}
	if found := scan(retry); !found[fresh] || !found[failing] {
		t.Errorf("later: %v", found)
	}
	if found := scan(retry, fresh, w.platform); found[fresh] || !found[failing] {
		t.Errorf("skipping: %v", found)
	}
}

func testNoEndpoint(t *testing.T, b Fixture) {
	// Events of a platform without an endpoint are stored, not sent, and can be redelivered.
	w := newEnv(t, b)
	p := b.Platform(t, "")
	if _, err := w.session.Claim(context.Background(), []ident.Platform{p}); err != nil {
		t.Fatal(err)
	}
	e := w.event(p, "a1")
	b.Append(t, e)

	want := ports.WebhookFetch{Platform: p, Fresh: 9, Retries: 9}
	w.wantLabels(w.exchange(nil, want).Fresh)
	w.wantStatus(e, event.Unsent)
	if n, err := b.Log.Redeliver(context.Background(), p, ports.Redelivery{Status: event.Unsent}, w.now); err != nil || n != 1 {
		t.Fatalf("redelivered %d, %v", n, err)
	}
	w.wantLabels(w.exchange(nil, want).Retries, "a1")
}
