package money

import "errors"

// What this package refuses. Every error it returns wraps one of these.
var (
	// ErrCurrency says that a text is not the code of a currency we know.
	ErrCurrency = errors.New("unknown currency")
	// ErrMismatch says that two amounts of different currencies met in one sum.
	ErrMismatch = errors.New("amounts of different currencies")
	// ErrOverflow says that a result does not fit into an int64 of minor units.
	ErrOverflow = errors.New("amount does not fit")
	// ErrNegative says that an amount below zero came where none makes sense.
	ErrNegative = errors.New("amount is below zero")
	// ErrRate says that a number is no rate: malformed, zero where that has no
	// meaning, too long, too large or too small.
	ErrRate = errors.New("not a usable rate")
)
