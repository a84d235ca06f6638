package person

import (
	"strings"
	"time"
	"unicode"

	"causeway/core/fault"
)

// Account says how a person signs in, without a secret of it, and where it is signed in.
type Account struct {
	Person Person
	// HasPassword: the person has chosen a password and the key of an application for codes.
	HasPassword bool
	// HasProvider: a provider of single sign-on knows the person.
	HasProvider             bool
	RecoveryCodes, Passkeys int
	// Sessions are those that go on, the last used first.
	Sessions []Session
	// LastSignIn is zero for a person who never has.
	LastSignIn time.Time
}

// WithFactors returns the account with what is counted of the factors of the person.
func (a Account) WithFactors(f Factors) Account {
	a.HasPassword, a.RecoveryCodes = f.PasswordHash != "", len(f.RecoveryCodes)
	return a
}

// WithSession returns the account with a session, unless it has ended.
func (a Account) WithSession(s Session, now time.Time) Account {
	if s.goesOn(now) {
		a.Sessions = append(a.Sessions, s)
	}
	return a
}

// NeedsNoCode reports whether the person of a session has nothing to confirm with: the link of a developer has signed it in, and it has
// chosen nothing since. One of a provider has no password either, and signs in with a passkey where the provider is not configured.
func (a Account) NeedsNoCode(s Session) bool {
	return !s.Setup && !s.SingleSignOn && !a.HasPassword && !a.HasProvider && a.Passkeys == 0
}

// CheckSetUp returns CONFLICT if the person of a session chooses no password in it: only the session of a link lets it do so.
func (a Account) CheckSetUp(s Session) error {
	if a.HasPassword || !s.Setup && !a.NeedsNoCode(s) {
		return errSetUp
	}
	return nil
}

var errSetUp = &fault.Error{Code: fault.Conflict, Reason: "Already set up", Message: "You sign in with a password, a passkey or at a " +
	"provider already. Ask an administrator for a new link to choose a password."}

// ErrNoSuchSession is the fault of a session that is none of the person's, or has ended.
var ErrNoSuchSession error = fault.New(fault.NotFound, "You have no such session: it may have ended.")

// ErrNoPassword is the fault of a change of factors that a person does not have.
var ErrNoPassword = &fault.Error{Code: fault.Conflict, Reason: "No password", Message: "You have no password and no application for " +
	"codes here: you sign in at a provider, or by a link of this machine."}

// WithPassword returns the factors with another password. Fault: CONFLICT for a person who has none.
func (f Factors) WithPassword(hash string, now time.Time) (Factors, error) {
	if f.PasswordHash == "" {
		return f, ErrNoPassword
	}
	f.PasswordHash, f.UpdatedAt = hash, now
	return f, nil
}

// WithTOTP returns the factors with the key of another application, a code of whose step was used. Fault: CONFLICT for a person who has
// none.
func (f Factors) WithTOTP(secret string, step int64, now time.Time) (Factors, error) {
	if f.PasswordHash == "" {
		return f, ErrNoPassword
	}
	f.TOTPSecret, f.TOTPStep, f.UpdatedAt = secret, step, now
	return f, nil
}

// WithRecoveryCodes returns the factors with other recovery codes in place of all that were left. Fault: CONFLICT for a person without
// an application that they could replace.
func (f Factors) WithRecoveryCodes(codes []string, now time.Time) (Factors, error) {
	if f.PasswordHash == "" {
		return f, ErrNoPassword
	}
	f.RecoveryCodes, f.UpdatedAt = codes, now
	return f, nil
}

// maxDevice is the length of what a browser says of itself that is kept, in characters.
const maxDevice = 200

// On returns the session with what its browser says of itself, on one line and cut to what is kept.
func (s Session) On(device string) Session {
	kept := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(device, "")))
	s.Device = strings.TrimSpace(string(kept[:min(len(kept), maxDevice)]))
	return s
}
