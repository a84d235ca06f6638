// Package transaction is one payment from its quote to its end: its states, what
// moves it from one to the next, and the postings that go with each move.
//
// It decides and never acts: every function takes the present state and what
// happened, and returns the next state, the postings, the events to tell and the
// step that comes next. Time and identifiers come in as arguments.
package transaction
