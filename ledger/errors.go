package ledger

import "errors"

// What the ledger refuses, beside ErrNotInChart and *ShortError. All but ErrOverflow
// are our own mistakes, never a caller's.
var (
	// ErrInvalid says that a posting must not exist as it is.
	ErrInvalid = errors.New("invalid posting")
	// ErrConflict says that a posting with this id is already written and says something
	// else.
	ErrConflict = errors.New("another posting has this id")
	// ErrNotReversible says that a posting cannot be reversed: it does not exist, is reversed
	// already, or the reversal is not its mirror.
	ErrNotReversible = errors.New("not reversible")
	// ErrOverflow says that a balance does not fit into an int64 of minor units.
	ErrOverflow = errors.New("balance does not fit")
)
