package webhooks

import (
	"context"
	"math"
	"time"

	"causeway/ports"
)

// clockReading is one moment on two clocks: the house's, which says what is due, and the
// machine's own, which only runs forward and paces the work.
type clockReading struct{ service, machine time.Time }

func (n *Service) readClocks() clockReading {
	return clockReading{service: n.Clock.Now(), machine: time.Now()}
}

// fetchState is what a lane knows of its queue. It is guarded by the lane's lock.
type fetchState struct {
	mayHaveNew bool      // there may be events that were not read yet
	readTo     int64     // none of them is below this number
	retryAt    time.Time // when the backlog has something due; zero: nothing that we know of
	// On the machine's clock: when there was last something to do, when the backlog
	// was last read, and when the queue was last read from its beginning.
	lastActive, backlogReadAt, fullScanAt time.Time
}

// nextFetch says what the lane has room for; look: there may be something new.
func (l *endpointQueue) nextFetch(now clockReading, look bool) (ports.WebhookFetch, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if look && l.isPollingLocked(now) {
		l.mayHaveNew = true
		if now.machine.Sub(l.backlogReadAt) >= pollInterval { // others may have queued something again
			l.retryAt = now.service
		}
	}
	retries := !l.retryAt.IsZero() && !now.service.Before(l.retryAt)
	room := l.service.maxQueued - len(l.inFlight)
	// While nothing can be sent there is no use in more than one has.
	if l.stopped || !l.mayHaveNew && !retries || room < l.service.maxQueued/8 || l.isBlocked() && len(l.inFlight) > 0 {
		return ports.WebhookFetch{}, false
	}
	want := ports.WebhookFetch{Platform: l.platform, InFlight: make([]int64, 0, len(l.inFlight))}
	for seq := range l.inFlight {
		want.InFlight = append(want.InFlight, seq)
	}
	if retries {
		want.Retries = (room + 1) / 2
		l.backlogReadAt = now.machine
	}
	if l.mayHaveNew {
		want.Fresh = room - want.Retries
		if want.FullScan = now.machine.Sub(l.fullScanAt) >= fullScanInterval; want.FullScan {
			l.fullScanAt = now.machine
		}
	}
	return want, true
}

// isBlocked tells that next to nothing can be sent: the endpoint fails, or there is none.
func (l *endpointQueue) isBlocked() bool { return l.breaker.open || l.endpoint.URL == "" }

// addEvents takes events from the queue, and sends what can be sent.
func (l *endpointQueue) addEvents(ctx context.Context, now clockReading, want ports.WebhookFetch, due ports.DueWebhooks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(due.Fresh)+len(due.Retries) > 0 {
		l.lastActive = now.machine
	}
	if want.Fresh > 0 {
		l.mayHaveNew, l.readTo = false, math.MaxInt64
		if n := len(due.Fresh); n == want.Fresh {
			l.mayHaveNew, l.readTo = true, due.Fresh[n-1].Seq
		}
	}
	if want.Retries > 0 {
		l.retryAt = due.NextRetry
		if len(due.Retries) == want.Retries {
			l.retryAt = now.service
		}
	}
	for _, q := range due.Fresh {
		l.enqueue(q)
	}
	for _, q := range due.Retries {
		if q.Seq > l.readTo {
			// One of its subject that comes before it may not have been read yet.
			l.retryAt = now.service.Add(pollInterval)
			continue
		}
		l.enqueue(q)
	}
	l.dispatch(ctx)
}

// takeResults hands over the outcomes that are to be recorded now.
func (l *endpointQueue) takeResults() []ports.WebhookResult {
	l.mu.Lock()
	defer l.mu.Unlock()
	done := l.results
	l.results = nil
	return done
}

// pendingResults tells how many outcomes wait to be recorded, and since when.
func (l *endpointQueue) pendingResults() (int, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.results), l.firstResultAt
}

// markRecorded forgets events whose outcome is in the queue.
func (l *endpointQueue) markRecorded(now clockReading, done []ports.WebhookResult) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastActive = now.machine
	for _, d := range done {
		delete(l.inFlight, d.Event.Seq)
		in := l.subjects[d.Event.Subject]
		in.countUnrecorded(d.Outcome, -1)
		if in.unrecorded == 0 && len(in.events) == 0 {
			delete(l.subjects, d.Event.Subject)
		}
		if d.Event.HasSuccessor {
			l.retryAt = now.service
		}
		if d.Outcome == ports.WebhookRetry && (l.retryAt.IsZero() || d.RetryAt.Before(l.retryAt)) {
			l.retryAt = d.RetryAt
		}
	}
}

// nextTurn is when the lane wants a turn of the desk, on the machine's clock.
func (l *endpointQueue) nextTurn(now clockReading) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := now.machine.Add(pollInterval)
	if len(l.results) > 0 {
		next = earlier(next, l.firstResultAt.Add(maxRecordDelay))
	}
	if room := l.service.maxQueued - len(l.inFlight); !l.stopped && room >= l.service.maxQueued/8 && (!l.isBlocked() || len(l.inFlight) == 0) {
		if l.mayHaveNew {
			next = now.machine
		}
		if !l.retryAt.IsZero() {
			next = earlier(next, now.machine.Add(l.retryAt.Sub(now.service)))
		}
	}
	return next
}
