package event

import "time"

// Outcome is how one attempt to send an event ended.
type Outcome string

// The outcomes. Accepted and Duplicate end the delivery well, GivenUp ends it
// without an answer; after the others it is tried again.
const (
	// Accepted: any status from 200 to 299.
	Accepted Outcome = "ACCEPTED"
	// Duplicate: 409, the receiver had it already.
	Duplicate Outcome = "DUPLICATE"
	// Refused: any other status.
	Refused Outcome = "REFUSED"
	// TimedOut: connected, but no answer in time.
	TimedOut Outcome = "TIMED_OUT"
	// Unreachable: no connection, or it broke.
	Unreachable Outcome = "UNREACHABLE"
	// Forbidden: the address is one we do not send to.
	Forbidden Outcome = "FORBIDDEN"
	// GivenUp: not sent, because the time for trying was over.
	GivenUp Outcome = "GIVEN_UP"
)

// Outcomes are all there are.
var Outcomes = []Outcome{Accepted, Duplicate, Refused, TimedOut, Unreachable, Forbidden, GivenUp}

// OutcomeOf returns the outcome of an answer with this HTTP status.
func OutcomeOf(status int) Outcome {
	switch {
	case status >= 200 && status <= 299:
		return Accepted
	case status == 409:
		return Duplicate
	default:
		return Refused
	}
}

// Delivered reports whether the receiver has the event.
func (o Outcome) Delivered() bool { return o == Accepted || o == Duplicate }

// Responded reports whether somebody spoke HTTP at the other end.
func (o Outcome) Responded() bool { return o == Accepted || o == Duplicate || o == Refused }

// The limits of sending.
const (
	// Timeout of one attempt, from dialling to the end of the answer.
	Timeout = 10 * time.Second
	// RetryWindow is how long an event is tried before it is parked as failed.
	RetryWindow = 7 * 24 * time.Hour
	// MaxBackoff is the longest time between two attempts.
	MaxBackoff = 30 * time.Minute
	// initialBackoff bounds the pause after the first attempt; it doubles each time.
	initialBackoff = 2 * time.Second
)

// NextAttempt says when to try an event once more that has now failed `tries` times since
// it was first due: after a random part of a pause that doubles from 2 s up to 30
// minutes (so that receivers that failed together are not asked together). False
// means that the seven days are over, or that an event of this name is sent only
// once: it is parked.
//
// chance is any random number.
func NextAttempt(name string, tries int, since, now time.Time, chance uint64) (time.Time, bool) {
	end := since.Add(RetryWindow)
	if SentOnce(name) || !now.Before(end) {
		return time.Time{}, false
	}
	pause := MaxBackoff
	if doublings := max(tries, 1) - 1; doublings < 16 {
		pause = min(MaxBackoff, initialBackoff<<doublings)
	}
	next := now.Add(time.Duration(chance%uint64(pause)) + 1)
	if next.After(end) {
		next = end // the last one
	}
	return next, true
}
