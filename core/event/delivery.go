package event

import "time"

// Status is how the delivery of an event stands.
type Status string

// The statuses.
const (
	// Pending: it will be sent, or sent again.
	Pending Status = "PENDING"
	// Delivered: the receiver has it.
	Delivered Status = "DELIVERED"
	// Failed: it was tried until its time was over, and is parked.
	Failed Status = "FAILED"
	// Unsent: the platform had no webhook endpoint when it happened.
	Unsent Status = "UNSENT"
)

// Statuses are all there are.
var Statuses = []Status{Pending, Delivered, Failed, Unsent}

// Attempt is one try at sending an event.
type Attempt struct {
	// Number counts the attempts of one event from 1.
	Number      int
	AttemptedAt time.Time
	Duration    time.Duration
	Outcome     Outcome
	// StatusCode is the HTTP status of the answer; 0 without one.
	StatusCode int
	// Error says in a few words why there was no answer; empty when there was one.
	Error string
	// Response is the beginning of the answer's body.
	Response string
}

// StatusOf derives where a delivery stands from whether the event waits to be sent
// and its latest attempt, nil for none.
func StatusOf(waiting bool, latest *Attempt) Status {
	switch {
	case waiting:
		return Pending
	case latest == nil:
		return Unsent
	case latest.Outcome.Delivered():
		return Delivered
	default:
		return Failed
	}
}
