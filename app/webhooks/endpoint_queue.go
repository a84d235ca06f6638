package webhooks

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
)

// endpointQueue delivers the events of one platform. The desk gives it events and takes from
// it what became of them; workers send in between, each until there is nothing more.
type endpointQueue struct {
	service  *Service
	platform ident.Platform
	// wake tells the desk that there is something to record or room to read.
	wake func()

	mu            sync.Mutex
	endpoint      ports.Endpoint
	breaker       circuitBreaker
	subjects      map[uuid.UUID]*subjectQueue
	ready         subjectFIFO    // heads of lines, to be sent
	inFlight      map[int64]bool // all in memory, until what became of them is recorded
	results       []ports.WebhookResult
	firstResultAt time.Time // when the first of done came, on the machine's clock
	sending       int
	stopped       bool // nothing more is begun
	workers       sync.WaitGroup
	fetchState
}

// subjectQueue is the events of one subject, in their order; the first is ready or being sent.
type subjectQueue struct {
	events []ports.QueuedWebhook
	// hasSuccessor: there are later ones in the backlog, to be made due after the last of these.
	hasSuccessor bool
	// unrecorded counts outcomes that the queue does not know yet; of those, failed
	// counts events that are to be tried again, and stoodBack those behind others.
	unrecorded, retrying, deferred int
}

func newEndpointQueue(n *Service, p ident.Platform, endpoint ports.Endpoint, ring func()) *endpointQueue {
	return &endpointQueue{
		service: n, platform: p, endpoint: endpoint, wake: ring, breaker: newCircuitBreaker(n.MaxConcurrency),
		subjects: map[uuid.UUID]*subjectQueue{}, inFlight: map[int64]bool{}, fetchState: fetchState{mayHaveNew: true, retryAt: n.Clock.Now(), lastActive: time.Now()},
	}
}

// enqueue puts an event in its line, or into the backlog if it must wait there for one
// before it. Whatever stands back does so for one that is in memory, which makes the
// next one due when it is settled, or for one in the backlog, which is made due.
func (l *endpointQueue) enqueue(q ports.QueuedWebhook) {
	l.inFlight[q.Seq] = true
	in := l.subjects[q.Subject]
	if in == nil {
		in = &subjectQueue{}
		l.subjects[q.Subject] = in
	}
	if in.mustDefer(q, l.service.maxPerSubject) {
		in.hasSuccessor = true
		// Should the first in the backlog stand back itself (behind one that is gone,
		// or that it is older than), this gets it going.
		q.HasSuccessor = q.Blocked
		l.addResult(in, ports.WebhookResult{Event: q, Outcome: ports.WebhookDeferred})
		return
	}
	in.hasSuccessor = in.hasSuccessor || q.HasSuccessor
	// What is sent again may be older than what waits; never before the one being sent.
	at := len(in.events)
	for at > 1 && in.events[at-1].Seq > q.Seq {
		at--
	}
	in.events = slices.Insert(in.events, at, q)
	if at == 0 {
		l.ready.push(q.Subject)
	}
}

// mustDefer tells that an event must stand back.
func (in *subjectQueue) mustDefer(q ports.QueuedWebhook, longest int) bool {
	switch {
	case q.Blocked, in.retrying > 0:
		return true // behind one in the backlog, or about to be there
	case len(in.events) == 0 && q.InBacklog:
		return false // the first in the backlog, and nothing is sent: those that stood back did so for it
	default:
		return in.deferred > 0 || len(in.events) >= longest
	}
}

// countUnrecorded keeps the book of outcomes that are not recorded.
func (in *subjectQueue) countUnrecorded(fate ports.WebhookOutcome, by int) {
	in.unrecorded += by
	if fate == ports.WebhookRetry {
		in.retrying += by
	} else if fate == ports.WebhookDeferred {
		in.deferred += by
	}
}

// dispatch begins as many deliveries as the gate allows.
func (l *endpointQueue) dispatch(ctx context.Context) {
	now := time.Now()
	for !l.stopped && l.endpoint.URL != "" && l.sending < l.breaker.allowed(now) {
		q, ok := l.nextEvent()
		if !ok {
			return
		}
		l.sending++
		endpoint, probe := l.endpoint, l.breaker.open
		l.workers.Go(func() { l.deliver(ctx, q, endpoint, probe) })
	}
}

// nextEvent is the event to be sent next.
func (l *endpointQueue) nextEvent() (ports.QueuedWebhook, bool) {
	subject, ok := l.ready.pop()
	if !ok {
		return ports.QueuedWebhook{}, false
	}
	return l.subjects[subject].events[0], true
}

