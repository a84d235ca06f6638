package webhooks

import (
	"context"
	"time"

	"causeway/core/event"
	"causeway/ports"
)

// attentive tells that the lane need not be told of new events.
func (l *lane) attentive(now instant) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.looksItself(now)
}

// looksItself tells that the lane reads its queue on every call, if it has room.
func (l *lane) looksItself(now instant) bool {
	return now.run.Sub(l.active) < recent || len(l.held) > 0
}

// hasDue tells the lane that there is something for it.
func (l *lane) hasDue(now instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh, l.retryAt, l.active = true, now.due, now.run
}

// move changes where the events go. A new endpoint has not failed yet.
func (l *lane) move(endpoint ports.Endpoint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if endpoint != l.endpoint {
		if l.gate.closed {
			l.notify.Meter.Resumed(l.platform)
		}
		l.endpoint, l.gate, l.fresh = endpoint, newGate(l.notify.Width), true
	}
}

// resume sends what a closed gate, or a missing endpoint, held back.
func (l *lane) resume(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pump(ctx)
}

// expire gives up events whose time is over while nothing can be sent. (While
// something can, each gets one more attempt.)
func (l *lane) expire(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.shut() {
		return
	}
	for range len(l.ready.subjects) {
		subject, _ := l.ready.pop()
		in := l.lines[subject]
		q := in.events[0]
		if now.Sub(q.DueSince) < event.RetryWindow {
			l.ready.push(subject)
			continue
		}
		in.events = in.events[1:]
		l.notify.Meter.Parked()
		l.conclude(in, ports.WebhookResult{Event: q, Attempt: &event.Attempt{
			AttemptedAt: now, Outcome: event.GivenUp, Error: "the endpoint did not accept anything for too long",
		}})
	}
}

// isIdle tells that the lane has had nothing to do for a while.
func (l *lane) isIdle(now instant) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.held) == 0 && l.sending == 0 && now.run.Sub(l.active) >= idle &&
		(l.retryAt.IsZero() || l.retryAt.Sub(now.due) >= idle)
}

// canRest tells that the lane only waits for an endpoint that fails, and what its
// gate knows of that.
func (l *lane) canRest(now instant) (gate, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ok := l.shut() && l.sending == 0 && len(l.done) == 0 && (l.endpoint.URL == "" || now.run.Before(l.gate.until))
	g := l.gate
	if l.endpoint.URL == "" {
		g.until = now.run.Add(longestRest)
	}
	return g, ok
}

// halt begins nothing more.
func (l *lane) halt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
}

func (l *lane) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sending > 0
}

// join waits for the workers.
func (l *lane) join() {
	l.halt()
	l.workers.Wait()
}
