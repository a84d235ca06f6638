package e2e

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

// webhookVerifier verifies webhooks with the keys that the service publishes, and asks for
// them again when it does not know the one that signed.
type webhookVerifier struct {
	client *client

	mu          sync.Mutex
	ecdsaKeys   []*ecdsa.PublicKey
	ed25519Keys []ed25519.PublicKey
}

// verify checks both signatures of a delivery.
func (k *webhookVerifier) verify(header http.Header, body []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.verifyWithKnownKeys(header, body)
	if err == nil {
		return nil
	}
	if err := k.fetchKeys(); err != nil {
		return err
	}
	return k.verifyWithKnownKeys(header, body)
}

func (k *webhookVerifier) verifyWithKnownKeys(header http.Header, body []byte) error {
	return errors.Join(k.verifyECDSA(header.Get("Service-Webhook-Signature"), body), k.verifyStandardWebhook(header, body))
}

// verifyECDSA is {"v":"1","s":"<base64 DER>"}: ECDSA P-256, SHA-256, over the raw body.
func (k *webhookVerifier) verifyECDSA(header string, body []byte) error {
	var signature struct{ V, S string }
	if err := json.Unmarshal([]byte(header), &signature); err != nil || signature.V != "1" {
		return fmt.Errorf("Service-Webhook-Signature %q", header)
	}
	der, err := base64.StdEncoding.DecodeString(signature.S)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(body)
	for _, key := range k.ecdsaKeys {
		if ecdsa.VerifyASN1(key, digest[:], der) {
			return nil
		}
	}
	return errors.New("no published key made the Service-Webhook-Signature")
}

// verifyStandardWebhook is the asymmetric form of Standard Webhooks.
func (k *webhookVerifier) verifyStandardWebhook(header http.Header, body []byte) error {
	id, stamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	var envelope struct{ WebhookID string }
	if err := json.Unmarshal(body, &envelope); err != nil || envelope.WebhookID != id {
		return fmt.Errorf("webhook-id %q is not that of the body", id)
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > time.Minute {
		return fmt.Errorf("webhook-timestamp %q", stamp)
	}
	signed := append([]byte(id+"."+stamp+"."), body...)
	for one := range strings.FieldsSeq(header.Get("Webhook-Signature")) {
		version, text, _ := strings.Cut(one, ",")
		raw, err := base64.StdEncoding.DecodeString(text)
		if version != "v1a" || err != nil {
			continue
		}
		for _, key := range k.ed25519Keys {
			if ed25519.Verify(key, signed, raw) {
				return nil
			}
		}
	}
	return fmt.Errorf("no published key made the webhook-signature %q", header.Get("Webhook-Signature"))
}

func (k *webhookVerifier) fetchKeys() error {
	keys, err := k.client.do(context.Background(), http.MethodGet, "/webhook-keys", nil)
	if err != nil {
		return fmt.Errorf("GET /webhook-keys: %w", err)
	}
	if keys.status != http.StatusOK {
		return fmt.Errorf("GET /webhook-keys: %d", keys.status)
	}
	k.ecdsaKeys, k.ed25519Keys = nil, nil
	for i := range keys.list("data") {
		block, _ := pem.Decode([]byte(keys.text(fmt.Sprintf("data.%d.publicKey", i))))
		if block == nil {
			return fmt.Errorf("a key that is no PEM: %s", keys.body)
		}
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return err
		}
		switch public := public.(type) {
		case *ecdsa.PublicKey:
			k.ecdsaKeys = append(k.ecdsaKeys, public)
		case ed25519.PublicKey:
			k.ed25519Keys = append(k.ed25519Keys, public)
		}
	}
	return nil
}
