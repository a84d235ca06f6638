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

// town is a queue in memory and the receivers of some platforms.
type town struct {
	memory *webhookstest.MemoryQueue
	clock  *shiftedClock

	mu sync.Mutex
	// answers says how a receiver answers: after a while, and whether it has the event.
	answers  func(visit) reply
	visits   []visit
	inside   map[ident.Platform]int
	crowd    map[ident.Platform]int // most at once
	ids      uint32
	endpoint string
}

// visit is one delivery that reached a receiver.
type visit struct {
	ports.WebhookDelivery
	n  int // of this event, from 1
	at time.Time
}

// reply is what a receiver does. A silent one never answers.
type reply struct {
	after   time.Duration
	outcome event.Outcome
	silent  bool
	// lost: it has the event, and its answer does not arrive.
	lost bool
}

// shiftedClock runs like time and can be put forward.
type shiftedClock struct {
	mu    sync.Mutex
	shift time.Duration
}

func (c *shiftedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().UTC().Add(c.shift)
}

func (c *shiftedClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shift += d
}

func newTown() *town {
	return &town{
		memory: webhookstest.NewMemoryQueue(), clock: &shiftedClock{}, endpoint: "https://example.com/",
		answers: func(visit) reply { return reply{outcome: event.Accepted} },
		inside:  map[ident.Platform]int{}, crowd: map[ident.Platform]int{},
	}
}

// platform makes one whose deliveries carry its id in their URL.
func (t *town) platform() (p ident.Platform) {
	ident.SetUUID(&p, uuid.New())
	t.memory.SetEndpoint(p, t.endpoint+p.String())
	return p
}

// event makes one more of a subject. Tests name subjects by numbers.
func (t *town) event(p ident.Platform, subject byte) event.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ids++
	now := t.clock.Now()
	id := uuid.UUID{6: 0x70, 8: 0x80, 12: byte(t.ids >> 24), 13: byte(t.ids >> 16), 14: byte(t.ids >> 8), 15: byte(t.ids)}
	for i := range 6 {
		id[i] = byte(uint64(now.UnixMilli()) >> (40 - 8*i))
	}
	e := event.Event{Platform: p, Type: event.OutgoingPayment, Name: event.OutgoingPaymentCompleted, Subject: uuid.UUID{0: 1, 15: subject}, OccurredAt: now}
	ident.SetUUID(&e.ID, id)
	return e
}

// tell queues events of the given subjects.
func (t *town) tell(p ident.Platform, subjects ...byte) []event.Event {
	events := make([]event.Event, len(subjects))
	for i, s := range subjects {
		events[i] = t.event(p, s)
	}
	t.memory.Append(events...)
	return events
}

// Deliver is the network and the receiver at its end.
func (t *town) Deliver(ctx context.Context, d ports.WebhookDelivery) ports.WebhookResponse {
	began := time.Now()
	p, v := t.enter(d)
	defer t.leave(p)
	r := t.answer(v)
	wait := r.after
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
	case r.lost:
		t.saw(v)
		return ports.WebhookResponse{Outcome: event.Unreachable, Error: "lost", Duration: took}
	case r.outcome.Delivered():
		t.saw(v)
		return ports.WebhookResponse{Outcome: r.outcome, StatusCode: 200, Duration: took}
	case r.outcome == event.Refused:
		return ports.WebhookResponse{Outcome: r.outcome, StatusCode: 500, Response: "no", Duration: took}
	default:
		return ports.WebhookResponse{Outcome: r.outcome, Error: "no", Duration: took}
	}
}

func (t *town) enter(d ports.WebhookDelivery) (ident.Platform, visit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := ident.ParsePlatform(d.Endpoint.URL[strings.LastIndexByte(d.Endpoint.URL, '/')+1:])
	if err != nil {
		panic(fmt.Sprintf("delivery to %q", d.Endpoint.URL))
	}
	t.inside[p]++
	t.crowd[p] = max(t.crowd[p], t.inside[p])
	v := visit{WebhookDelivery: d, n: 1, at: time.Now()}
	for _, earlier := range t.visits {
		if earlier.ID == d.ID {
			v.n++
		}
	}
	return p, v
}

func (t *town) leave(p ident.Platform) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inside[p]--
}

func (t *town) answer(v visit) reply {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.answers(v)
}

func (t *town) saw(v visit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.visits = append(t.visits, v)
}

// accepted are the events that receivers have, each where it came first.
func (t *town) accepted() []ident.Webhook {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []ident.Webhook
	for _, v := range t.visits {
		if !slices.Contains(ids, v.ID) {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

// New is the town's source of ids.
func (t *town) New(time.Time) uuid.UUID { return t.event(ident.Platform{}, 0).ID.UUID() }

// dispatcher makes one on the town's queue.
func (t *town) dispatcher(c Config) *Notify {
	c.Queue, c.Log, c.Webhooks, c.Clock, c.IDs = t.memory, t.memory, t, t.clock, t
	return New(c)
}

// run starts a dispatcher; the function it returns stops it and waits.
func run(n *Notify) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.Run(ctx)
	}()
	return func() { cancel(); <-ended }
}

// settle puts the clock forward, quarter of an hour by quarter, until nothing is to be
// delivered any more or so long has passed on it.
func (t *town) settle(within time.Duration) bool {
	for deadline := t.clock.Now().Add(within); t.memory.Pending() > 0 && t.clock.Now().Before(deadline); {
		time.Sleep(2 * time.Second)
		t.clock.advance(15 * time.Minute)
	}
	return t.memory.Pending() == 0
}

// delivery is how one stands, by the log.
func (t *town) delivery(tt *testing.T, e event.Event) ports.Delivery {
	tt.Helper()
	d, err := t.memory.Delivery(context.Background(), e.Platform, e.ID)
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
