package report

import (
	"context"
	"errors"
	"time"

	"causeway/core/fault"
	"causeway/ports"
)

// IsTooSlow reports whether a report ended because it read for too long.
func IsTooSlow(err error) bool {
	return errors.Is(err, ports.ErrReadTimeout) || errors.Is(err, context.DeadlineExceeded)
}

// TooSlow returns SERVICE_UNAVAILABLE with what to do instead if a report ended because it read for too long,
// and any other error as it is.
func TooSlow(err error, instead string) error {
	if !IsTooSlow(err) {
		return err
	}
	return &fault.Error{Code: fault.ServiceUnavailable, Reason: "Too much to read", RetryAfter: 30 * time.Second,
		Message: "The report takes longer than it may. " + instead}
}
