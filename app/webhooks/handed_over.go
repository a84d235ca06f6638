package webhooks

import (
	"time"

	"causeway/ports"
)

// maxHandOverTime is how long after its commit an event is taken from memory. Later it may have been fetched, sent and forgotten.
const maxHandOverTime = time.Second

// addCommitted adds an event that was handed over, and returns false if it has to be fetched instead: if an earlier event of its
// subject is not known here, because another process stored it or its hand-over was lost, or is in the backlog; if another endpoint is
// known; or if the event may have been fetched by an earlier owner of the platform.
func (q *endpointQueue) addCommitted(now clockReading, e ports.CommittedWebhook) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	isKnown := func(seq int64) bool { return q.inFlight[seq] || q.settled.has(seq) }
	switch {
	case q.stopped || q.isBlocked() || len(q.inFlight) >= q.service.maxQueued || e.Endpoint != q.endpoint:
		return false
	case e.Since.Before(q.claimed) || now.machine.Sub(e.Since) > maxHandOverTime:
		return false
	case isKnown(e.Seq): // it was fetched before it was handed over
		return true
	case e.Blocked || e.Previous != 0 && !isKnown(e.Previous):
		return false
	}
	q.lastActive = now.machine
	q.enqueue(e.QueuedWebhook)
	return true
}

// recentNumbers are the numbers of the last events, each for at least maxHandOverTime.
type recentNumbers struct {
	current, former map[int64]struct{}
	since           time.Time // of current
}

func (r *recentNumbers) add(seq int64, now time.Time) {
	if r.current == nil || now.Sub(r.since) > maxHandOverTime {
		r.former, r.current, r.since = r.current, map[int64]struct{}{}, now
	}
	r.current[seq] = struct{}{}
}

func (r *recentNumbers) has(seq int64) bool {
	_, inCurrent := r.current[seq]
	_, inFormer := r.former[seq]
	return inCurrent || inFormer
}
