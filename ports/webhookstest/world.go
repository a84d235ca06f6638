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

// world is one platform of a bench, owned by one session, with events that go by
// labels: a letter for the subject and a number for the place in it.
type world struct {
	t        *testing.T
	bench    Bench
	session  ports.WebhookSession
	platform ident.Platform
	now      time.Time
	subjects map[byte]uuid.UUID
	labels   map[ident.Webhook]string
	held     []int64
}

func newWorld(t *testing.T, b Bench) *world {
	t.Helper()
	w := &world{
		t: t, bench: b, platform: b.Platform(t, endpointURL), now: time.Now().UTC().Truncate(time.Millisecond),
		subjects: map[byte]uuid.UUID{}, labels: map[ident.Webhook]string{},
	}
	w.attend()
	return w
}

func (w *world) attend() {
	w.t.Helper()
	ctx := context.Background()
	session, err := w.bench.Queue.Attend(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(session.Close)
	w.session, w.held = session, nil
	w.eventually(func() bool {
		claimed, err := session.Claim(ctx, []ident.Platform{w.platform})
		if err != nil {
			w.t.Fatal(err)
		}
		_, ok := claimed[w.platform]
		return ok
	}, "the platform cannot be claimed")
}

// restart is what a process does that lost its session.
func (w *world) restart() {
	w.t.Helper()
	w.session.Close()
	w.attend()
}

// eventually asks again and again: the end of a connection is noticed a little later.
func (w *world) eventually(holds func() bool, message string) {
	w.t.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for range 1000 {
		if holds() {
			return
		}
		<-ticks.C
	}
	w.t.Fatal(message)
}

func (w *world) event(p ident.Platform, label string) event.Event {
	if w.subjects[label[0]] == uuid.Nil {
		w.subjects[label[0]] = uuid.Must(uuid.NewV7())
	}
	e := event.Event{
		ID: newWebhookID(w.now), Platform: p, Type: event.OutgoingPayment, Name: event.OutgoingPaymentCompleted,
		Subject: w.subjects[label[0]], At: w.now,
	}
	w.labels[e.ID] = label
	return e
}

func (w *world) append(labels ...string) []event.Event {
	w.t.Helper()
	events := make([]event.Event, len(labels))
	for i, label := range labels {
		events[i] = w.event(w.platform, label)
	}
	w.bench.Append(w.t, events...)
	return events
}

func (w *world) want(fresh, retries int) ports.WebhookWant {
	return ports.WebhookWant{Platform: w.platform, Fresh: fresh, Retries: retries, Held: w.held}
}

// exchange lets go of what is done.
func (w *world) exchange(done []ports.WebhookDone, want ports.WebhookWant) ports.WebhookDue {
	w.t.Helper()
	for _, d := range done {
		w.held = slices.DeleteFunc(slices.Clone(w.held), func(seq int64) bool { return seq == d.Event.Seq })
	}
	due, err := w.session.Exchange(context.Background(), w.now, done, []ports.WebhookWant{want})
	if err != nil {
		w.t.Fatal(err)
	}
	return due[0]
}

// take reads fresh events and holds them from then on.
func (w *world) take(n int) []ports.QueuedWebhook {
	w.t.Helper()
	fresh := w.exchange(nil, w.want(n, 0)).Fresh
	for _, q := range fresh {
		w.held = append(w.held, q.Seq)
	}
	return fresh
}

func (w *world) attempt(outcome event.Outcome) *event.Attempt {
	return &event.Attempt{At: w.now, Took: 3 * time.Millisecond, Outcome: outcome, StatusCode: 500, Error: "e", Response: "r"}
}

func (w *world) settled(q ports.QueuedWebhook, outcome event.Outcome) ports.WebhookDone {
	return ports.WebhookDone{Event: q, Fate: ports.Settled, Attempt: w.attempt(outcome)}
}

func (w *world) failed(q ports.QueuedWebhook, next time.Time) ports.WebhookDone {
	return ports.WebhookDone{Event: q, Fate: ports.RetryAt, Next: next, Attempt: w.attempt(event.Refused)}
}

func (w *world) standBack(q ports.QueuedWebhook) ports.WebhookDone {
	return ports.WebhookDone{Event: q, Fate: ports.StandBack}
}

func (w *world) same(got []ports.QueuedWebhook, want ...string) {
	w.t.Helper()
	var labels []string
	for _, q := range got {
		labels = append(labels, w.labels[q.ID])
	}
	if !slices.Equal(labels, want) {
		w.t.Fatalf("got %v, want %v", labels, want)
	}
}

// status checks how a delivery stands and what its attempts were.
func (w *world) status(e event.Event, want event.Status, attempts ...event.Outcome) {
	w.t.Helper()
	d, err := w.bench.Log.Delivery(context.Background(), e.Platform, e.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	var outcomes []event.Outcome
	for i, a := range d.Attempts {
		if a.N != i+1 {
			w.t.Errorf("attempt %d is numbered %d", i+1, a.N)
		}
		outcomes = append(outcomes, a.Outcome)
	}
	if d.Status != want || !slices.Equal(outcomes, attempts) {
		w.t.Errorf("%s: %s after %v, want %s after %v", w.labels[e.ID], d.Status, outcomes, want, attempts)
	}
}

func newPlatformID() (p ident.Platform) {
	ident.Set(&p, uuid.Must(uuid.NewV7()))
	return p
}

var made atomic.Uint32

// newWebhookID makes ids that carry the time and increase within it.
func newWebhookID(at time.Time) (id ident.Webhook) {
	u := uuid.Must(uuid.NewV7())
	millis := uint64(at.UnixMilli())
	for i := range 6 {
		u[i] = byte(millis >> (40 - 8*i))
	}
	binary.BigEndian.PutUint32(u[9:], made.Add(1))
	u[6], u[7], u[8] = 0x70, 0, 0x80
	ident.Set(&id, u)
	return id
}