// deliver sends one event after the other while it may.
func (l *endpointQueue) deliver(ctx context.Context, q ports.QueuedWebhook, endpoint ports.Endpoint, probe bool) {
	for more := true; more; {
		at := l.service.Clock.Now()
		answer := l.service.Webhooks.Deliver(ctx, ports.WebhookDelivery{Endpoint: endpoint, ID: q.ID, Body: q.Body, At: at})
		q, endpoint, probe, more = l.finishAttempt(ctx, q, endpoint, probe, at, answer)
	}
}

// finishAttempt decides what becomes of an event after an attempt, and what its worker does next.
func (l *endpointQueue) finishAttempt(ctx context.Context, q ports.QueuedWebhook, endpoint ports.Endpoint, probe bool, at time.Time, answer ports.WebhookResponse) (ports.QueuedWebhook, ports.Endpoint, bool, bool) {
	now := l.service.readClocks()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sending--
	if ctx.Err() != nil && !answer.Outcome.Delivered() {
		// We broke it off ourselves: it stays in the queue as if nothing had been.
		l.stopped = true
		l.wake()
		return q, endpoint, false, false
	}
	l.service.Metrics.Attempted(answer.Outcome, answer.Duration)
	l.updateBreaker(now.machine, endpoint, probe, answer.Outcome)

	in, made := l.subjects[q.Subject], newAttempt(at, answer)
	in.events = in.events[1:]
	done := ports.WebhookResult{Event: q, Attempt: &made}
	done.Event.Body = nil
	if !answer.Outcome.Delivered() {
		if next, again := event.NextAttempt(q.Name, q.AttemptsSinceDue+1, q.DueSince, now.service, rand.Uint64()); again {
			done.Outcome, done.RetryAt = ports.WebhookRetry, next
		} else {
			l.service.Metrics.Abandoned()
		}
	} else {
		l.service.Metrics.Delivered(now.service.Sub(q.Created))
	}
	l.finishEvent(in, done)

	if l.stopped || l.endpoint.URL == "" || l.sending >= l.breaker.allowed(now.machine) {
		return q, endpoint, false, false
	}
	next, ok := l.nextEvent()
	if !ok {
		return q, endpoint, false, false
	}
	l.sending++
	l.dispatch(ctx) // the gate may have opened
	return next, l.endpoint, l.breaker.open, true
}

// updateBreaker tells the gate, unless the endpoint was changed meanwhile.
func (l *endpointQueue) updateBreaker(now time.Time, endpoint ports.Endpoint, probe bool, outcome event.Outcome) {
	switch {
	case endpoint != l.endpoint:
	case outcome.Delivered():
		if l.breaker.recordSuccess() {
			l.service.Metrics.Resumed(l.platform)
		}
	case l.breaker.recordFailure(now, outcome.Responded(), probe):
		l.service.Metrics.Paused(l.platform, outcome)
	}
}

// finishEvent ends an event that was the first of its line: the next one is ready, or
// must stand back behind it.
func (l *endpointQueue) finishEvent(in *subjectQueue, done ports.WebhookResult) {
	if done.Outcome == ports.WebhookSettled {
		done.Event.HasSuccessor = in.hasSuccessor && len(in.events) == 0
		l.addResult(in, done)
		if len(in.events) > 0 {
			l.ready.push(done.Event.Subject)
		}
		return
	}
	// Should it be gone (settled by the last owner, who lost the platform before it
	// could say so), those that stand back for it must not wait.
	done.Event.HasSuccessor = true
	l.addResult(in, done)
	for _, follower := range in.events {
		follower.HasSuccessor = false
		l.addResult(in, ports.WebhookResult{Event: follower, Outcome: ports.WebhookDeferred})
	}
	in.events, in.hasSuccessor = nil, false // the one in the backlog wakes those behind it
}

// addResult keeps an outcome until it is recorded.
func (l *endpointQueue) addResult(in *subjectQueue, done ports.WebhookResult) {
	if len(l.results) == 0 {
		l.firstResultAt = time.Now()
	}
	done.Event.Body = nil
	l.results = append(l.results, done)
	in.countUnrecorded(done.Outcome, 1)
	if n := len(l.results); n == 1 || n == recordBatchSize || l.mayHaveNew && len(l.ready.subjects) < l.breaker.concurrency {
		l.wake()
	}
}
