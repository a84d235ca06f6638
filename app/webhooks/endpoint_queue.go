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
	// endSession ends the session of the dispatcher, because the state of the queue may be wrong.
	endSession func(error)

	mu            sync.Mutex
	endpoint      ports.Endpoint
	breaker       circuitBreaker
	subjects      map[uuid.UUID]*subjectQueue
	ready         subjectFIFO    // subjects whose first event can be sent
	inFlight      map[int64]bool // every event in memory, by sequence number, until its outcome is recorded
	recorded      recentOutcomes
	claimed       time.Time // when the session began to own the platform or later, on the machine clock
	results       []ports.WebhookResult
	firstResultAt time.Time // when the first of results was added, on the machine clock
	sending       int
	stopped       bool // no further delivery starts
	workers       sync.WaitGroup
	fetchState
}

func newEndpointQueue(s *Service, p ident.Platform, endpoint ports.Endpoint, wake func(), endSession func(error)) *endpointQueue {
	return &endpointQueue{
		service: s, platform: p, endpoint: endpoint, wake: wake, endSession: endSession, breaker: newCircuitBreaker(s.MaxConcurrency),
		subjects: map[uuid.UUID]*subjectQueue{}, inFlight: map[int64]bool{}, claimed: time.Now(),
		fetchState: fetchState{mayHaveNew: true, retryAt: s.Clock.Now(), lastActive: time.Now()},
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

// delivery is an event that is being sent.
type delivery struct {
	event    ports.QueuedWebhook
	endpoint ports.Endpoint
	probe    bool // it started while the circuit breaker was open
}

// dispatch starts as many deliveries as the circuit breaker allows.
func (q *endpointQueue) dispatch(ctx context.Context) {
	now := time.Now()
	for {
		d, ok := q.nextDelivery(now)
		if !ok {
			return
		}
		q.workers.Go(func() { q.deliver(ctx, d) })
	}
}

// nextDelivery takes the event to send next, if one is ready and may be sent now.
func (q *endpointQueue) nextDelivery(now time.Time) (delivery, bool) {
	if q.stopped || q.endpoint.URL == "" || q.sending >= q.breaker.allowed(now) {
		return delivery{}, false
	}
	subject, ok := q.ready.pop()
	if !ok {
		return delivery{}, false
	}
	q.sending++
	return delivery{event: q.subjects[subject].events[0], endpoint: q.endpoint, probe: q.breaker.open}, true
}

// deliver sends one event after another, as long as finishAttempt returns a next one.
func (q *endpointQueue) deliver(ctx context.Context, d delivery) {
	defer func() {
		if p := recover(); p != nil {
			q.endSession(newPanicError(p))
		}
	}()
	for more := true; more; {
		attemptedAt := q.service.Clock.Now()
		response := q.attempt(ctx, d, attemptedAt)
		d, more = q.finishAttempt(ctx, d, attemptedAt, response)
	}
}

// attempt sends an event. A panic or an unreadable body is an internal error of this attempt only.
func (q *endpointQueue) attempt(ctx context.Context, d delivery, at time.Time) (response ports.WebhookResponse) {
	defer func() {
		if p := recover(); p != nil {
			response = ports.WebhookResponse{Outcome: event.InternalError, Error: newPanicError(p).Error()}
		}
	}()
	if err := d.event.BodyError; err != nil {
		return ports.WebhookResponse{Outcome: event.InternalError, Error: err.Error()}
	}
	return q.service.deliver(ctx, d.event.Name, d.event.Trace, ports.WebhookDelivery{Endpoint: d.endpoint, ID: d.event.ID, Body: d.event.Body,
		At: at})
}

// finishAttempt sets the outcome of an event after an attempt. It returns the next delivery of the
// worker, and false if the worker ends.
func (q *endpointQueue) finishAttempt(ctx context.Context, d delivery, attemptedAt time.Time,
	response ports.WebhookResponse) (delivery, bool) {
	now := q.service.readClocks()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sending--
	if ctx.Err() != nil && !response.Outcome.Delivered() {
		// The dispatcher interrupted it: the event stays in the queue without an attempt.
		q.stopped = true
		q.wake()
		return delivery{}, false
	}
	q.service.Metrics.Attempted(response.Outcome, response.Duration)
	q.updateBreaker(now.machine, d, response)
	subject := q.subjects[d.event.Subject]
	subject.events = subject.events[1:]
	q.finishEvent(subject, q.resultOf(d.event, attemptedAt, response, now.service))

	next, more := q.nextDelivery(now.machine)
	if more {
		q.dispatch(ctx) // the circuit breaker may allow more now
	}
	return next, more
}

// resultOf decides what happens to an event after an attempt.
func (q *endpointQueue) resultOf(w ports.QueuedWebhook, attemptedAt time.Time, response ports.WebhookResponse,
	now time.Time) ports.WebhookResult {
	if response.Outcome == event.InternalError {
		// The attempt does not count. Others are not delayed if only this event fails.
		return ports.WebhookResult{Event: w, Outcome: ports.WebhookRetry, RetryAt: now.Add(internalErrorDelay + rand.N(internalErrorDelay))}
	}
	attempt := newAttempt(attemptedAt, response)
	result := ports.WebhookResult{Event: w, Attempt: &attempt}
	if response.Outcome.Delivered() {
		q.service.Metrics.Delivered(now.Sub(w.Created))
		if q.service.Config.Delivered != nil {
			q.service.Config.Delivered(w)
		}
	} else if next, retry := event.NextAttempt(w.Name, w.AttemptsSinceDue+1, w.DueSince, now, rand.Uint64()); retry {
		result.Outcome, result.RetryAt = ports.WebhookRetry, next
	} else if w.Name != event.TestSent { // nothing is lost with a test event
		q.service.Metrics.Abandoned()
	}
	return result
}

// updateBreaker records an outcome in the circuit breaker, unless the endpoint has changed since.
func (q *endpointQueue) updateBreaker(now time.Time, d delivery, response ports.WebhookResponse) {
	outcome := response.Outcome
	switch {
	case outcome == event.InternalError:
		if q.breaker.recordInternalError(now) {
			q.service.Metrics.InternalError(q.platform, response.Error)
		}
	case d.endpoint != q.endpoint:
	case outcome.Delivered():
		if q.breaker.recordSuccess() {
			q.service.Metrics.Resumed(q.platform)
		}
	case q.breaker.recordFailure(now, outcome.Responded(), d.probe):
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
