package money

import "errors"

// What this package refuses. Every error it returns wraps one of these.
var (
	// ErrUnknownCurrency says that a text is not the code of a currency we know.
	ErrUnknownCurrency = errors.New("unknown currency")
	// ErrCurrencyMismatch says that two amounts of different currencies met in one sum.
	ErrCurrencyMismatch = errors.New("amounts of different currencies")
	// ErrOverflow says that a result does not fit into an int64 of minor units.
	ErrOverflow = errors.New("amount does not fit")
	// ErrNegativeAmount says that an amount below zero came where none makes sense.
	ErrNegativeAmount = errors.New("amount is below zero")
	// ErrInvalidRate says that a number is no rate: malformed, zero where that has no
	// meaning, too long, too large or too small.
	ErrInvalidRate = errors.New("not a usable rate")
)
