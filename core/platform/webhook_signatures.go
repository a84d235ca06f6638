package platform

import (
	"slices"
	"strings"
)

// WebhookSignatures says with which signatures the webhooks of a platform are sent. A webhook that
// would have none, because HMAC is the only one and there is no secret, has the ECDSA signature.
type WebhookSignatures struct {
	// ECDSA is the header Service-Webhook-Signature, over the body.
	ECDSA bool
	// HMAC and Ed25519 are the signatures v1 and v1a of Standard Webhooks. HMAC needs a secret of
	// the platform.
	HMAC, Ed25519 bool
}

// DefaultWebhookSignatures are the signatures for a new platform.
var DefaultWebhookSignatures = WebhookSignatures{ECDSA: true, HMAC: true}

// The names of the signatures.
const (
	webhookECDSA   = "ECDSA_P256_SHA256"
	webhookHMAC    = "HMAC_SHA256"
	webhookEd25519 = "ED25519"
)

// WebhookSignatureNames lists the names of all signatures.
var WebhookSignatureNames = []string{webhookECDSA, webhookHMAC, webhookEd25519}

// ParseWebhookSignatures returns the signatures with these names, and what is wrong with the names, or
// the empty string.
func ParseWebhookSignatures(names []string) (WebhookSignatures, string) {
	if len(names) == 0 {
		return WebhookSignatures{}, "must list at least one signature"
	}
	for _, name := range names {
		if !slices.Contains(WebhookSignatureNames, name) {
			return WebhookSignatures{}, "must list only " + strings.Join(WebhookSignatureNames, ", ")
		}
	}
	return WebhookSignatures{
		ECDSA: slices.Contains(names, webhookECDSA), HMAC: slices.Contains(names, webhookHMAC), Ed25519: slices.Contains(names, webhookEd25519),
	}, ""
}

// Names returns the names of the signatures.
func (s WebhookSignatures) Names() []string {
	var names []string
	for i, used := range []bool{s.ECDSA, s.HMAC, s.Ed25519} {
		if used {
			names = append(names, WebhookSignatureNames[i])
		}
	}
	return names
}
