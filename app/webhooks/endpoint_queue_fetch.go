package webhooks

import (
	"context"
	"math"
	"time"

	"causeway/ports"
)

// clockReading is the time on two clocks: that of the service, which decides what is due, and the
// monotonic clock of the machine, which paces the work.
type clockReading struct{ service, machine time.Time }

func (s *Service) readClocks() clockReading {
	return clockReading{service: s.Clock.Now(), machine: time.Now()}
}

// fetchState is what an endpointQueue knows about the stored queue. The mutex of the endpointQueue
// guards it.
type fetchState struct {
	mayHaveNew bool      // there may be events that are not fetched yet
	readTo     int64     // their sequence numbers are above this
	retryAt    time.Time // when an event in the backlog is due; zero if none is known
	// On the machine clock: when there was last something to do, when the backlog was last
	// fetched, and when the queue was last read from its beginning.
	lastActive, backlogReadAt, fullScanAt time.Time
}

// nextFetch returns what to fetch now, and false for nothing. newEvents is whether there may be
// new events.
func (q *endpointQueue) nextFetch(now clockReading, newEvents bool) (ports.WebhookFetch, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if newEvents && q.isPollingLocked(now) {
		q.mayHaveNew = true
		if now.machine.Sub(q.backlogReadAt) >= pollInterval { // another process may have redelivered events
			q.retryAt = now.service
		}
	}
	retries := !q.retryAt.IsZero() && !now.service.Before(q.retryAt)
	capacity := q.service.maxQueued - len(q.inFlight)
	// While nothing can be sent, more events in memory are of no use.
	if q.stopped || !q.mayHaveNew && !retries || capacity < q.service.maxQueued/8 || q.isBlocked() && len(q.inFlight) > 0 {
		return ports.WebhookFetch{}, false
	}
	fetch := ports.WebhookFetch{Platform: q.platform, InFlight: make([]int64, 0, len(q.inFlight))}
	for seq := range q.inFlight {
		fetch.InFlight = append(fetch.InFlight, seq)
	}
	if retries {
		fetch.Retries = (capacity + 1) / 2
		q.backlogReadAt = now.machine
	}
	if q.mayHaveNew {
		fetch.Fresh = capacity - fetch.Retries
		if fetch.FullScan = now.machine.Sub(q.fullScanAt) >= fullScanInterval; fetch.FullScan {
			q.fullScanAt = now.machine
		}
	}
	return fetch, true
}

// isBlocked reports whether at most probes can be sent: the endpoint fails, or there is none.
func (q *endpointQueue) isBlocked() bool { return q.breaker.open || q.endpoint.URL == "" }

// addEvents adds the events that were fetched, and sends what can be sent.
func (q *endpointQueue) addEvents(ctx context.Context, now clockReading, fetch ports.WebhookFetch, due ports.DueWebhooks) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(due.Fresh)+len(due.Retries) > 0 {
		q.lastActive = now.machine
	}
	if fetch.Fresh > 0 {
		q.mayHaveNew, q.readTo = false, math.MaxInt64
		if n := len(due.Fresh); n == fetch.Fresh {
			q.mayHaveNew, q.readTo = true, due.Fresh[n-1].Seq
		}
	}
	if fetch.Retries > 0 {
		q.retryAt = due.NextRetry
		if len(due.Retries) == fetch.Retries {
			q.retryAt = now.service
		}
	}
	for _, w := range due.Fresh {
		q.enqueue(w)
	}
	for _, w := range due.Retries {
		if w.Seq > q.readTo {
			// An earlier event of its subject may not be fetched yet.
			q.retryAt = now.service.Add(pollInterval)
			continue
		}
		q.enqueue(w)
	}
	q.dispatch(ctx)
}

// takeResults removes and returns the outcomes to record.
func (q *endpointQueue) takeResults() []ports.WebhookResult {
	q.mu.Lock()
	defer q.mu.Unlock()
	results := q.results
	q.results = nil
	return results
}

// pendingResults returns how many outcomes wait to be recorded, and since when.
func (q *endpointQueue) pendingResults() (int, time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.results), q.firstResultAt
}

// markRecorded removes events whose outcome has been recorded.
func (q *endpointQueue) markRecorded(now clockReading, results []ports.WebhookResult) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lastActive = now.machine
	for _, r := range results {
		delete(q.inFlight, r.Event.Seq)
		q.recorded.add(r.Event.Seq, r.Outcome, now.machine)
		subject := q.subjects[r.Event.Subject]
		subject.countUnrecorded(r.Outcome, -1)
		if subject.unrecorded == 0 && len(subject.events) == 0 {
			delete(q.subjects, r.Event.Subject)
		}
		if r.Event.HasSuccessor {
			q.retryAt = now.service
		}
		if r.Outcome == ports.WebhookRetry && (q.retryAt.IsZero() || r.RetryAt.Before(q.retryAt)) {
			q.retryAt = r.RetryAt
		}
	}
}

// nextTurn returns when the queue next needs a turn of the dispatcher, on the machine clock.
func (q *endpointQueue) nextTurn(now clockReading) time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	next := now.machine.Add(pollInterval)
	if len(q.results) > 0 {
		next = earlier(next, q.firstResultAt.Add(maxRecordDelay))
	}
	if capacity := q.service.maxQueued - len(q.inFlight); !q.stopped && capacity >= q.service.maxQueued/8 &&
		(!q.isBlocked() || len(q.inFlight) == 0) {
		if q.mayHaveNew {
			next = now.machine
		}
		if !q.retryAt.IsZero() {
			next = earlier(next, now.machine.Add(q.retryAt.Sub(now.service)))
		}
	}
	return next
}
