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
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/webhookstest"
)

// testEnv is a queue in memory, and the endpoints of the platforms on it.
type testEnv struct {
	queue *webhookstest.MemoryQueue
	clock *offsetClock

	mu sync.Mutex
	// respond decides how an endpoint responds to a request.
	respond   func(receivedRequest) receiverReply
	requests  []receivedRequest
	early     int // requests with events whose next attempt was not due
	active    map[ident.Platform]int
	maxActive map[ident.Platform]int // maximum of active
	lastID    uint32
	endpoint  string
}

// receivedRequest is one delivery that reached an endpoint.
type receivedRequest struct {
	ports.WebhookDelivery
	attempt int // of this event, from 1
	at      time.Time
}

// receiverReply is the response of an endpoint. A silent one never responds.
type receiverReply struct {
	delay   time.Duration
	outcome event.Outcome
	silent  bool
	// responseLost: the endpoint accepts the event, but its response is lost.
	responseLost bool
}

// offsetClock is the time with an offset that the test advances.
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

// newPlatform sets the endpoint of a new platform to a URL that contains its id.
func (e *testEnv) newPlatform() (p ident.Platform) {
	p.SetUUID(uuid.New())
	e.queue.SetEndpoint(p, e.endpoint+p.String())
	return p
}

// newEvent creates an event of a subject. Tests name subjects by numbers.
func (e *testEnv) newEvent(p ident.Platform, subject byte) event.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lastID++
	now := e.clock.Now()
	id := uuid.UUID{6: 0x70, 8: 0x80, 12: byte(e.lastID >> 24), 13: byte(e.lastID >> 16), 14: byte(e.lastID >> 8), 15: byte(e.lastID)}
	for i := range 6 {
		id[i] = byte(uint64(now.UnixMilli()) >> (40 - 8*i))
	}
	created := event.Event{Platform: p, Type: event.OutgoingPayment, Name: event.OutgoingPaymentCompleted,
		Subject: uuid.UUID{0: 1, 15: subject}, OccurredAt: now}
	created.ID.SetUUID(id)
	return created
}

// appendEvents queues events of the given subjects.
func (e *testEnv) appendEvents(p ident.Platform, subjects ...byte) []event.Event {
	events := make([]event.Event, len(subjects))
	for i, s := range subjects {
		events[i] = e.newEvent(p, s)
	}
	e.queue.Append(events...)
	return events
}

// Deliver is the network and the endpoint.
func (e *testEnv) Deliver(ctx context.Context, d ports.WebhookDelivery) ports.WebhookResponse {
	start := time.Now()
	p, v := e.beginRequest(d)
	defer e.endRequest(p)
	r := e.replyTo(v)
	wait := r.delay
	if r.silent {
		wait = event.Timeout
	}
	// A timer of a synctest bubble that is due when it is created breaks the race detector's state
	// (golang/go#78156), so that the process crashes. A response without delay needs none.
	if wait > 0 {
		select {
		case <-ctx.Done():
			return ports.WebhookResponse{Outcome: event.Unreachable, Error: "interrupted"}
		case <-time.After(wait):
		}
	}
	duration := time.Since(start)
	switch {
	case r.silent:
		return ports.WebhookResponse{Outcome: event.TimedOut, Error: "no response", Duration: duration}
	case r.responseLost:
		e.recordRequest(v)
		return ports.WebhookResponse{Outcome: event.Unreachable, Error: "lost", Duration: duration}
	case r.outcome.Delivered():
		e.recordRequest(v)
		return ports.WebhookResponse{Outcome: r.outcome, StatusCode: 200, Duration: duration}
	case r.outcome == event.Refused:
		return ports.WebhookResponse{Outcome: r.outcome, StatusCode: 500, Response: "no", Duration: duration}
	default:
		return ports.WebhookResponse{Outcome: r.outcome, Error: "no", Duration: duration}
	}
}

func (e *testEnv) beginRequest(d ports.WebhookDelivery) (ident.Platform, receivedRequest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, err := ident.ParsePlatform(d.Endpoint.URL[strings.LastIndexByte(d.Endpoint.URL, '/')+1:])
	if err != nil {
		panic(fmt.Sprintf("delivery to %q", d.Endpoint.URL))
	}
	if e.queue.Waits(d.ID, e.clock.Now()) {
		e.early++
	}
	e.active[p]++
	e.maxActive[p] = max(e.maxActive[p], e.active[p])
	v := receivedRequest{WebhookDelivery: d, attempt: 1, at: time.Now()}
	for _, earlier := range e.requests {
		if earlier.ID == d.ID {
			v.attempt++
		}
	}
	return p, v
}

func (e *testEnv) endRequest(p ident.Platform) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.active[p]--
}

func (e *testEnv) replyTo(v receivedRequest) receiverReply {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.respond(v)
}

func (e *testEnv) recordRequest(v receivedRequest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = append(e.requests, v)
}

// acceptedIDs are the ids of the accepted events, in the order in which each was first accepted.
func (e *testEnv) acceptedIDs() []ident.Webhook {
	e.mu.Lock()
	defer e.mu.Unlock()
	var ids []ident.Webhook
	for _, v := range e.requests {
		if !slices.Contains(ids, v.ID) {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

// New implements ports.IDs.
func (e *testEnv) New(time.Time) uuid.UUID { return e.newEvent(ident.Platform{}, 0).ID.UUID() }

// newService is a service on the queue in memory.
// listenerStore is a store of platforms that may have a listener.
type listenerStore struct {
	Store
	until time.Time
}

func (s *listenerStore) Platform(_ context.Context, id ident.Platform) (platform.Platform, error) {
	return platform.Platform{ID: id, Environment: platform.Sandbox, ListenerUntil: s.until}, nil
}

func (s *listenerStore) SetListener(_ context.Context, _ ident.Platform, until time.Time) error {
	s.until = until
	return nil
}

func (e *testEnv) newService(c Config) *Service {
	c.Queue, c.Log, c.Webhooks, c.Clock, c.IDs = e.queue, e.queue, e, e.clock, e
	if c.Store == nil {
		c.Store = &listenerStore{}
	}
	c.Events = event.Registry{{Type: event.Test, Names: []string{event.TestSent}}}
	return New(c)
}

// startService runs the dispatcher of a service. stop stops it and waits.
func startService(service *Service) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		service.Run(ctx)
	}()
	return func() { cancel(); <-stopped }
}

// advanceUntilDelivered advances the clock by a quarter of an hour at a time, for at most within,
// until no event is pending. It reports whether that is so.
func (e *testEnv) advanceUntilDelivered(within time.Duration) bool {
	for deadline := e.clock.Now().Add(within); e.queue.Pending() > 0 && e.clock.Now().Before(deadline); {
		time.Sleep(2 * time.Second)
		e.clock.advance(15 * time.Minute)
	}
	return e.queue.Pending() == 0
}

// delivery reads the delivery of an event from the log.
func (e *testEnv) delivery(t *testing.T, of event.Event) ports.Delivery {
	t.Helper()
	d, err := e.queue.Delivery(context.Background(), of.Platform, of.ID)
	if err != nil {
		t.Fatal(err)
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
