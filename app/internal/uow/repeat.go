package uow

import (
	"errors"

	"causeway/core/fault"
)

// ErrChanged is the error of a unit of work that finds changed what was read before it, outside of it.
var ErrChanged = errors.New("what was read before the unit of work has changed since")

const maxAttempts = 3

// Repeat calls attempt, which reads and then writes in a unit of work, until it does not return ErrChanged. Fault:
// CONFLICT after three attempts.
func Repeat(attempt func() error) error {
	for range maxAttempts {
		if err := attempt(); !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return fault.New(fault.Conflict, "The books were changed while they were read. Repeat the request.")
}
