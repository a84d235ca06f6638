package wallet

import (
	"time"

	"causeway/core/ident"
)

// SessionLifetime is how long a session lasts.
const SessionLifetime = 15 * time.Minute

// Session is what a verified credential opens. Its private key exists only in the customer's client, which
// signs requests with it.
type Session struct {
	ID         ident.Session
	Platform   ident.Platform
	Account    ident.InternalAccount
	Credential ident.AuthMethod
	Type       CredentialType
	// Nickname and PasskeyID are those of the credential. PasskeyID is empty unless it is a passkey.
	Nickname  string
	PasskeyID []byte
	// PublicKey verifies the signatures of the session.
	PublicKey SessionKey
	// Certificate is the statement of the wallet that it opened the session for PublicKey.
	Certificate Certificate
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ExpiresAt   time.Time
	// RevokedAt is zero unless the session was revoked before it expired.
	RevokedAt time.Time
}

// Active reports whether the session can sign at a time.
func (s Session) Active(now time.Time) bool { return s.RevokedAt.IsZero() && now.Before(s.ExpiresAt) }

// Of returns the session with the names of its credential.
func (s Session) Of(c Credential) Session {
	s.Nickname = c.Nickname
	if c.Passkey != nil {
		s.PasskeyID = c.Passkey.CredentialID
	}
	return s
}

// ended returns the session after it was revoked.
func (s Session) ended(now time.Time) Session {
	s.RevokedAt, s.UpdatedAt = now, now
	return s
}

// SessionKey is a public key on P-256 (FIPS 186-5), compressed as in SEC 1: 33 bytes.
type SessionKey [33]byte

// Key is the public key of a wallet on secp256k1 (SEC 2), compressed as in SEC 1: 33 bytes. Everything
// that the wallet states is signed with its private key, which the customer can derive from the exported
// words.
type Key [33]byte

// Certificate is a statement, the key of the wallet that made it, and its signature: ECDSA with SHA-256
// over the bytes of Statement, in DER. Who knows the key of the wallet needs nothing else to check it.
type Certificate struct {
	Statement string
	Key       Key
	Signature []byte
}
