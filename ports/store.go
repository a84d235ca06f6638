package ports

import "context"

// UnitsOfWork changes what is stored; nothing else does. Everything that a method with Lock in its name returns is locked
// until the unit of work ends. Writes may be delayed and sent together at the commit, so that a violated constraint may be
// the error of DoUnit.
type UnitsOfWork interface {
	// DoUnit runs fn in one unit of work: everything it wrote is committed if fn returns nil, and nothing otherwise. After a
	// deadlock, a serialization failure or refused postings DoUnit runs fn again, so fn must not keep results of an earlier run.
	// After an error of the commit itself it is unknown whether the commit happened.
	DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error
}

// Do runs fn in one unit of work of a store. Tx has those methods of a unit of work that a capability calls. Do panics if
// the units of the store lack one of them.
func Do[Tx any](ctx context.Context, store UnitsOfWork, fn func(ctx context.Context, tx Tx) error) error {
	return store.DoUnit(ctx, func(ctx context.Context, unit any) error { return fn(ctx, unit.(Tx)) })
}
