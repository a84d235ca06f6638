package sca

import (
	"fmt"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/wallet"
)

// Account is what is counted of a customer. Who changes it has locked it.
type Account struct {
	Platform ident.Platform
	Customer ident.Customer
	Failures Failures
	// LockedUntil is until when no proof is accepted; zero if there was no lock since the counter was cleared.
	LockedUntil time.Time
	// SuspendedAt is zero unless no proof is accepted until the suspension is lifted.
	SuspendedAt time.Time
	// Sending limits how many codes are sent.
	Sending   wallet.CodeSending
	UpdatedAt time.Time
}

// Failures counts failed attempts since the last right one with the same factor, and since the last reset of all. What is right with one
// factor does not clear those of another: else who has one factor could guess another one without end.
type Failures struct {
	// Logins are those that the platform has recorded, such as wrong passwords.
	Logins, SMS, TOTP, Passkeys int
}

// Total returns the number that decides about locks.
func (f Failures) Total() int { return f.Logins + f.SMS + f.TOTP + f.Passkeys }

func (f *Failures) of(factor Factor) *int {
	switch factor {
	case SMSOTP:
		return &f.SMS
	case TOTP:
		return &f.TOTP
	case Passkey:
		return &f.Passkeys
	default:
		return &f.Logins
	}
}

// The fifth failure and those after it lock for so long. One more suspends.
var locks = []time.Duration{15 * time.Minute, 30 * time.Minute, time.Hour, 24 * time.Hour}

const firstLock = 5

// Fail returns the account after an attempt that failed; no factor for one that the platform has recorded.
func (a Account) Fail(f Factor, now time.Time) Account {
	*a.Failures.of(f)++
	a.UpdatedAt = now
	switch i := a.Failures.Total() - firstLock; {
	case i < 0 || !a.SuspendedAt.IsZero():
	case i < len(locks):
		a.LockedUntil = now.Add(locks[i])
	default:
		a.LockedUntil, a.SuspendedAt = time.Time{}, now
	}
	return a
}

// Clear returns the account after a reset of the password, or after an operator has lifted its suspension.
func (a Account) Clear(now time.Time) Account {
	a.Failures, a.LockedUntil, a.SuspendedAt, a.UpdatedAt = Failures{}, time.Time{}, time.Time{}, now
	return a
}

// succeed returns the account after a right proof. A login also clears what the platform has recorded: it has checked the password.
func (a Account) succeed(f Factor, p Purpose, now time.Time) Account {
	*a.Failures.of(f) = 0
	if p == Login {
		a.Failures.Logins = 0
	}
	a.LockedUntil, a.UpdatedAt = time.Time{}, now // it is over: else nothing is judged
	return a
}

// Replaced returns the account after a factor was reset, the failures of which count no more.
func (a Account) Replaced(f Factor, now time.Time) Account {
	*a.Failures.of(f), a.UpdatedAt = 0, now
	return a
}

// CheckLock returns ACCOUNT_LOCKED while no proof is accepted.
func (a Account) CheckLock(now time.Time) error {
	until, details := any(nil), map[string]any{"suspended": !a.SuspendedAt.IsZero(), "failedAttempts": a.Failures.Total()}
	message := "The customer is suspended after too many failed attempts. Report RESET_PASSWORD_COMPLETED after it has set a new password."
	switch {
	case !a.SuspendedAt.IsZero():
	case now.Before(a.LockedUntil):
		until = a.LockedUntil.UTC().Format(time.RFC3339)
		message = fmt.Sprintf("The customer is locked until %s after too many failed attempts. Try again then.", until)
	default:
		return nil
	}
	details["lockedUntil"] = until
	return &fault.Error{Code: fault.AccountLocked, Message: message, Details: details}
}
