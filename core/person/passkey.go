package person

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Passkey is a key of an authenticator (WebAuthn) that signs in alone, because the authenticator has verified the person.
type Passkey struct {
	// ID is what the authenticator calls it, and PublicKey a COSE key.
	ID        []byte
	PublicKey []byte
	Person    ident.Person
	Name      string
	// SignCount is the counter of the authenticator at the last use; zero if it has none.
	SignCount uint32
	// BackupEligible: the authenticator may copy it to other devices of the person. This never changes.
	BackupEligible bool
	CreatedAt      time.Time
	LastUsedAt     time.Time // zero before the first use
	// StoppedAt is when its counter has not increased, so that there may be a copy; zero for none. It is not accepted any more.
	StoppedAt time.Time
}

const (
	// MaxPasskeys is how many passkeys a person has at most.
	MaxPasskeys = 10
	// maxPasskeyName is the length of the name of a passkey, in characters.
	maxPasskeyName = 60
)

// ParsePasskeyName returns the name that a person gives a passkey. Fault: INVALID_INPUT.
func ParsePasskeyName(text string) (string, error) {
	name := strings.TrimSpace(text)
	if n := utf8.RuneCountInString(name); n == 0 || n > maxPasskeyName || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, unicode.IsControl) {
		return "", fault.Invalid(fault.Field{Field: "name", Message: fmt.Sprintf("must have 1 to %d characters, such as work laptop",
			maxPasskeyName)})
	}
	return name, nil
}

// CheckAddPasskey returns CONFLICT if a person with passkeys can have no other one.
func CheckAddPasskey(existing []Passkey) error {
	if len(existing) < MaxPasskeys {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, Reason: "Too many passkeys", Message: fmt.Sprintf("You have %d passkeys, and cannot have "+
		"more. Remove one first.", len(existing))}
}

// Use returns the passkey after a use with a counter of its authenticator. Two devices with one key cannot both have a counter that
// increases, and nobody knows which of them is the copy: the passkey is stopped, which has to be stored. Fault: UNAUTHORIZED.
func (k Passkey) Use(counter uint32, now time.Time) (used Passkey, isStopped bool, err error) {
	if !k.StoppedAt.IsZero() {
		return k, false, ErrPasskey
	}
	if counter <= k.SignCount && (counter != 0 || k.SignCount != 0) {
		k.StoppedAt = now
		return k, true, ErrPasskey
	}
	k.SignCount, k.LastUsedAt = counter, now
	return k, false, nil
}

// ErrPasskey is the fault of a passkey that is not accepted, for whatever reason: it does not say which ones exist.
var ErrPasskey = &fault.Error{Code: fault.Unauthorized, Reason: "Passkey not accepted", Message: "The passkey was not accepted. Use " +
	"another one, or a code; on the page \"Your account\" you see those that are yours."}

// ErrNoSuchPasskey is the fault of a passkey that is none of the person's.
var ErrNoSuchPasskey error = fault.New(fault.NotFound, "You have no such passkey.")

// ErrNoPasskeys is the fault of a service that has no passkeys.
var ErrNoPasskeys = &fault.Error{Code: fault.Conflict, Reason: "No passkeys", Message: "This service cannot use passkeys: they need the " +
	"name of a host in its public URL, with https, or localhost."}
