// Package period holds the rules of accounting periods: which months of a platform's ledger
// accept postings, how a month is soft-closed, reopened and closed, and when a posting whose
// month is closed becomes effective instead.
//
// A period is a calendar month in UTC. A posting belongs to the month of its effective time.
// A month that is over goes from open to soft-closed to closed, in the order of the months:
//
//   - OPEN accepts every posting.
//   - SOFT_CLOSED accepts only postings that a token authorised with a note, so that finance
//     can review the month.
//   - CLOSED accepts nothing, permanently. Its trial balance is stored.
//
// A posting that its month does not accept becomes effective at the start of the first month
// that does, and its memo names the original day. So a late payment is never refused.
//
// The package decides; it stores and posts nothing. Storage guarantees that no posting gets
// into a month concurrently with its closing.
package period

import (
	"causeway/core/fault"
)

// State is the state of a month.
type State string

// The states of a month.
const (
	Open       State = "OPEN"
	SoftClosed State = "SOFT_CLOSED"
	Closed     State = "CLOSED"
)

// States lists every state.
func States() []State { return []State{Open, SoftClosed, Closed} }

// Action changes the state of a month.
type Action string

// The actions.
const (
	SoftClose Action = "soft-close"
	Reopen    Action = "reopen"
	Close     Action = "close"
)

// Actions lists every action.
func Actions() []Action { return []Action{SoftClose, Reopen, Close} }

// transitions is the table of allowed transitions.
var transitions = map[State]map[Action]State{
	Open:       {SoftClose: SoftClosed},
	SoftClosed: {Reopen: Open, Close: Closed},
}

// Next returns the state of a month after an action, or CONFLICT with what to do instead.
func (s State) Next(a Action) (State, error) {
	if next, ok := transitions[s][a]; ok {
		return next, nil
	}
	if s == Open && a == Reopen {
		return s, conflict("Wrong state", "The month is already OPEN.")
	}
	return s, conflict("Wrong state", "The month is %s, so it cannot be %s. %s", s, pastTense[a], nextStep[s])
}

var pastTense = map[Action]string{SoftClose: "soft-closed", Reopen: "reopened", Close: "closed"}

var nextStep = map[State]string{
	Open:       "Soft-close it first.",
	SoftClosed: "Close it, or reopen it.",
	Closed:     "A closed month cannot be reopened: post corrections in the next month.",
}

func conflict(reason, format string, args ...any) error {
	f := fault.New(fault.Conflict, format, args...)
	f.Reason = reason
	return f
}
