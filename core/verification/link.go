package verification

import (
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

// Link leads a customer to the pages of the service on which the customer's identity is verified. It
// is opened once, which begins a session. Only hashes of its token and of the session are stored: both
// are 256 random bits, so a slow hash would not protect them better.
type Link struct {
	ID       uuid.UUID
	Platform ident.Platform
	Customer ident.Customer
	// RedirectURI is where the customer goes afterwards; it may be empty.
	RedirectURI string
	TokenHash   SecretHash
	CreatedAt   time.Time
	// ExpiresAt is when the link can no longer be opened.
	ExpiresAt time.Time
	// OpenedAt is zero until the link is opened. Then there is a session until SessionExpiresAt.
	OpenedAt         time.Time
	SessionHash      SecretHash
	SessionExpiresAt time.Time
}

const (
	// LinkLifetime is how long a link can be opened.
	LinkLifetime = 24 * time.Hour
	// SessionLifetime is how long the one who opened a link can go on.
	SessionLifetime = 2 * time.Hour
)

// SecretHash is the SHA-256 of a secret.
type SecretHash = [sha256.Size]byte

const (
	randomLength = 32
	secretLength = len(uuid.UUID{}) + randomLength
)

var secretEncoding = base64.RawURLEncoding.Strict()

// NewSecret returns the text of a token or a session, made of 32 random bytes, and its hash. It names
// the platform, so that it is looked up among the links of that platform only.
func NewSecret(p ident.Platform, random [randomLength]byte) (text string, hash SecretHash) {
	id := p.UUID()
	text = secretEncoding.EncodeToString(append(id[:], random[:]...))
	return text, sha256.Sum256([]byte(text))
}

// ParseSecret returns the platform that a text names and the hash of the text, or false for a text
// that NewSecret never returns.
func ParseSecret(text string) (p ident.Platform, hash SecretHash, ok bool) {
	decoded, err := secretEncoding.DecodeString(text)
	if err != nil || len(decoded) != secretLength || len(text) != secretEncoding.EncodedLen(secretLength) {
		return p, hash, false
	}
	p.SetUUID(uuid.UUID(decoded[:len(uuid.UUID{})]))
	return p, sha256.Sum256([]byte(text)), true
}

// NewLink returns a link for a customer of a platform. Faults: CUSTOMER_DELETED, CONFLICT while its contacts are not verified,
// INVALID_INPUT for a redirectURI that the platform does not allow.
func NewLink(id uuid.UUID, owner platform.Platform, c customer.Customer, redirectURI string, token SecretHash,
	now time.Time) (Link, error) {
	if c.Deleted() {
		return Link{}, fault.New(fault.CustomerDeleted, "The customer %s is deleted; it cannot be verified.", c.ID)
	}
	if err := c.CheckContacts(owner); err != nil {
		return Link{}, err
	}
	if err := owner.CheckRedirectURI(redirectURI); err != nil {
		return Link{}, err
	}
	return Link{ID: id, Platform: c.Platform, Customer: c.ID, RedirectURI: redirectURI, TokenHash: token, CreatedAt: now,
		ExpiresAt: now.Add(LinkLifetime)}, nil
}

// Open returns the link after it was opened, with a session. Faults: CONFLICT for a link that was
// opened or has expired.
func (l Link) Open(session SecretHash, now time.Time) (Link, error) {
	switch {
	case !l.OpenedAt.IsZero():
		return l, &fault.Error{Code: fault.Conflict, Reason: "Link used", Message: "This link was opened already. Ask for a new one."}
	case !now.Before(l.ExpiresAt):
		return l, &fault.Error{Code: fault.Conflict, Reason: "Link expired", Message: "This link has expired. Ask for a new one."}
	}
	l.OpenedAt, l.SessionHash, l.SessionExpiresAt = now, session, now.Add(SessionLifetime)
	return l, nil
}

// CheckSession returns CONFLICT for a session that has ended.
func (l Link) CheckSession(now time.Time) error {
	if now.Before(l.SessionExpiresAt) {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, Reason: "Session expired", Message: "This session has ended. Ask for a new link."}
}
