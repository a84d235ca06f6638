package wallet

import (
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

const (
	// MaxCredentials is the most active credentials of a wallet.
	MaxCredentials = 20
	// MaxSessions is the most active sessions of a wallet: opening another one ends the oldest.
	MaxSessions = 20
)

// Wallet is an embedded wallet: what can sign for it, and who can open a session.
type Wallet struct {
	Platform ident.Platform
	Account  ident.InternalAccount
	// Credentials are the active ones, oldest first.
	Credentials []Credential
	// Sessions are the active ones, oldest first.
	Sessions []Session
	// Implicit means that the only credential is the default one, and not stored: see WithDefault.
	Implicit bool
}

// Change is what an operation changes of a wallet: the new values of credentials and sessions.
type Change struct {
	Credentials []Credential
	Sessions    []Session
}

// After returns the wallet with a change at a time.
func (w Wallet) After(c Change, now time.Time) Wallet {
	next := Wallet{Platform: w.Platform, Account: w.Account, Implicit: w.Implicit && len(c.Credentials) == 0}
	next.Credentials = replaced(w.Credentials, c.Credentials, func(a, b Credential) bool { return a.ID == b.ID },
		func(c Credential) bool { return c.RevokedAt.IsZero() })
	next.Sessions = replaced(w.Sessions, c.Sessions, func(a, b Session) bool { return a.ID == b.ID },
		func(s Session) bool { return s.Active(now) })
	return next
}

// replaced returns the old values with those that changed and are new, as far as they are kept.
func replaced[T any](before, changed []T, same func(a, b T) bool, kept func(T) bool) []T {
	after := slices.Clone(before)
	for _, value := range changed {
		if i := slices.IndexFunc(after, func(old T) bool { return same(old, value) }); i >= 0 {
			after[i] = value
		} else {
			after = append(after, value)
		}
	}
	return slices.DeleteFunc(after, func(value T) bool { return !kept(value) })
}

// Credential returns an active credential, or CREDENTIAL_NOT_FOUND.
func (w Wallet) Credential(id ident.AuthMethod) (Credential, error) {
	if i := slices.IndexFunc(w.Credentials, func(c Credential) bool { return c.ID == id }); i >= 0 {
		return w.Credentials[i], nil
	}
	return Credential{}, CredentialNotFound(id)
}

// Session returns an active session, or SESSION_NOT_FOUND.
func (w Wallet) Session(id ident.Session) (Session, error) {
	if i := slices.IndexFunc(w.Sessions, func(s Session) bool { return s.ID == id }); i >= 0 {
		return w.Sessions[i], nil
	}
	return Session{}, SessionNotFound(id)
}

// CredentialNotFound returns the fault of a credential that does not exist or was revoked.
func CredentialNotFound(id ident.AuthMethod) *fault.Error {
	return fault.New(fault.CredentialNotFound, "There is no credential %s, or it was revoked.", id)
}

// SessionNotFound returns the fault of a session that does not exist or is not active.
func SessionNotFound(id ident.Session) *fault.Error {
	return fault.New(fault.SessionNotFound, "There is no session %s, or it has ended.", id)
}

// First returns the first credential of a type, or false.
func (w Wallet) First(t CredentialType) (Credential, bool) {
	if i := slices.IndexFunc(w.Credentials, func(c Credential) bool { return c.Type == t }); i >= 0 {
		return w.Credentials[i], true
	}
	return Credential{}, false
}

// Verified reports whether the customer has ever verified a credential that the wallet has: only then
// somebody can sign.
func (w Wallet) Verified() bool {
	return slices.ContainsFunc(w.Credentials, func(c Credential) bool { return !c.VerifiedAt.IsZero() })
}

// CheckAdd returns why no credential of a type can be added: EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS, SMS_OTP_CREDENTIAL_ALREADY_EXISTS,
// PASSKEY_CREDENTIAL_ALREADY_EXISTS, or INVALID_INPUT if there are too many.
func (w Wallet) CheckAdd(t CredentialType) error {
	_, exists := w.First(t)
	switch {
	case exists && t == EmailOTP:
		return fault.New(fault.EmailOTPCredentialAlreadyExists, "The wallet has an EMAIL_OTP credential. Use it, or revoke it first.")
	case exists && t == SMSOTP:
		return fault.New(fault.SMSOTPCredentialAlreadyExists, "The wallet has an SMS_OTP credential. Use it, or revoke it first.")
	case exists && t == Passkey:
		return fault.New(fault.PasskeyCredentialAlreadyExists, "The wallet has a PASSKEY credential. Use it, or revoke it first.")
	case len(w.Credentials) >= MaxCredentials:
		return fault.Invalid(fault.Field{Field: "accountId", Message: "has 20 credentials, the most that a wallet can have; revoke one first"})
	}
	return nil
}

// Add adds a credential. Faults: those of CheckAdd; INVALID_INPUT for an identity that the wallet has.
func (w Wallet) Add(c Credential) (Change, error) {
	if err := w.CheckAdd(c.Type); err != nil {
		return Change{}, err
	}
	if c.Identity != nil && slices.ContainsFunc(w.Credentials, func(other Credential) bool {
		return other.Identity != nil && other.Identity.Issuer == c.Identity.Issuer && other.Identity.Subject == c.Identity.Subject
	}) {
		return Change{}, fault.Invalid(fault.Field{Field: "oidcToken", Message: "names a person who is a credential of the wallet already"})
	}
	return w.with(c), nil
}

// with returns the change to a credential. It stores the default one too, so that a wallet with any
// stored credential has all of them stored.
func (w Wallet) with(c Credential) Change {
	if w.Implicit && w.Credentials[0].ID != c.ID {
		return Change{Credentials: []Credential{w.Credentials[0], c}}
	}
	return Change{Credentials: []Credential{c}}
}

// Update changes an active credential: the counter of its passkey, when it was verified, or where its codes
// are sent.
func (w Wallet) Update(c Credential) Change { return w.with(c) }

// Revoke revokes a credential and ends its sessions. Faults: CREDENTIAL_NOT_FOUND; INVALID_INPUT for the last
// credential.
func (w Wallet) Revoke(id ident.AuthMethod, now time.Time) (Change, error) {
	revoked, err := w.Credential(id)
	if err != nil {
		return Change{}, err
	}
	if len(w.Credentials) == 1 {
		return Change{}, &fault.Error{Code: fault.InvalidInput, Reason: "Last credential",
			Message: "The last credential of a wallet cannot be revoked. Add another one first."}
	}
	revoked.RevokedAt, revoked.UpdatedAt = now, now
	change := Change{Credentials: []Credential{revoked}}
	for _, s := range w.Sessions {
		if s.Credential == id {
			change.Sessions = append(change.Sessions, s.ended(now))
		}
	}
	return change, nil
}

// OpenSession adds a session that a credential opens, which must be active, and ends the oldest sessions if
// there are too many. verified is the credential as its proof leaves it. Fault: CREDENTIAL_NOT_FOUND.
func (w Wallet) OpenSession(s Session, verified Credential, now time.Time) (Change, error) {
	if _, err := w.Credential(verified.ID); err != nil {
		return Change{}, err
	}
	change := Change{Sessions: []Session{s}}
	switch {
	case verified.VerifiedAt.IsZero():
		verified.VerifiedAt, verified.UpdatedAt = now, now
		change.Credentials = []Credential{verified}
	case verified.Passkey != nil: // its counter
		change.Credentials = []Credential{verified}
	}
	for i := 0; i <= len(w.Sessions)-MaxSessions; i++ {
		change.Sessions = append(change.Sessions, w.Sessions[i].ended(now))
	}
	return change, nil
}

// EndSession ends a session. Fault: SESSION_NOT_FOUND.
func (w Wallet) EndSession(id ident.Session, now time.Time) (Change, error) {
	s, err := w.Session(id)
	if err != nil {
		return Change{}, err
	}
	return Change{Sessions: []Session{s.ended(now)}}, nil
}

// NeedsSignature reports whether only a signed request can add a credential: the first one of a wallet is
// added without.
func (w Wallet) NeedsSignature() bool { return len(w.Credentials) > 0 }
