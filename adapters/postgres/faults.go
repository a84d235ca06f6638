package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"causeway/core/fault"
	"causeway/core/platform"
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
	"platform_uma_domain_unique": func() *fault.Error {
		return &fault.Error{Code: fault.Conflict, Reason: platform.UMADomainInUse,
			Message: "Another production platform of this service has this umaDomain. Choose another domain, such as a subdomain of yours."}
	},
	"unmatched_assignment_once": func() *fault.Error {
		return &fault.Error{Code: fault.Conflict, Reason: "Already assigned",
			Message: "Another request has just assigned this payment. List the unmatched funds again."}
	},
	"external_account_unique_while_active": externalAccountExists,
	"changed_as_proposed": func() *fault.Error {
		return &fault.Error{Code: fault.Conflict, Reason: "Not as proposed", Message: "The change would not be the one that was proposed: " +
			"another version of the service has stored it. Reject the proposal and make it again, or approve it by command."}
	},
}

// translate turns a database error into its fault, if it has one.
func translate(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		if pg.ConstraintName == "job_lease_held" {
			return fmt.Errorf("%w: %s", ports.ErrLeaseLost, pg.Message)
		}
		if pg.ConstraintName == "rail_payments_pkey" {
			return fmt.Errorf("%w: %s", ports.ErrRailPaymentRecorded, pg.Message)
		}
		if newFault, ok := constraintFaults[pg.ConstraintName]; ok {
			return newFault()
		}
		if isWrongClock(err) {
			return wrongClock("is ahead of the database's")
		}
		if stopped := postingsStopped(pg); stopped != nil {
			return stopped
		}
		if pg.Code == "55P03" { // lock_not_available
			return &fault.Error{Code: fault.ServiceUnavailable, RetryAfter: time.Second,
				Message: "Another request is working on the same resource. Try again in a second."}
		}
	}
	if _, isFault := fault.As(err); !isFault && IsUnavailable(err) {
		if isOutage(err) {
			err = fmt.Errorf("%w: %w", ports.ErrStoreUnavailable, err)
		}
		return fmt.Errorf("%w (%w)", &fault.Error{Code: fault.ServiceUnavailable, RetryAfter: time.Second,
			Message: "The database is not available. Send the request again with the same Idempotency-Key."}, err)
	}
	return err
}

// IsUnavailable reports whether err is an error of the connection or of the state of the server, so
// that the same statement may succeed later. Contexts that ended are not included, nor are errors of anything but the database.
func IsUnavailable(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code[:2] {
		case "08", "53", "57", "58": // connection, resources (disk full), operator intervention, system error
			return true
		}
		return pg.Code == "25P03" || // idle_in_transaction_session_timeout
			pg.Code == "25006" || // read_only_sql_transaction: a standby, during a failover
			pg.Code == "40001" // serialization_failure, after repetitions, or a standby that had to go on
	}
	var broken *connError
	var connect *pgconn.ConnectError
	return errors.As(err, &broken) || errors.As(err, &connect) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || pgconn.SafeToRetry(err)
}

// isOutage reports whether the server would refuse every unit of work. Errors that a single
// statement can cause, such as a lost connection or a timeout, are not included.
func isOutage(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		// disk_full, too_many_connections, cannot_connect_now, read_only_sql_transaction
		return slices.Contains([]string{"53100", "53300", "57P03", "25006"}, pg.Code)
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect)
}

func externalAccountExists() *fault.Error {
	return &fault.Error{Code: fault.Conflict, Reason: "External account exists",
		Message: "This account is registered already. Use the registered one, or delete it first."}
}
