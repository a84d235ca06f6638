package apiclient

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxClockDifference is how far the timestamp of a webhook may be from the time it was
// received. An older one may be a copy that somebody else sends again.
const maxClockDifference = time.Minute

// Verifier verifies the signatures of webhooks with the keys that the service publishes.
// It fetches the keys when it has none that fit.
type Verifier struct {
	client *Client

	mu          sync.Mutex
	ecdsaKeys   []*ecdsa.PublicKey
	ed25519Keys []ed25519.PublicKey
}

// NewVerifier returns a verifier that fetches the keys with this client.
func NewVerifier(c *Client) *Verifier { return &Verifier{client: c} }

// Verify checks both signatures of a webhook that was received at a time.
func (v *Verifier) Verify(ctx context.Context, header http.Header, body []byte, receivedAt time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.verifyWithKnownKeys(header, body, receivedAt) == nil {
		return nil
	}
	if err := v.fetchKeys(ctx); err != nil {
		return err
	}
	return v.verifyWithKnownKeys(header, body, receivedAt)
}

func (v *Verifier) verifyWithKnownKeys(header http.Header, body []byte, receivedAt time.Time) error {
	return errors.Join(v.verifyECDSA(header.Get("Service-Webhook-Signature"), body), v.verifyStandardWebhook(header, body, receivedAt))
}

// verifyECDSA checks {"v":"1","s":"<base64 DER>"}: ECDSA P-256 with SHA-256 over the body.
func (v *Verifier) verifyECDSA(header string, body []byte) error {
	var signature struct{ V, S string }
	if err := json.Unmarshal([]byte(header), &signature); err != nil || signature.V != "1" {
		return fmt.Errorf("invalid Service-Webhook-Signature %.80q", header)
	}
	der, err := base64.StdEncoding.DecodeString(signature.S)
	if err != nil {
		return fmt.Errorf("invalid Service-Webhook-Signature %.80q: %w", header, err)
	}
	digest := sha256.Sum256(body)
	for _, key := range v.ecdsaKeys {
		if ecdsa.VerifyASN1(key, digest[:], der) {
			return nil
		}
	}
	return errors.New("Service-Webhook-Signature matches none of the published keys")
}

// verifyStandardWebhook checks the asymmetric form of Standard Webhooks: Ed25519 over id,
// timestamp and body.
func (v *Verifier) verifyStandardWebhook(header http.Header, body []byte, receivedAt time.Time) error {
	id, timestamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	var envelope struct{ WebhookID string }
	if err := json.Unmarshal(body, &envelope); err != nil || envelope.WebhookID != id {
		return fmt.Errorf("webhook-id %q is not the webhookId of the body", id)
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || receivedAt.Sub(time.Unix(seconds, 0)).Abs() > maxClockDifference {
		return fmt.Errorf("webhook-timestamp %q is not the current time", timestamp)
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	for one := range strings.FieldsSeq(header.Get("Webhook-Signature")) {
		version, text, _ := strings.Cut(one, ",")
		signature, err := base64.StdEncoding.DecodeString(text)
		if version != "v1a" || err != nil {
			continue
		}
		for _, key := range v.ed25519Keys {
			if ed25519.Verify(key, signed, signature) {
				return nil
			}
		}
	}
	return fmt.Errorf("webhook-signature %.120q matches none of the published keys", header.Get("Webhook-Signature"))
}

// fetchKeys replaces the known keys by those that the service publishes.
func (v *Verifier) fetchKeys(ctx context.Context) error {
	var published struct {
		Data []struct{ ID, PublicKey string }
	}
	if err := v.client.Call(ctx, http.MethodGet, "/webhook-keys", nil, &published); err != nil {
		return err
	}
	v.ecdsaKeys, v.ed25519Keys = nil, nil
	for _, key := range published.Data {
		block, _ := pem.Decode([]byte(key.PublicKey))
		if block == nil {
			return fmt.Errorf("the webhook key %s is not PEM", key.ID)
		}
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return fmt.Errorf("the webhook key %s: %w", key.ID, err)
		}
		switch public := public.(type) {
		case *ecdsa.PublicKey:
			v.ecdsaKeys = append(v.ecdsaKeys, public)
		case ed25519.PublicKey:
			v.ed25519Keys = append(v.ed25519Keys, public)
		default:
			return fmt.Errorf("the webhook key %s is a %T", key.ID, public)
		}
	}
	return nil
}
