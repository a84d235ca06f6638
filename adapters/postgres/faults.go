package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"causeway/core/fault"
	"causeway/ports"
)

// constraintFaults maps named constraints to the fault of their violation.
var constraintFaults = map[string]func() *fault.Error{
	"customer_platform_id_unique_while_active": func() *fault.Error {
		return &fault.Error{Code: fault.Conflict, Reason: "platformCustomerId in use",
			Message: "Another active customer has this platformCustomerId. Use that customer, or choose another id."}
	},
	"customer_uma_address_unique_while_active": func() *fault.Error {
		return fault.New(fault.UMAAddressExists, "Another active customer has this umaAddress. Choose another address.")
	},
	"unmatched_assignment_once": func() *fault.Error {
		return &fault.Error{Code: fault.Conflict, Reason: "Already assigned",
			Message: "Another request has just assigned this payment. List the unmatched funds again."}
	},
	"external_account_unique_while_active": func() *fault.Error {
		return &fault.Error{Code: fault.Conflict, Reason: "External account exists",
			Message: "This account is registered already. Use the registered one, or delete it first."}
	},
}

// translate turns a database error into its fault, if it has one.
func translate(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	if pg.ConstraintName == "job_lease_held" {
		return fmt.Errorf("%w: %s", ports.ErrLeaseLost, pg.Message)
	}
	if newFault, ok := constraintFaults[pg.ConstraintName]; ok {
		return newFault()
	}
	if isWrongClock(err) {
		return wrongClock("is ahead of the database's")
	}
	if pg.Code == "55P03" { // lock_not_available
		return &fault.Error{Code: fault.ServiceUnavailable, RetryAfter: time.Second,
			Message: "Another request is working on the same resource. Try again in a second."}
	}
	return err
}
