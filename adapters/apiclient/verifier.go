package apiclient

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxClockDifference is how far the timestamp of a webhook may be from the time it was
// received. An older one may be a copy that somebody else sends again.
const maxClockDifference = time.Minute

// Verifier verifies the signatures of webhooks with the keys that the service publishes and
// the secrets of the platform. It fetches the keys when it has none that fit.
type Verifier struct {
	client *Client

	mu          sync.Mutex
	ecdsaKeys   []*ecdsa.PublicKey
	ed25519Keys []ed25519.PublicKey
	secrets     [][]byte
}

// NewVerifier returns a verifier that fetches the keys with this client.
func NewVerifier(c *Client) *Verifier { return &Verifier{client: c} }

// AddSecret adds a secret of the platform, "whsec_…". From then on every webhook must have a
// signature by one of them.
func (v *Verifier) AddSecret(text string) error {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "whsec_"))
	if err != nil || len(secret) == 0 {
		return errors.New("a webhook secret must be whsec_ and base64")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.secrets = append(v.secrets, secret)
	return nil
}

// Verify checks all signatures of a webhook that was received at a time. It must have at
// least one.
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
	var ecdsaError error
	service := header.Get("Service-Webhook-Signature")
	if service != "" {
		ecdsaError = v.verifyECDSA(service, body)
	}
	verified, err := v.verifyStandardWebhook(header, body, receivedAt)
	if service == "" && !verified && err == nil {
		err = errors.New("the webhook has no signature that can be verified")
	}
	return errors.Join(ecdsaError, err)
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

// verifyStandardWebhook checks the signatures of Standard Webhooks, over id, timestamp and
// body: v1 (HMAC) if there is a secret, and v1a (Ed25519) if the webhook has one. It reports
// whether it has verified any.
func (v *Verifier) verifyStandardWebhook(header http.Header, body []byte, receivedAt time.Time) (verified bool, err error) {
	id, timestamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	var envelope struct{ WebhookID string }
	if err := json.Unmarshal(body, &envelope); err != nil || envelope.WebhookID != id {
		return false, fmt.Errorf("webhook-id %q is not the webhookId of the body", id)
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || receivedAt.Sub(time.Unix(seconds, 0)).Abs() > maxClockDifference {
		return false, fmt.Errorf("webhook-timestamp %q is not the current time", timestamp)
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	hmacs, ed25519s := 0, 0
	var hmacVerified, ed25519Verified bool
	for one := range strings.FieldsSeq(header.Get("Webhook-Signature")) {
		version, text, _ := strings.Cut(one, ",")
		signature, err := base64.StdEncoding.DecodeString(text)
		switch {
		case version == "v1":
			hmacs++
			hmacVerified = hmacVerified || err == nil && v.verifyHMAC(signed, signature)
		case version == "v1a":
			ed25519s++
			ed25519Verified = ed25519Verified || err == nil && v.verifyEd25519(signed, signature)
		}
	}
	if len(v.secrets) > 0 && !hmacVerified {
		return false, fmt.Errorf("none of %d signatures v1 is by a known secret: %.200q", hmacs, header.Get("Webhook-Signature"))
	}
	if ed25519s > 0 && !ed25519Verified {
		return false, fmt.Errorf("none of %d signatures v1a is by a published key: %.200q", ed25519s, header.Get("Webhook-Signature"))
	}
	return hmacVerified || ed25519Verified, nil
}

func (v *Verifier) verifyHMAC(signed, signature []byte) bool {
	return slices.ContainsFunc(v.secrets, func(secret []byte) bool {
		mac := hmac.New(sha256.New, secret)
		mac.Write(signed)
		return hmac.Equal(mac.Sum(nil), signature)
	})
}

func (v *Verifier) verifyEd25519(signed, signature []byte) bool {
	return slices.ContainsFunc(v.ed25519Keys, func(key ed25519.PublicKey) bool { return ed25519.Verify(key, signed, signature) })
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
