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
	_, recorded := q.recorded.of(e.Seq)
	previous, ended := q.recorded.of(e.Previous)
	previousKnown := q.inFlight[e.Previous] || ended && previous == ports.WebhookSettled
	switch {
	case q.stopped || q.isBlocked() || len(q.inFlight) >= q.service.maxQueued || e.Endpoint != q.endpoint:
		return false
	case e.Since.Before(q.claimed) || now.machine.Sub(e.Since) > maxHandOverTime:
		return false
	case recorded || q.inFlight[e.Seq]: // it was fetched before it was handed over
		return true
	case e.Blocked || e.Previous != 0 && !previousKnown:
		return false
	}
	q.lastActive = now.machine
	q.enqueue(e.QueuedWebhook)
	return true
}

// recentOutcomes are the last outcomes by the numbers of their events, each for at least maxHandOverTime.
type recentOutcomes struct {
	current, former map[int64]ports.WebhookOutcome
	since           time.Time // of current
}

func (r *recentOutcomes) add(seq int64, outcome ports.WebhookOutcome, now time.Time) {
	if r.current == nil || now.Sub(r.since) > maxHandOverTime {
		r.former, r.current, r.since = r.current, map[int64]ports.WebhookOutcome{}, now
	}
	r.current[seq] = outcome
}

func (r *recentOutcomes) of(seq int64) (outcome ports.WebhookOutcome, known bool) {
	if outcome, known = r.current[seq]; !known {
		outcome, known = r.former[seq]
	}
	return outcome, known
}
