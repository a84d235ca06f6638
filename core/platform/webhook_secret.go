package platform

import (
	"fmt"
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// WebhookSecret is a secret that a platform shares with the service to verify webhooks: the key of
// their HMAC signature. While two are valid, webhooks are signed with both. The secret itself is not
// part of it.
type WebhookSecret struct {
	ID        ident.WebhookSecret
	CreatedAt time.Time
	// ValidUntil is zero for the current secret, and otherwise when a replaced one ends.
	ValidUntil time.Time
}

// The limits of secrets.
const (
	// maxWebhookSecrets is how many secrets of a platform can be valid at the same time.
	maxWebhookSecrets = 2
	// DefaultWebhookSecretOverlap is how long a replaced secret remains valid by default.
	DefaultWebhookSecretOverlap = 24 * time.Hour
	// MaxWebhookSecretOverlap is how long it can remain valid.
	MaxWebhookSecretOverlap = 7 * 24 * time.Hour
)

// ValidAt reports whether webhooks are signed with the secret at a time.
func (s WebhookSecret) ValidAt(t time.Time) bool {
	return s.ValidUntil.IsZero() || s.ValidUntil.After(t)
}

// RotateWebhookSecrets returns the valid secrets of a platform after a new one, which is the first.
// The current one remains valid for the overlap. It returns CONFLICT if two are valid already, so
// that no secret that may be in use ends early without notice.
func RotateWebhookSecrets(existing []WebhookSecret, id ident.WebhookSecret, overlap time.Duration, now time.Time) ([]WebhookSecret, error) {
	if overlap < 0 || overlap > MaxWebhookSecretOverlap {
		return nil, fault.Invalid(fault.Field{Field: "overlapSeconds", Message: fmt.Sprintf("must be from 0 to %.0f, which is 7 days",
			MaxWebhookSecretOverlap.Seconds())})
	}
	valid := ValidWebhookSecrets(existing, now)
	if len(valid) >= maxWebhookSecrets {
		return nil, &fault.Error{
			Code:    fault.Conflict,
			Message: "Two secrets are valid already. Delete the one that is not in use, or wait until the older one ends.",
			Reason:  "Two webhook secrets",
		}
	}
	for i := range valid {
		if valid[i].ValidUntil.IsZero() {
			valid[i].ValidUntil = now.Add(overlap)
		}
	}
	return append([]WebhookSecret{{ID: id, CreatedAt: now}}, ValidWebhookSecrets(valid, now)...), nil
}

// DeleteWebhookSecret returns the valid secrets without the one with the id, or NOT_FOUND.
func DeleteWebhookSecret(existing []WebhookSecret, id ident.WebhookSecret, now time.Time) ([]WebhookSecret, error) {
	valid := ValidWebhookSecrets(existing, now)
	kept := slices.DeleteFunc(slices.Clone(valid), func(s WebhookSecret) bool { return s.ID == id })
	if len(kept) == len(valid) {
		return nil, fault.New(fault.NotFound, "There is no webhook secret %s. List the valid ones with GET /webhook-secrets.", id)
	}
	return kept, nil
}

// ValidWebhookSecrets returns the secrets that are valid at a time.
func ValidWebhookSecrets(secrets []WebhookSecret, at time.Time) []WebhookSecret {
	return slices.DeleteFunc(slices.Clone(secrets), func(s WebhookSecret) bool { return !s.ValidAt(at) })
}
