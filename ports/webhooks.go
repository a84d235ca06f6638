package ports

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/tracing"
)

// Webhooks sends signed webhooks.
type Webhooks interface {
	// Deliver makes one attempt and returns its outcome. It never retries and never takes
	// longer than event.Timeout. If ctx is done first, or the attempt fails for another
	// reason that is not the receiver's, the outcome is InternalError.
	Deliver(ctx context.Context, d WebhookDelivery) WebhookResponse
}

// WebhookDelivery is one event for one endpoint.
type WebhookDelivery struct {
	Endpoint Endpoint
	ID       ident.Webhook
	// Body is signed and sent unchanged.
	Body []byte
	// At is the time of the attempt.
	At time.Time
	// Trace is the place of the attempt in a trace, for the header traceparent; it is not sent if empty.
	Trace tracing.Context
	// MaxResponseBytes is how many bytes of the response body to return; zero for a default
	// that is enough for a person.
	MaxResponseBytes int
}

// Endpoint is the webhook endpoint of a platform; the URL is empty if it has none. The
// environment decides which addresses are allowed and which keys sign.
type Endpoint struct {
	Platform    ident.Platform
	URL         string
	Environment platform.Environment
	Signatures  platform.WebhookSignatures
	// SecretsVersion changes with every change of the platform's secrets; 0 if it never had
	// one.
	SecretsVersion int64
}

// WebhookResponse is the outcome of one attempt.
type WebhookResponse struct {
	Outcome event.Outcome
	// StatusCode is the HTTP status; 0 without a response.
	StatusCode int
	// Error says why there was no response. It is for the platform, except that of the outcome
	// InternalError, which is for the operator only.
	Error string
	// Response is the beginning of the response body, as valid UTF-8.
	Response string
	Duration time.Duration
	// Relayed: a listener of the platform answers instead of its endpoint, within event.Timeout, or nobody does. Nothing else is set.
	Relayed bool
}

// WebhookKeys manages the keys that sign webhooks, per environment.
type WebhookKeys interface {
	// Keys returns the public halves of the keys that are valid at a time, newest first.
	// There is always one of each algorithm without an end.
	Keys(ctx context.Context, env platform.Environment, now time.Time) ([]WebhookKey, error)
	// Rotate creates keys that sign from now on. The previous ones remain valid for the
	// overlap, so that their signatures can still be verified.
	Rotate(ctx context.Context, env platform.Environment, now time.Time, overlap time.Duration) error
	// Headers returns the headers of an attempt at the delivery: its signatures, and what they sign beside the body.
	Headers(ctx context.Context, d WebhookDelivery) (http.Header, error)
	// NewSecret returns a random secret of a platform, "whsec_…", and the same encrypted, to
	// be stored under the id.
	NewSecret(p ident.Platform, id ident.WebhookSecret) (secret string, sealed []byte, err error)
}

// KeyAlgorithm is the algorithm of a webhook key.
type KeyAlgorithm string

// The algorithms.
const (
	// ECDSAP256 signs the body, for the header Service-Webhook-Signature.
	ECDSAP256 KeyAlgorithm = "ECDSA_P256_SHA256"
	// Ed25519 signs id, time and body, for the header webhook-signature, as v1a.
	Ed25519 KeyAlgorithm = "ED25519"
)

// WebhookKey is the public half of a signing key.
type WebhookKey struct {
	ID          uuid.UUID
	Environment platform.Environment
	Algorithm   KeyAlgorithm
	// PEM is the key as SubjectPublicKeyInfo.
	PEM string
	// Standard is the key in the form of Standard Webhooks, "whpk_…", if it is Ed25519.
	Standard  string
	ValidFrom time.Time
	// ValidUntil is zero while the key signs.
	ValidUntil time.Time
}

// SealedWebhookKey is a signing key with its encrypted private half.
type SealedWebhookKey struct {
	ID          uuid.UUID
	Environment platform.Environment
	Algorithm   KeyAlgorithm
	Public      []byte // SubjectPublicKeyInfo, DER
	Sealed      []byte // the private half, encrypted by a Sealer
	ValidFrom   time.Time
	ValidUntil  time.Time // zero for no end
}

// SealedWebhookSecret is a secret of a platform, encrypted.
type SealedWebhookSecret struct {
	platform.WebhookSecret
	Sealed []byte
}

// WebhookSecretReader reads the secrets of platforms.
type WebhookSecretReader interface {
	// WebhookSecrets returns the stored secrets of a platform, newest first. Some may have
	// ended.
	WebhookSecrets(ctx context.Context, p ident.Platform) ([]SealedWebhookSecret, error)
}

// WebhookKeyStore stores signing keys.
type WebhookKeyStore interface {
	// WebhookKeys returns the keys of an environment that are valid now or later.
	WebhookKeys(ctx context.Context, env platform.Environment, now time.Time) ([]SealedWebhookKey, error)
	// ReplaceWebhookKeys ends the keys with the given ids at until, adds keys, and deletes the
	// ended keys of their environments, in one unit of work. It returns false, and changes nothing, if another process replaced or
	// added keys first.
	ReplaceWebhookKeys(ctx context.Context, ends []uuid.UUID, until time.Time, adds []SealedWebhookKey) (bool, error)
}
