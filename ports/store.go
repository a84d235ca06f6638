package ports

import "context"

// UnitsOfWork changes what is stored; nothing else does. Tx has those methods of a unit of work that a capability calls.
// Everything that one with Lock in its name returns is locked until the unit of work ends. Writes may be delayed and sent
// together at the commit, so that a violated constraint may be the error of Do.
type UnitsOfWork[Tx any] interface {
	// Do runs fn in one unit of work: everything it wrote is committed if fn returns nil, and nothing otherwise. After a
	// deadlock, a serialization failure or refused postings Do runs fn again, so fn must not keep results of an earlier run.
	// After an error of the commit itself it is unknown whether the commit happened.
	Do(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
}
