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

// endpointQueue delivers the events of one platform to its endpoint. The dispatcher adds events and
// takes their outcomes; workers send in between, each until no event is ready.
type endpointQueue struct {
	service  *Service
	platform ident.Platform
	// wake notifies the dispatcher that there are outcomes to record or events to fetch.
	wake func()

	mu            sync.Mutex
	endpoint      ports.Endpoint
	breaker       circuitBreaker
	subjects      map[uuid.UUID]*subjectQueue
	ready         subjectFIFO    // subjects whose first event can be sent
	inFlight      map[int64]bool // every event in memory, by sequence number, until its outcome is recorded
	results       []ports.WebhookResult
	firstResultAt time.Time // when the first of results was added, on the machine clock
	sending       int
	stopped       bool // no further delivery starts
	workers       sync.WaitGroup
	fetchState
}

func newEndpointQueue(s *Service, p ident.Platform, endpoint ports.Endpoint, wake func()) *endpointQueue {
	return &endpointQueue{
		service: s, platform: p, endpoint: endpoint, wake: wake, breaker: newCircuitBreaker(s.MaxConcurrency),
		subjects: map[uuid.UUID]*subjectQueue{}, inFlight: map[int64]bool{}, fetchState: fetchState{mayHaveNew: true, retryAt: s.Clock.Now(), lastActive: time.Now()},
	}
}

// enqueue adds an event to the queue of its subject, or defers it to the backlog if it must wait
// for an earlier one. It is due again when that one is settled: an earlier event in memory makes
// its successor due, and one in the backlog is made due here.
func (q *endpointQueue) enqueue(w ports.QueuedWebhook) {
	q.inFlight[w.Seq] = true
	subject := q.subjects[w.Subject]
	if subject == nil {
		subject = &subjectQueue{}
		q.subjects[w.Subject] = subject
	}
	if subject.mustDefer(w, q.service.maxPerSubject) {
		subject.hasSuccessor = true
		// If the first in the backlog is itself deferred (behind one that is gone, or that it
		// is older than), this makes it due.
		w.HasSuccessor = w.Blocked
		q.addResult(subject, ports.WebhookResult{Event: w, Outcome: ports.WebhookDeferred})
		return
	}
	subject.hasSuccessor = subject.hasSuccessor || w.HasSuccessor
	// A redelivered event may be older than those that wait. It is never put before the one being
	// sent.
	at := len(subject.events)
	for at > 1 && subject.events[at-1].Seq > w.Seq {
		at--
	}
	subject.events = slices.Insert(subject.events, at, w)
	if at == 0 {
		q.ready.push(w.Subject)
	}
}

// dispatch starts as many deliveries as the circuit breaker allows.
func (q *endpointQueue) dispatch(ctx context.Context) {
	now := time.Now()
	for !q.stopped && q.endpoint.URL != "" && q.sending < q.breaker.allowed(now) {
		w, ok := q.nextEvent()
		if !ok {
			return
		}
		q.sending++
		endpoint, probe := q.endpoint, q.breaker.open
		q.workers.Go(func() { q.deliver(ctx, w, endpoint, probe) })
	}
}

// nextEvent takes the event to send next.
func (q *endpointQueue) nextEvent() (ports.QueuedWebhook, bool) {
	subject, ok := q.ready.pop()
	if !ok {
		return ports.QueuedWebhook{}, false
	}
	return q.subjects[subject].events[0], true
}

// deliver sends one event after another, as long as finishAttempt returns a next one.
func (q *endpointQueue) deliver(ctx context.Context, w ports.QueuedWebhook, endpoint ports.Endpoint, probe bool) {
	for more := true; more; {
		at := q.service.Clock.Now()
		response := q.service.Webhooks.Deliver(ctx, ports.WebhookDelivery{Endpoint: endpoint, ID: w.ID, Body: w.Body, At: at})
		w, endpoint, probe, more = q.finishAttempt(ctx, w, endpoint, probe, at, response)
	}
}

