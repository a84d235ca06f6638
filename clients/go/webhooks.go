package causeway

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
	"strconv"
	"strings"
	"sync"
	"time"

	"causeway/clients/go/api"
)

// ErrNotGenuine is the reason why a webhook is not to be trusted: answer with 401.
var ErrNotGenuine = errors.New("causeway: the webhook is not genuine")

// Event is a webhook that is genuine. Decode it into the body of its type, such as api.OutgoingPaymentWebhook.
type Event struct {
	WebhookID string // the same for every attempt to deliver it: ignore one that you have processed
	Type      string // such as OUTGOING_PAYMENT
	Event     string // such as OUTGOING_PAYMENT.COMPLETED
	Timestamp time.Time

	body []byte
}

// Decode decodes the body.
func (e *Event) Decode(into any) error { return json.Unmarshal(e.body, into) }

// Verifier verifies webhooks. Its methods may be called concurrently.
type Verifier struct {
	// Tolerance is how far webhook-timestamp may be from now. An older webhook may be a copy that somebody else sends. Zero means
	// five minutes.
	Tolerance time.Duration
	// Now is the clock. Nil means time.Now.
	Now func() time.Time

	secrets [][]byte
	read    func(context.Context) ([]api.WebhookKey, error)

	mu     sync.Mutex
	keys   publicKeys
	readAt time.Time
}

type publicKeys struct {
	ecdsa   []*ecdsa.PublicKey
	ed25519 []ed25519.PublicKey
}

// keysMaxAge is the time in which keys are read again at most once for signatures that fit none: others can send those at will.
const keysMaxAge = time.Minute

// NewVerifier returns a verifier of the signatures v1, by your secrets: one of POST /webhook-secrets, or two during a rotation.
func NewVerifier(secrets ...string) (*Verifier, error) {
	v := new(Verifier)
	for _, text := range secrets {
		secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "whsec_"))
		if err != nil || len(secret) == 0 {
			return nil, errors.New("causeway: a webhook secret must be whsec_ and base64")
		}
		v.secrets = append(v.secrets, secret)
	}
	if len(v.secrets) == 0 {
		return nil, errors.New("causeway: a verifier needs a webhook secret")
	}
	return v, nil
}

// NewKeyVerifier returns a verifier of the signatures by the keys that the service publishes: v1a, or else that in
// Service-Webhook-Signature. The latter does not cover the timestamp, so that only WebhookID shows a copy. It reads the keys
// when it has none that fits.
func (c *Client) NewKeyVerifier() *Verifier {
	return &Verifier{read: func(ctx context.Context) ([]api.WebhookKey, error) {
		response, err := c.ListWebhookKeysWithResponse(ctx)
		if err != nil {
			return nil, err
		}
		return response.JSON200.Data, nil
	}}
}

// Verify returns the event of a webhook. body is exactly what was received: parsing and writing it again changes it. An error
// is ErrNotGenuine, unless the keys cannot be read.
func (v *Verifier) Verify(ctx context.Context, header http.Header, body []byte) (*Event, error) {
	now := time.Now()
	if v.Now != nil {
		now = v.Now()
	}
	id, timestamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	signed := append([]byte(id+"."+timestamp+"."), body...)
	v1, v1a := standardSignatures(header.Get("Webhook-Signature"))
	if v.read == nil {
		if !v.verifyHMAC(signed, v1) {
			return nil, notGenuine("no signature v1 in webhook-signature is by one of your secrets")
		}
	} else if err := v.verifyWithKeys(ctx, now, body, signed, v1a, header.Get("Service-Webhook-Signature")); err != nil {
		return nil, err
	}
	event := &Event{body: body}
	if err := json.Unmarshal(body, event); err != nil {
		return nil, notGenuine(err.Error())
	}
	if v.read != nil && len(v1a) == 0 { // the signature is over the body alone
		return event, nil
	}
	tolerance := v.Tolerance
	if tolerance == 0 {
		tolerance = 5 * time.Minute
	}
	if seconds, err := strconv.ParseInt(timestamp, 10, 64); err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return nil, notGenuine(fmt.Sprintf("webhook-timestamp %.40q is not the current time", timestamp))
	}
	if event.WebhookID != id {
		return nil, notGenuine("webhook-id is not the webhookId of the body")
	}
	return event, nil
}

func notGenuine(reason string) error { return fmt.Errorf("%w: %s", ErrNotGenuine, reason) }

func (v *Verifier) verifyHMAC(signed []byte, signatures [][]byte) bool {
	for _, signature := range signatures {
		for _, secret := range v.secrets {
			mac := hmac.New(sha256.New, secret)
			mac.Write(signed)
			if hmac.Equal(mac.Sum(nil), signature) {
				return true
			}
		}
	}
	return false
}

func (v *Verifier) verifyWithKeys(ctx context.Context, now time.Time, body, signed []byte, v1a [][]byte, service string) error {
	for _, again := range []bool{false, true} {
		keys, err := v.publicKeys(ctx, now, again)
		if err != nil {
			return err
		}
		if len(v1a) > 0 && keys.verifyEd25519(signed, v1a) || len(v1a) == 0 && keys.verifyECDSA(body, service) {
			return nil
		}
	}
	return notGenuine("no signature is by one of the published keys")
}

// publicKeys returns the keys. It reads them if it has none, or again for a signature that fits none.
func (v *Verifier) publicKeys(ctx context.Context, now time.Time, again bool) (publicKeys, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.readAt.IsZero() && (!again || now.Sub(v.readAt) < keysMaxAge) {
		return v.keys, nil
	}
	published, err := v.read(ctx)
	if err != nil {
		return publicKeys{}, err
	}
	var keys publicKeys
	for _, key := range published {
		block, _ := pem.Decode([]byte(key.PublicKey))
		if block == nil {
			return publicKeys{}, fmt.Errorf("causeway: the webhook key %s is not PEM", key.ID)
		}
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return publicKeys{}, fmt.Errorf("causeway: the webhook key %s: %w", key.ID, err)
		}
		switch public := public.(type) { // later versions may publish others
		case *ecdsa.PublicKey:
			keys.ecdsa = append(keys.ecdsa, public)
		case ed25519.PublicKey:
			keys.ed25519 = append(keys.ed25519, public)
		}
	}
	v.keys, v.readAt = keys, now
	return keys, nil
}

func (k publicKeys) verifyEd25519(signed []byte, signatures [][]byte) bool {
	for _, signature := range signatures {
		for _, key := range k.ed25519 {
			if ed25519.Verify(key, signed, signature) {
				return true
			}
		}
	}
	return false
}

// verifyECDSA verifies the signature of a header {"v":"1","s":"<base64>"}.
func (k publicKeys) verifyECDSA(body []byte, header string) bool {
	var signature struct {
		V string
		S []byte
	}
	if json.Unmarshal([]byte(header), &signature) != nil || signature.V != "1" {
		return false
	}
	digest := sha256.Sum256(body)
	for _, key := range k.ecdsa {
		if ecdsa.VerifyASN1(key, digest[:], signature.S) {
			return true
		}
	}
	return false
}

// standardSignatures returns the signatures of webhook-signature.
func standardSignatures(header string) (v1, v1a [][]byte) {
	for _, one := range strings.Fields(header) {
		version, text, _ := strings.Cut(one, ",")
		signature, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			continue
		}
		switch version {
		case "v1":
			v1 = append(v1, signature)
		case "v1a":
			v1a = append(v1a, signature)
		}
	}
	return v1, v1a
}
