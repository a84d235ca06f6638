package event

import (
	"time"
)

// Status is the status of the delivery of an event.
type Status string

// The statuses.
const (
	// Pending: there will be an attempt, or another one.
	Pending Status = "PENDING"
	// Delivered: the receiver has the event.
	Delivered Status = "DELIVERED"
	// Failed: every attempt failed, and there will be no other.
	Failed Status = "FAILED"
	// Unsent: the platform had no webhook endpoint when the event happened.
	Unsent Status = "UNSENT"
)

// Statuses lists every status.
var Statuses = []Status{Pending, Delivered, Failed, Unsent}

// Attempt is one attempt to send an event.
type Attempt struct {
	// Number counts the attempts of one event from 1.
	Number      int
	AttemptedAt time.Time
	Duration    time.Duration
	Outcome     Outcome
	// StatusCode is the HTTP status of the response; 0 without a response.
	StatusCode int
	// Error says why there was no response; empty if there was one.
	Error string
	// Response is the beginning of the response body.
	Response string
}

// StatusOf returns the status of a delivery from whether the event is queued and its latest
// attempt, nil for none.
func StatusOf(queued bool, latest *Attempt) Status {
	switch {
	case queued:
		return Pending
	case latest == nil:
		return Unsent
	case latest.Outcome.Delivered():
		return Delivered
	default:
		return Failed
	}
}

// Outcome is the outcome of one attempt to send an event.
type Outcome string

// The outcomes. Accepted and Duplicate end the delivery with success, GivenUp ends it
// without; after the others there is another attempt.
const (
	// Accepted: the response has a status from 200 to 299.
	Accepted Outcome = "ACCEPTED"
	// Duplicate: the response has the status 409; the receiver has the event already.
	Duplicate Outcome = "DUPLICATE"
	// Refused: the response has any other status.
	Refused Outcome = "REFUSED"
	// TimedOut: connected, but no response in time.
	TimedOut Outcome = "TIMED_OUT"
	// Unreachable: no connection, or it was closed.
	Unreachable Outcome = "UNREACHABLE"
	// Forbidden: events are never sent to this address.
	Forbidden Outcome = "FORBIDDEN"
	// GivenUp: not sent, because the retry window is over.
	GivenUp Outcome = "GIVEN_UP"
	// InternalError: the attempt failed in this service, and it is unknown whether the receiver
	// has the event. It is repeated and never recorded, so it says nothing about the endpoint.
	InternalError Outcome = "INTERNAL_ERROR"
)

// Outcomes lists every outcome that is recorded.
var Outcomes = []Outcome{Accepted, Duplicate, Refused, TimedOut, Unreachable, Forbidden, GivenUp}

// OutcomeOf returns the outcome of a response with this HTTP status.
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

// Responded reports whether there was an HTTP response.
func (o Outcome) Responded() bool { return o == Accepted || o == Duplicate || o == Refused }

// The limits of sending.
const (
	// Timeout is the limit of one attempt, from dialling to the end of the response.
	Timeout = 10 * time.Second
	// RetryWindow is how long delivery is attempted before it has failed.
	RetryWindow = 7 * 24 * time.Hour
	// MaxBackoff is the longest time between two attempts.
	MaxBackoff = 30 * time.Minute
	// initialBackoff is the longest pause after the first attempt; it doubles each time.
	initialBackoff = 2 * time.Second
)

// NextAttempt returns the time of the next attempt for an event that was first due at since
// and has failed `tries` times: after a random part of a pause that doubles from 2 seconds
// to 30 minutes, so that deliveries that failed together are not retried together. It
// returns false if the retry window is over or the event is sent once only. random is any
// random number.
func NextAttempt(name string, tries int, since, now time.Time, random uint64) (time.Time, bool) {
	end := since.Add(RetryWindow)
	if SentOnce(name) || !now.Before(end) {
		return time.Time{}, false
	}
	pause := MaxBackoff
	if doublings := max(tries, 1) - 1; doublings < 16 {
		pause = min(MaxBackoff, initialBackoff<<doublings)
	}
	next := now.Add(time.Duration(random%uint64(pause)) + 1)
	if next.After(end) {
		next = end // the last attempt
	}
	return next, true
}
