package webhooks

import (
	"context"
	"math"
	"time"

	"causeway/ports"
)

// instant is one moment on two clocks: the house's, which says what is due, and the
// machine's own, which only runs forward and paces the work.
type instant struct{ due, run time.Time }

func (n *Notify) instant() instant { return instant{due: n.Clock.Now(), run: time.Now()} }

// reading is what a lane knows of its queue. It is guarded by the lane's lock.
type reading struct {
	fresh   bool      // there may be events that were not read yet
	readTo  int64     // none of them is below this number
	retryAt time.Time // when the backlog has something due; zero: nothing that we know of
	// On the machine's clock: when there was last something to do, when the backlog
	// was last read, and when the queue was last read from its beginning.
	active, retried, whole time.Time
}

// want says what the lane has room for; look: there may be something new.
func (l *lane) want(now instant, look bool) (ports.WebhookFetch, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if look && l.looksItself(now) {
		l.fresh = true
		if now.run.Sub(l.retried) >= tick { // others may have queued something again
			l.retryAt = now.due
		}
	}
	retries := !l.retryAt.IsZero() && !now.due.Before(l.retryAt)
	room := l.notify.capacity - len(l.held)
	// While nothing can be sent there is no use in more than one has.
	if l.stopped || !l.fresh && !retries || room < l.notify.capacity/8 || l.shut() && len(l.held) > 0 {
		return ports.WebhookFetch{}, false
	}
	want := ports.WebhookFetch{Platform: l.platform, InFlight: make([]int64, 0, len(l.held))}
	for seq := range l.held {
		want.InFlight = append(want.InFlight, seq)
	}
	if retries {
		want.Retries = (room + 1) / 2
		l.retried = now.run
	}
	if l.fresh {
		want.Fresh = room - want.Retries
		if want.FullScan = now.run.Sub(l.whole) >= wholeEvery; want.FullScan {
			l.whole = now.run
		}
	}
	return want, true
}

// shut tells that next to nothing can be sent: the endpoint fails, or there is none.
func (l *lane) shut() bool { return l.gate.closed || l.endpoint.URL == "" }

// add takes events from the queue, and sends what can be sent.
func (l *lane) add(ctx context.Context, now instant, want ports.WebhookFetch, due ports.DueWebhooks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(due.Fresh)+len(due.Retries) > 0 {
		l.active = now.run
	}
	if want.Fresh > 0 {
		l.fresh, l.readTo = false, math.MaxInt64
		if n := len(due.Fresh); n == want.Fresh {
			l.fresh, l.readTo = true, due.Fresh[n-1].Seq
		}
	}
	if want.Retries > 0 {
		l.retryAt = due.NextRetry
		if len(due.Retries) == want.Retries {
			l.retryAt = now.due
		}
	}
	for _, q := range due.Fresh {
		l.place(q)
	}
	for _, q := range due.Retries {
		if q.Seq > l.readTo {
			// One of its subject that comes before it may not have been read yet.
			l.retryAt = now.due.Add(tick)
			continue
		}
		l.place(q)
	}
	l.pump(ctx)
}

// take hands over the outcomes that are to be recorded now.
func (l *lane) take() []ports.WebhookResult {
	l.mu.Lock()
	defer l.mu.Unlock()
	done := l.done
	l.done = nil
	return done
}

// unrecorded tells how many outcomes wait to be recorded, and since when.
func (l *lane) unrecorded() (int, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.done), l.doneAt
}

// recorded forgets events whose outcome is in the queue.
func (l *lane) recorded(now instant, done []ports.WebhookResult) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active = now.run
	for _, d := range done {
		delete(l.held, d.Event.Seq)
		in := l.lines[d.Event.Subject]
		in.count(d.Outcome, -1)
		if in.unrecorded == 0 && len(in.events) == 0 {
			delete(l.lines, d.Event.Subject)
		}
		if d.Event.HasSuccessor {
			l.retryAt = now.due
		}
		if d.Outcome == ports.WebhookRetry && (l.retryAt.IsZero() || d.RetryAt.Before(l.retryAt)) {
			l.retryAt = d.RetryAt
		}
	}
}

// nextDue is when the lane wants a turn of the desk, on the machine's clock.
func (l *lane) nextDue(now instant) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := now.run.Add(tick)
	if len(l.done) > 0 {
		next = earlier(next, l.doneAt.Add(recordWithin))
	}
	if room := l.notify.capacity - len(l.held); !l.stopped && room >= l.notify.capacity/8 && (!l.shut() || len(l.held) == 0) {
		if l.fresh {
			next = now.run
		}
		if !l.retryAt.IsZero() {
			next = earlier(next, now.run.Add(l.retryAt.Sub(now.due)))
		}
	}
	return next
}
