package webhooks

import (
	"github.com/google/uuid"

	"causeway/ports"
)

// subjectQueue holds the events of one subject in their order. The first is ready or being sent.
type subjectQueue struct {
	events []ports.QueuedWebhook
	// hasSuccessor: later events are in the backlog, to be made due after the last of these.
	hasSuccessor bool
	// unrecorded counts the outcomes that are not recorded yet. Of those, retrying counts events
	// to be retried, and deferred counts events that wait behind others.
	unrecorded, retrying, deferred int
}

// mustDefer reports whether an event must wait in the backlog for an earlier one.
func (s *subjectQueue) mustDefer(w ports.QueuedWebhook, maxEvents int) bool {
	switch {
	case w.Blocked, s.retrying > 0:
		return true // an earlier event is in the backlog, or will be once its outcome is recorded
	case len(s.events) == 0 && w.InBacklog:
		return false // it is the first in the backlog, and the deferred events wait for it
	default:
		return s.deferred > 0 || len(s.events) >= maxEvents
	}
}

// countUnrecorded adds n to the number of unrecorded outcomes.
func (s *subjectQueue) countUnrecorded(outcome ports.WebhookOutcome, n int) {
	s.unrecorded += n
	if outcome == ports.WebhookRetry {
		s.retrying += n
	} else if outcome == ports.WebhookDeferred {
		s.deferred += n
	}
}

// subjectFIFO holds subjects in the order in which they became ready.
type subjectFIFO struct{ subjects []uuid.UUID }

func (f *subjectFIFO) push(subject uuid.UUID) { f.subjects = append(f.subjects, subject) }

func (f *subjectFIFO) pop() (uuid.UUID, bool) {
	if len(f.subjects) == 0 {
		return uuid.Nil, false
	}
	first := f.subjects[0]
	f.subjects = f.subjects[1:]
	return first, true
}
