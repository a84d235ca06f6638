// Package period is how finance ends a month: which months of a platform's books are
// open, what may be done to each, and where a posting goes whose month takes nothing any
// more.
//
// A month is a calendar month of UTC, and a posting belongs to the month of its
// effective time. Months go open, held, closed, in their order, each only when it is
// over:
//
//   - OPEN takes every posting.
//   - SOFT_CLOSED takes only what somebody authorised, with a note. Finance looks at the month.
//   - CLOSED takes nothing, for good. What it came to is kept.
//
// What would be effective in a month that does not take it is effective at the first
// moment of the first one that does, and its memo says for which day it was. So a late
// payment is never refused because finance was faster.
//
// The package decides; it never stores or posts. That nothing slips in while a month is
// held or closed is the storage's part.
package period

import (
	"causeway/core/fault"
)

// State is how far the end of a month has come.
type State string

// The states.
const (
	Open       State = "OPEN"
	SoftClosed State = "SOFT_CLOSED"
	Closed     State = "CLOSED"
)

// States lists every state.
func States() []State { return []State{Open, SoftClosed, Closed} }

// Action is what finance does to a month.
type Action string

// The actions.
const (
	SoftClose Action = "soft-close"
	Reopen    Action = "reopen"
	Close     Action = "close"
)

// Actions lists every action.
func Actions() []Action { return []Action{SoftClose, Reopen, Close} }

// The table of transitions: what is not in it is refused.
var transitions = map[State]map[Action]State{
	Open:       {SoftClose: SoftClosed},
	SoftClosed: {Reopen: Open, Close: Closed},
}

// Next is the state of a month after an action, or CONFLICT with what to do instead.
func (s State) Next(a Action) (State, error) {
	if next, ok := transitions[s][a]; ok {
		return next, nil
	}
	return s, conflict("Wrong state", "The month is %s, so it cannot be %s. %s", s, pastTense[a], nextStep[s])
}

var pastTense = map[Action]string{SoftClose: "held", Reopen: "reopened", Close: "closed"}

var nextStep = map[State]string{
	Open:       "Hold it first.",
	SoftClosed: "Close it, or reopen it.",
	Closed:     "A closed month stays closed: post corrections into the month after it.",
}

func conflict(reason, format string, args ...any) error {
	f := fault.New(fault.Conflict, format, args...)
	f.Reason = reason
	return f
}
