package webhooks

import (
	"context"
	"time"

	"causeway/core/event"
	"causeway/ports"
)

// isPolling reports whether the queue fetches new events by itself, without a scan.
func (q *endpointQueue) isPolling(now clockReading) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.isPollingLocked(now)
}

// isPollingLocked is isPolling for callers that hold the mutex.
func (q *endpointQueue) isPollingLocked(now clockReading) bool {
	return now.machine.Sub(q.lastActive) < busyWindow || len(q.inFlight) > 0
}

// markDue notes that a scan found events that are due.
func (q *endpointQueue) markDue(now clockReading) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mayHaveNew, q.retryAt, q.lastActive = true, now.service, now.machine
}

// setEndpoint changes the endpoint. A new endpoint starts with a new circuit breaker.
func (q *endpointQueue) setEndpoint(endpoint ports.Endpoint) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if endpoint != q.endpoint {
		if q.breaker.open {
			q.service.Metrics.Resumed(q.platform)
		}
		q.endpoint, q.breaker, q.mayHaveNew = endpoint, newCircuitBreaker(q.service.MaxConcurrency), true
	}
}

// resume sends what an open circuit breaker or a missing endpoint held back.
func (q *endpointQueue) resume(ctx context.Context) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dispatch(ctx)
}

// expire gives up events whose retry window is over while the queue is blocked. Otherwise each gets
// one more attempt.
func (q *endpointQueue) expire(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.isBlocked() {
		return
	}
	for range len(q.ready.subjects) {
		id, _ := q.ready.pop()
		subject := q.subjects[id]
		w := subject.events[0]
		if now.Sub(w.DueSince) < event.RetryWindow {
			q.ready.push(id)
			continue
		}
		subject.events = subject.events[1:]
		q.service.Metrics.Abandoned()
		q.finishEvent(subject, ports.WebhookResult{Event: w, Attempt: &event.Attempt{
			AttemptedAt: now, Outcome: event.GivenUp, Error: "the endpoint did not accept any event during the retry window",
		}})
	}
}

// isIdle reports whether the queue has had nothing to do for idleTimeout.
func (q *endpointQueue) isIdle(now clockReading) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.inFlight) == 0 && q.sending == 0 && now.machine.Sub(q.lastActive) >= idleTimeout &&
		(q.retryAt.IsZero() || q.retryAt.Sub(now.service) >= idleTimeout)
}

// canRelease reports whether the queue only waits for a failing or missing endpoint, and returns its
// circuit breaker.
func (q *endpointQueue) canRelease(now clockReading) (circuitBreaker, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ok := q.isBlocked() && q.sending == 0 && len(q.results) == 0 && (q.endpoint.URL == "" || now.machine.Before(q.breaker.nextProbe))
	breaker := q.breaker
	if q.endpoint.URL == "" {
		breaker.nextProbe = now.machine.Add(maxProbeDelay)
	}
	return breaker, ok
}

// stop prevents further deliveries from starting.
func (q *endpointQueue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
}

func (q *endpointQueue) isSending() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sending > 0
}

// stopAndWait stops the queue and waits for its workers.
func (q *endpointQueue) stopAndWait() {
	q.stop()
	q.workers.Wait()
}
