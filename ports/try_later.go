package ports

import "time"

// TryLaterError is an error of who asks to be called again no sooner than after a time.
type TryLaterError struct {
	After time.Duration
	Err   error
}

func (e *TryLaterError) Error() string { return e.Err.Error() }

func (e *TryLaterError) Unwrap() error { return e.Err }
