package webhookstest

import (
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
)

const endpointURL = "https://example.com/hooks"

// env is one platform of a fixture, owned by one session. Its events have labels: a letter for
// the subject and a number for the position in it.
type env struct {
	t        *testing.T
	fixture  Fixture
	session  ports.WebhookSession
	platform ident.Platform
	now      time.Time
	subjects map[byte]uuid.UUID
	labels   map[ident.Webhook]string
	inFlight []int64
}

func newEnv(t *testing.T, b Fixture) *env {
	t.Helper()
	w := &env{
		t: t, fixture: b, platform: b.Platform(t, endpointURL), now: time.Now().UTC().Truncate(time.Millisecond),
		subjects: map[byte]uuid.UUID{}, labels: map[ident.Webhook]string{},
	}
	w.openSession()
	return w
}

func (w *env) openSession() {
	w.t.Helper()
	ctx := context.Background()
	session, err := w.fixture.Queue.OpenSession(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(session.Close)
	w.session, w.inFlight = session, nil
	w.eventually(func() bool {
		claimed, err := session.Claim(ctx, []ident.Platform{w.platform})
		if err != nil {
			w.t.Fatal(err)
		}
		_, ok := claimed[w.platform]
		return ok
	}, "the platform cannot be claimed")
}

// restart opens a new session, as a process does that lost its own.
func (w *env) restart() {
	w.t.Helper()
	w.session.Close()
	w.openSession()
}

// eventually waits for a condition: the end of a connection is noticed with a delay.
func (w *env) eventually(condition func() bool, message string) {
	w.t.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for range 1000 {
		if condition() {
			return
		}
		<-ticks.C
	}
	w.t.Fatal(message)
}

func (w *env) event(p ident.Platform, label string) event.Event {
	if w.subjects[label[0]] == uuid.Nil {
		w.subjects[label[0]] = uuid.Must(uuid.NewV7())
	}
	e := event.Event{
		ID: newWebhookID(w.now), Platform: p, Type: event.OutgoingPayment, Name: event.OutgoingPaymentCompleted,
		Subject: w.subjects[label[0]], OccurredAt: w.now,
	}
	if label[1] == '1' { // others belong to no trace
		e.Trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	}
	w.labels[e.ID] = label
	return e
}

func (w *env) append(labels ...string) []event.Event {
	w.t.Helper()
	events := make([]event.Event, len(labels))
	for i, label := range labels {
		events[i] = w.event(w.platform, label)
	}
	w.fixture.Append(w.t, events...)
	return events
}

func (w *env) fetch(fresh, retries int) ports.WebhookFetch {
	return ports.WebhookFetch{Platform: w.platform, Fresh: fresh, Retries: retries, InFlight: w.inFlight}
}

// exchange records outcomes and fetches due events. Events with an outcome are no longer in
// flight.
func (w *env) exchange(results []ports.WebhookResult, fetch ports.WebhookFetch) ports.DueWebhooks {
	w.t.Helper()
	for _, d := range results {
		w.inFlight = slices.DeleteFunc(slices.Clone(w.inFlight), func(seq int64) bool { return seq == d.Event.Seq })
	}
	due, err := w.session.Exchange(context.Background(), w.now, results, []ports.WebhookFetch{fetch})
	if err != nil {
		w.t.Fatal(err)
	}
	return due[0]
}

// take fetches fresh events, which are in flight from then on.
func (w *env) take(n int) []ports.QueuedWebhook {
	w.t.Helper()
	fresh := w.exchange(nil, w.fetch(n, 0)).Fresh
	for _, q := range fresh {
		w.inFlight = append(w.inFlight, q.Seq)
	}
	return fresh
}

func (w *env) attempt(outcome event.Outcome) *event.Attempt {
	return &event.Attempt{AttemptedAt: w.now, Duration: 3 * time.Millisecond, Outcome: outcome, StatusCode: 500, Error: "e", Response: "r"}
}

func (w *env) settled(q ports.QueuedWebhook, outcome event.Outcome) ports.WebhookResult {
	return ports.WebhookResult{Event: q, Outcome: ports.WebhookSettled, Attempt: w.attempt(outcome)}
}

func (w *env) failed(q ports.QueuedWebhook, next time.Time) ports.WebhookResult {
	return ports.WebhookResult{Event: q, Outcome: ports.WebhookRetry, RetryAt: next, Attempt: w.attempt(event.Refused)}
}

func (w *env) deferred(q ports.QueuedWebhook) ports.WebhookResult {
	return ports.WebhookResult{Event: q, Outcome: ports.WebhookDeferred}
}

func (w *env) wantLabels(got []ports.QueuedWebhook, want ...string) {
	w.t.Helper()
	var labels []string
	for _, q := range got {
		labels = append(labels, w.labels[q.ID])
	}
	if !slices.Equal(labels, want) {
		w.t.Fatalf("got %v, want %v", labels, want)
	}
}

// wantStatus compares the status of a delivery and the outcomes of its attempts.
func (w *env) wantStatus(e event.Event, want event.Status, attempts ...event.Outcome) {
	w.t.Helper()
	d, err := w.fixture.Log.Delivery(context.Background(), e.Platform, e.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	var outcomes []event.Outcome
	for i, a := range d.Attempts {
		if a.Number != i+1 {
			w.t.Errorf("attempt %d is numbered %d", i+1, a.Number)
		}
		outcomes = append(outcomes, a.Outcome)
	}
	if d.Status != want || !slices.Equal(outcomes, attempts) {
		w.t.Errorf("%s: %s after %v, want %s after %v", w.labels[e.ID], d.Status, outcomes, want, attempts)
	}
}

func newPlatformID() (p ident.Platform) {
	p.SetUUID(uuid.Must(uuid.NewV7()))
	return p
}

var webhookCounter atomic.Uint32

// newWebhookID returns an id with the given time; ids increase.
func newWebhookID(at time.Time) (id ident.Webhook) {
	u := uuid.Must(uuid.NewV7())
	millis := uint64(at.UnixMilli())
	for i := range 6 {
		u[i] = byte(millis >> (40 - 8*i))
	}
	binary.BigEndian.PutUint32(u[9:], webhookCounter.Add(1))
	u[6], u[7], u[8] = 0x70, 0, 0x80
	id.SetUUID(u)
	return id
}
