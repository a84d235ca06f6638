// Package transaction is the life of a payment from its quote to its end: its states, the events
// that change them, and the postings of each change.
//
// It decides and never acts: every function takes the present state and an event, and returns the
// next state, the postings, the events to emit and the next step. Time and identifiers come in as
// arguments.
package transaction
