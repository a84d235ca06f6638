package person

import (
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Challenge is something unguessable that is answered once: a passkey signs it, or a provider of single sign-on returns it.
type Challenge struct {
	// Hash is that of the secret that is answered, which is not stored.
	Hash    SecretHash
	Purpose Purpose
	// Person has to be the one who answers; zero for who is not signed in.
	Person ident.Person
	// Holder is the hash of the secret of the session or browser that has to answer; zero for any.
	Holder SecretHash
	// Action is the path of the page whose form is confirmed, or to which a sign-in leads.
	Action    string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Purpose is what a challenge is for. An answer counts for nothing else.
type Purpose string

// The purposes.
const (
	PasskeySignIn       Purpose = "PASSKEY_SIGN_IN"
	PasskeyRegistration Purpose = "PASSKEY_REGISTRATION"
	PasskeyConfirmation Purpose = "PASSKEY_CONFIRMATION" // before what moves money or gives rights
	SingleSignOn        Purpose = "SINGLE_SIGN_ON"
	ProviderConfirms    Purpose = "PROVIDER_CONFIRMATION" // as PasskeyConfirmation
)

// Purposes lists every purpose.
var Purposes = []Purpose{PasskeySignIn, PasskeyRegistration, PasskeyConfirmation, SingleSignOn, ProviderConfirms}

const (
	// ChallengeLifetime is how long a challenge can be answered.
	ChallengeLifetime = 10 * time.Minute
	// ConfirmedLifetime is how long what a provider has confirmed can be used.
	ConfirmedLifetime = 5 * time.Minute
	// MaxAction is the length of the action of a challenge.
	MaxAction = 2000
)

// NewChallenge returns a challenge. Fault: CONFLICT for an action that is too long to be kept.
func NewChallenge(hash SecretHash, purpose Purpose, of ident.Person, holder SecretHash, action string, now time.Time) (Challenge, error) {
	if len(action) > MaxAction {
		return Challenge{}, ErrChallenge
	}
	return Challenge{Hash: hash, Purpose: purpose, Person: of, Holder: holder, Action: action, CreatedAt: now,
		ExpiresAt: now.Add(ChallengeLifetime)}, nil
}

// Answer checks that somebody answers in time what it was asked for. Fault: CONFLICT.
func (c Challenge) Answer(purpose Purpose, of ident.Person, holder SecretHash, now time.Time) error {
	if c.Purpose != purpose || c.Person != of || c.Holder != holder || !now.Before(c.ExpiresAt) {
		return ErrChallenge
	}
	return nil
}

// ErrChallenge is the fault of an answer to a challenge that was never given, was answered, has expired or was given for something else.
var ErrChallenge = &fault.Error{Code: fault.Conflict, Reason: "Asked too long ago", Message: "This was asked too long ago, was answered " +
	"already, or belongs to another page. Start again."}
