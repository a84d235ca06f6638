package ports

import (
	"time"

	"causeway/core/customer"
	"causeway/core/platform"
	"causeway/core/sca"
)

// ResetChecks check that who resets a factor is the customer: operators who review.
type ResetChecks interface {
	// ResetStatus returns what the check of a reset has come to that is INITIATED. It does no I/O.
	ResetStatus(r sca.Reset, c customer.Customer, now time.Time) sca.ResetStatus
}

// ResetChecksByEnvironment holds the ResetChecks of each environment.
type ResetChecksByEnvironment map[platform.Environment]ResetChecks