// finishAttempt sets the outcome of an event after an attempt. It returns the next event for the
// worker to send, with its endpoint and whether it is a probe; false if the worker ends.
func (q *endpointQueue) finishAttempt(ctx context.Context, w ports.QueuedWebhook, endpoint ports.Endpoint, probe bool, at time.Time, response ports.WebhookResponse) (ports.QueuedWebhook, ports.Endpoint, bool, bool) {
	now := q.service.readClocks()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sending--
	if ctx.Err() != nil && !response.Outcome.Delivered() {
		// The dispatcher interrupted it: the event stays in the queue without an attempt.
		q.stopped = true
		q.wake()
		return w, endpoint, false, false
	}
	q.service.Metrics.Attempted(response.Outcome, response.Duration)
	q.updateBreaker(now.machine, endpoint, probe, response.Outcome)

	subject, attempt := q.subjects[w.Subject], newAttempt(at, response)
	subject.events = subject.events[1:]
	result := ports.WebhookResult{Event: w, Attempt: &attempt}
	result.Event.Body = nil
	if !response.Outcome.Delivered() {
		if next, retry := event.NextAttempt(w.Name, w.AttemptsSinceDue+1, w.DueSince, now.service, rand.Uint64()); retry {
			result.Outcome, result.RetryAt = ports.WebhookRetry, next
		} else {
			q.service.Metrics.Abandoned()
		}
	} else {
		q.service.Metrics.Delivered(now.service.Sub(w.Created))
	}
	q.finishEvent(subject, result)

	if q.stopped || q.endpoint.URL == "" || q.sending >= q.breaker.allowed(now.machine) {
		return w, endpoint, false, false
	}
	next, ok := q.nextEvent()
	if !ok {
		return w, endpoint, false, false
	}
	q.sending++
	q.dispatch(ctx) // the circuit breaker may allow more now
	return next, q.endpoint, q.breaker.open, true
}

// updateBreaker records an outcome in the circuit breaker, unless the endpoint has changed since.
func (q *endpointQueue) updateBreaker(now time.Time, endpoint ports.Endpoint, probe bool, outcome event.Outcome) {
	switch {
	case endpoint != q.endpoint:
	case outcome.Delivered():
		if q.breaker.recordSuccess() {
			q.service.Metrics.Resumed(q.platform)
		}
	case q.breaker.recordFailure(now, outcome.Responded(), probe):
		q.service.Metrics.Paused(q.platform, outcome)
	}
}

// finishEvent adds the outcome of an event that was the first of its subject. The next event is
// ready if the outcome is settled, and is deferred behind it otherwise.
func (q *endpointQueue) finishEvent(subject *subjectQueue, result ports.WebhookResult) {
	if result.Outcome == ports.WebhookSettled {
		result.Event.HasSuccessor = subject.hasSuccessor && len(subject.events) == 0
		q.addResult(subject, result)
		if len(subject.events) > 0 {
			q.ready.push(result.Event.Subject)
		}
		return
	}
	// If the event is gone (settled by the previous owner, who lost the platform before it could
	// record that), those deferred behind it must not wait for it.
	result.Event.HasSuccessor = true
	q.addResult(subject, result)
	for _, follower := range subject.events {
		follower.HasSuccessor = false
		q.addResult(subject, ports.WebhookResult{Event: follower, Outcome: ports.WebhookDeferred})
	}
	subject.events, subject.hasSuccessor = nil, false // the event in the backlog makes them due
}

// addResult keeps an outcome until the dispatcher records it.
func (q *endpointQueue) addResult(subject *subjectQueue, result ports.WebhookResult) {
	if len(q.results) == 0 {
		q.firstResultAt = time.Now()
	}
	result.Event.Body = nil
	q.results = append(q.results, result)
	subject.countUnrecorded(result.Outcome, 1)
	if n := len(q.results); n == 1 || n == recordBatchSize || q.mayHaveNew && len(q.ready.subjects) < q.breaker.concurrency {
		q.wake()
	}
}
