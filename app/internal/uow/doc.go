// Package booking gathers what a unit of work decides about money (transactions,
// postings, events, and the work that follows) and writes it, with one more event for
// each account whose balance is another then.
//
// It is machinery of the use cases: it decides nothing, and knows none of them.
package uow
