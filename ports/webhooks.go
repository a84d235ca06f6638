package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
)

// Webhooks makes one signed delivery.
type Webhooks interface {
	// Deliver sends the body once and says how it went. It never retries and never
	// takes longer than event.Timeout. When ctx ends first the outcome is
	// Unreachable; whether the receiver has it is not known then.
	Deliver(ctx context.Context, d WebhookDelivery) WebhookResponse
}

// WebhookDelivery is one event on its way to one endpoint.
type WebhookDelivery struct {
	Endpoint Endpoint
	ID       ident.Webhook
	// Body is signed and sent byte for byte.
	Body []byte
	// At is the moment of this attempt.
	At time.Time
	// MaxResponseBytes is how much of the answer's body is wanted, in bytes; zero for a beginning
	// that is enough to look at.
	MaxResponseBytes int
}

// Endpoint is where a platform wants its events; a zero URL is nowhere. The
// environment decides which addresses are allowed and which keys sign.
type Endpoint struct {
	URL         string
	Environment platform.Environment
}

// WebhookResponse is how one attempt ended.
type WebhookResponse struct {
	Outcome event.Outcome
	// StatusCode is the HTTP status; 0 without an answer.
	StatusCode int
	// Error says in a few words why there was no answer.
	Error string
	// Response is the beginning of the answer's body, valid UTF-8.
	Response string
	Duration time.Duration
}

// WebhookKeys holds the keys that deliveries are signed with, per environment.
type WebhookKeys interface {
	// Keys returns the public halves of all that are valid at a moment, newest first.
	// There is always one of each algorithm that has no end.
	Keys(ctx context.Context, env platform.Environment, now time.Time) ([]WebhookKey, error)
	// Rotate returns new keys that sign from now on; the present ones stay valid for
	// the overlap, so that what they signed can still be verified.
	Rotate(ctx context.Context, env platform.Environment, now time.Time, overlap time.Duration) error
}

// KeyAlgorithm is how a webhook key signs.
type KeyAlgorithm string

// The algorithms.
const (
	// ECDSAP256 signs the body for Service-Webhook-Signature.
	ECDSAP256 KeyAlgorithm = "ECDSA_P256_SHA256"
	// Ed25519 signs id, time and body for webhook-signature.
	Ed25519 KeyAlgorithm = "ED25519"
)

// WebhookKey is the public half of a signing key.
type WebhookKey struct {
	ID          uuid.UUID
	Environment platform.Environment
	Algorithm   KeyAlgorithm
	// PEM is the key as SubjectPublicKeyInfo.
	PEM string
	// Standard is the key in the form of Standard Webhooks, "whpk_…"; Ed25519 only.
	Standard  string
	ValidFrom time.Time
	// ValidUntil is zero while the key signs.
	ValidUntil time.Time
}

// SealedWebhookKey is a signing key as it is kept.
type SealedWebhookKey struct {
	ID          uuid.UUID
	Environment platform.Environment
	Algorithm   KeyAlgorithm
	Public      []byte // SubjectPublicKeyInfo, DER
	Sealed      []byte // the private half, sealed by a Sealer
	ValidFrom   time.Time
	ValidUntil  time.Time // zero: no end
}

// WebhookKeyStore keeps sealed signing keys.
type WebhookKeyStore interface {
	// WebhookKeys returns all of an environment that are valid at the moment or later.
	WebhookKeys(ctx context.Context, env platform.Environment, now time.Time) ([]SealedWebhookKey, error)
	// ReplaceWebhookKeys ends the keys with the given ids at `until` and adds the
	// others, in one step. False: another process replaced or made keys in the
	// meantime, and nothing was changed.
	ReplaceWebhookKeys(ctx context.Context, ends []uuid.UUID, until time.Time, adds []SealedWebhookKey) (bool, error)
}

// Sealer encrypts what must not lie readable at rest.
type Sealer interface {
	// Seal encrypts; the same context must be given to Open, so that a sealed value
	// cannot be moved to another row.
	Seal(plain, context []byte) ([]byte, error)
	Open(sealed, context []byte) ([]byte, error)
}
