package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
	"causeway/ports/webhookstest"
)

// testEnv is a queue in memory and the receivers of some platforms.
type testEnv struct {
	queue *webhookstest.MemoryQueue
	clock *offsetClock

	mu sync.Mutex
	// respond says how a receiver answers: after a while, and whether it has the event.
	respond   func(receivedRequest) receiverReply
	requests  []receivedRequest
	active    map[ident.Platform]int
	maxActive map[ident.Platform]int // most at once
	lastID    uint32
	endpoint  string
}

// receivedRequest is one delivery that reached a receiver.
type receivedRequest struct {
	ports.WebhookDelivery
	attempt int // of this event, from 1
	at      time.Time
}

// receiverReply is what a receiver does. A silent one never answers.
type receiverReply struct {
	delay   time.Duration
	outcome event.Outcome
	silent  bool
	// responseLost: it has the event, and its answer does not arrive.
	responseLost bool
}

// offsetClock runs like time and can be put forward.
type offsetClock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *offsetClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().UTC().Add(c.offset)
}

func (c *offsetClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

func newTestEnv() *testEnv {
	return &testEnv{
		queue: webhookstest.NewMemoryQueue(), clock: &offsetClock{}, endpoint: "https://example.com/",
		respond: func(receivedRequest) receiverReply { return receiverReply{outcome: event.Accepted} },
		active:  map[ident.Platform]int{}, maxActive: map[ident.Platform]int{},
	}
}

// newPlatform makes one whose deliveries carry its id in their URL.
func (t *testEnv) newPlatform() (p ident.Platform) {
	ident.SetUUID(&p, uuid.New())
	t.queue.SetEndpoint(p, t.endpoint+p.String())
	return p
}

// newEvent makes one more of a subject. Tests name subjects by numbers.
func (t *testEnv) newEvent(p ident.Platform, subject byte) event.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastID++
	now := t.clock.Now()
	id := uuid.UUID{6: 0x70, 8: 0x80, 12: byte(t.lastID >> 24), 13: byte(t.lastID >> 16), 14: byte(t.lastID >> 8), 15: byte(t.lastID)}
	for i := range 6 {
		id[i] = byte(uint64(now.UnixMilli()) >> (40 - 8*i))
	}
	e := event.Event{Platform: p, Type: event.OutgoingPayment, Name: event.OutgoingPaymentCompleted, Subject: uuid.UUID{0: 1, 15: subject}, OccurredAt: now}
	ident.SetUUID(&e.ID, id)
	return e
}

// appendEvents queues events of the given subjects.
func (t *testEnv) appendEvents(p ident.Platform, subjects ...byte) []event.Event {
	events := make([]event.Event, len(subjects))
	for i, s := range subjects {
		events[i] = t.newEvent(p, s)
	}
	t.queue.Append(events...)
	return events
}

// Deliver is the network and the receiver at its end.
func (t *testEnv) Deliver(ctx context.Context, d ports.WebhookDelivery) ports.WebhookResponse {
	began := time.Now()
	p, v := t.beginRequest(d)
	defer t.endRequest(p)
	r := t.replyTo(v)
	wait := r.delay
	if r.silent {
		wait = event.Timeout
	}
	select {
	case <-ctx.Done():
		return ports.WebhookResponse{Outcome: event.Unreachable, Error: "interrupted"}
	case <-time.After(wait):
	}
	took := time.Since(began)
	switch {
	case r.silent:
		return ports.WebhookResponse{Outcome: event.TimedOut, Error: "no answer", Duration: took}
	case r.responseLost:
		t.recordRequest(v)
		return ports.WebhookResponse{Outcome: event.Unreachable, Error: "lost", Duration: took}
	case r.outcome.Delivered():
		t.recordRequest(v)
		return ports.WebhookResponse{Outcome: r.outcome, StatusCode: 200, Duration: took}
	case r.outcome == event.Refused:
		return ports.WebhookResponse{Outcome: r.outcome, StatusCode: 500, Response: "no", Duration: took}
	default:
		return ports.WebhookResponse{Outcome: r.outcome, Error: "no", Duration: took}
	}
}

func (t *testEnv) beginRequest(d ports.WebhookDelivery) (ident.Platform, receivedRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := ident.ParsePlatform(d.Endpoint.URL[strings.LastIndexByte(d.Endpoint.URL, '/')+1:])
	if err != nil {
		panic(fmt.Sprintf("delivery to %q", d.Endpoint.URL))
	}
	t.active[p]++
	t.maxActive[p] = max(t.maxActive[p], t.active[p])
	v := receivedRequest{WebhookDelivery: d, attempt: 1, at: time.Now()}
	for _, earlier := range t.requests {
		if earlier.ID == d.ID {
			v.attempt++
		}
	}
	return p, v
}

func (t *testEnv) endRequest(p ident.Platform) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active[p]--
}

func (t *testEnv) replyTo(v receivedRequest) receiverReply {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.respond(v)
}

func (t *testEnv) recordRequest(v receivedRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests = append(t.requests, v)
}

// acceptedIDs are the events that receivers have, each where it came first.
func (t *testEnv) acceptedIDs() []ident.Webhook {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []ident.Webhook
	for _, v := range t.requests {
		if !slices.Contains(ids, v.ID) {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

// New is the town's source of ids.
func (t *testEnv) New(time.Time) uuid.UUID { return t.newEvent(ident.Platform{}, 0).ID.UUID() }

// newService makes one on the town's queue.
func (t *testEnv) newService(c Config) *Service {
	c.Queue, c.Log, c.Webhooks, c.Clock, c.IDs = t.queue, t.queue, t, t.clock, t
	return New(c)
}

// startService starts a dispatcher; the function it returns stops it and waits.
func startService(n *Service) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.Run(ctx)
	}()
	return func() { cancel(); <-ended }
}

// advanceUntilDelivered puts the clock forward, quarter of an hour by quarter, until nothing is to be
// delivered any more or so long has passed on it.
func (t *testEnv) advanceUntilDelivered(within time.Duration) bool {
	for deadline := t.clock.Now().Add(within); t.queue.Pending() > 0 && t.clock.Now().Before(deadline); {
		time.Sleep(2 * time.Second)
		t.clock.advance(15 * time.Minute)
	}
	return t.queue.Pending() == 0
}

// delivery is how one stands, by the log.
func (t *testEnv) delivery(tt *testing.T, e event.Event) ports.Delivery {
	tt.Helper()
	d, err := t.queue.Delivery(context.Background(), e.Platform, e.ID)
	if err != nil {
		tt.Fatal(err)
	}
	return d
}

func idsOf(events []event.Event) []ident.Webhook {
	ids := make([]ident.Webhook, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}
