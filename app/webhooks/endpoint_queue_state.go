package webhooks

import (
	"context"
	"time"

	"causeway/core/event"
	"causeway/ports"
)

// isPolling tells that the lane need not be told of new events.
func (l *endpointQueue) isPolling(now clockReading) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isPollingLocked(now)
}

// isPollingLocked tells that the lane reads its queue on every call, if it has room.
func (l *endpointQueue) isPollingLocked(now clockReading) bool {
	return now.machine.Sub(l.lastActive) < busyWindow || len(l.inFlight) > 0
}

// markDue tells the lane that there is something for it.
func (l *endpointQueue) markDue(now clockReading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mayHaveNew, l.retryAt, l.lastActive = true, now.service, now.machine
}

// setEndpoint changes where the events go. A new endpoint has not failed yet.
func (l *endpointQueue) setEndpoint(endpoint ports.Endpoint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if endpoint != l.endpoint {
		if l.breaker.open {
			l.service.Metrics.Resumed(l.platform)
		}
		l.endpoint, l.breaker, l.mayHaveNew = endpoint, newCircuitBreaker(l.service.MaxConcurrency), true
	}
}

// resume sends what a closed gate, or a missing endpoint, held back.
func (l *endpointQueue) resume(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dispatch(ctx)
}

// expire gives up events whose time is over while nothing can be sent. (While
// something can, each gets one more attempt.)
func (l *endpointQueue) expire(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isBlocked() {
		return
	}
	for range len(l.ready.subjects) {
		subject, _ := l.ready.pop()
		in := l.subjects[subject]
		q := in.events[0]
		if now.Sub(q.DueSince) < event.RetryWindow {
			l.ready.push(subject)
			continue
		}
		in.events = in.events[1:]
		l.service.Metrics.Abandoned()
		l.finishEvent(in, ports.WebhookResult{Event: q, Attempt: &event.Attempt{
			AttemptedAt: now, Outcome: event.GivenUp, Error: "the endpoint did not accept anything for too long",
		}})
	}
}

// isIdle tells that the lane has had nothing to do for a while.
func (l *endpointQueue) isIdle(now clockReading) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.inFlight) == 0 && l.sending == 0 && now.machine.Sub(l.lastActive) >= idleTimeout &&
		(l.retryAt.IsZero() || l.retryAt.Sub(now.service) >= idleTimeout)
}

// canRelease tells that the lane only waits for an endpoint that fails, and what its
// gate knows of that.
func (l *endpointQueue) canRelease(now clockReading) (circuitBreaker, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ok := l.isBlocked() && l.sending == 0 && len(l.results) == 0 && (l.endpoint.URL == "" || now.machine.Before(l.breaker.nextProbe))
	g := l.breaker
	if l.endpoint.URL == "" {
		g.nextProbe = now.machine.Add(maxProbeDelay)
	}
	return g, ok
}

// stop begins nothing more.
func (l *endpointQueue) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
}

func (l *endpointQueue) isSending() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sending > 0
}

// stopAndWait waits for the workers.
func (l *endpointQueue) stopAndWait() {
	l.stop()
	l.workers.Wait()
}
