// Package transaction implements the states of a payment, the events that change them, and the
// postings of each change.
//
// Its functions have no side effects: each takes the current state and an event, and returns the
// next state, the postings, the events to emit and the next step. Time and identifiers are
// arguments.
package transaction
