package money

import "errors"

// The errors of this package. Every error that it returns wraps one of them.
var (
	// ErrUnknownCurrency is the error for a text that is not the code of a known currency.
	ErrUnknownCurrency = errors.New("unknown currency")
	// ErrCurrencyMismatch is the error for a sum of amounts of different currencies.
	ErrCurrencyMismatch = errors.New("amounts of different currencies")
	// ErrOverflow is the error for a result that does not fit into an int64 of minor units.
	ErrOverflow = errors.New("amount does not fit")
	// ErrNegativeAmount is the error for an amount below zero where none is allowed.
	ErrNegativeAmount = errors.New("amount is below zero")
	// ErrInvalidRate is the error for a number that is no rate: malformed, zero where zero
	// is not allowed, too long, too large or too small.
	ErrInvalidRate = errors.New("not a usable rate")
)
