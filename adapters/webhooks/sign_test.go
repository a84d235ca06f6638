package webhooks

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"causeway/core/platform"
	"causeway/ports"
)

func TestSign_VerifiesWithPublishedKeys(t *testing.T) {
	t.Parallel()
	// A delivery verifies with the published keys and the standard library, and does not if a byte
	// is changed.
	f := newFixture(t, Options{})
	server, requests := newReceiver(t, nil)
	d := f.delivery(server.URL)

	response := f.sender.Deliver(context.Background(), d)

	if response.Outcome != "ACCEPTED" {
		t.Fatalf("response %+v", response)
	}
	r := <-requests
	if string(r.body) != string(d.Body) || r.method != "POST" || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("received %+v", r)
	}
	keys, err := f.keyring.Keys(context.Background(), platform.Sandbox, f.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := verifySignatures(keys, r); err != nil {
		t.Error(err)
	}
	r.body[10] ^= 1
	if err := verifySignatures(keys, r); err == nil {
		t.Error("a changed body verifies")
	}
}

func TestSign_StandardWebhooksHeaders(t *testing.T) {
	t.Parallel()
	// The library of Standard Webhooks reads the headers: it finds a symmetric signature among
	// ours, over the same id, timestamp and body.
	f := newFixture(t, Options{})
	server, requests := newReceiver(t, nil)
	f.sender.Deliver(context.Background(), f.delivery(server.URL))
	r := <-requests
	verifier, err := standardwebhooks.NewWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(r.body, r.header); err == nil || !strings.Contains(err.Error(), standardwebhooks.ErrNoMatchingSignature.Error()) {
		t.Errorf("the verifier returned %v", err)
	}
	seconds, err := strconv.ParseInt(r.header.Get("webhook-timestamp"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	symmetric, err := verifier.Sign(r.header.Get("webhook-id"), time.Unix(seconds, 0), r.body)
	if err != nil {
		t.Fatal(err)
	}

	r.header.Set("webhook-signature", r.header.Get("webhook-signature")+" "+symmetric)

	if err := verifier.Verify(r.body, r.header); err != nil {
		t.Error(err)
	}
}

func TestSign_BodySignatureIsDeterministic(t *testing.T) {
	t.Parallel()
	// The signature of the body is the same for every attempt. The one over the timestamp changes
	// with it.
	f := newFixture(t, Options{})
	d := f.delivery("http://example.com")
	sign := func(at time.Time) signatureHeaders {
		s, err := f.keyring.sign(context.Background(), platform.Sandbox, d.ID.String(), at, d.Body)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, second := sign(d.At), sign(d.At.Add(time.Hour))
	if first.service != second.service || first.standard == second.standard || first.timestamp == second.timestamp {
		t.Errorf("first %+v, then %+v", first, second)
	}
}

// verifySignatures verifies a request as a receiver does, with the published keys.
func verifySignatures(keys []ports.WebhookKey, r receivedRequest) error {
	var header struct{ V, S string }
	if err := json.Unmarshal([]byte(r.header.Get("Service-Webhook-Signature")), &header); err != nil {
		return err
	}
	if header.V != "1" {
		return fmt.Errorf("Service-Webhook-Signature has version %q", header.V)
	}
	der, err := base64.StdEncoding.DecodeString(header.S)
	if err != nil {
		return err
	}
	id, timestamp := r.header.Get("webhook-id"), r.header.Get("webhook-timestamp")
	message := []byte(id + "." + timestamp + "." + string(r.body))
	digest := sha256.Sum256(r.body)
	var body, standard bool
	for _, k := range keys {
		block, _ := pem.Decode([]byte(k.PEM))
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return err
		}
		switch public := public.(type) {
		case *ecdsa.PublicKey:
			body = body || ecdsa.VerifyASN1(public, digest[:], der)
		case ed25519.PublicKey:
			raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(k.Standard, "whpk_"))
			if err != nil || !public.Equal(ed25519.PublicKey(raw)) || !strings.HasPrefix(k.Standard, "whpk_") {
				return fmt.Errorf("the two forms of a key differ: %s", k.Standard)
			}
			for value := range strings.SplitSeq(r.header.Get("webhook-signature"), " ") {
				signature, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(value, "v1a,"))
				if err != nil {
					return err
				}
				standard = standard || ed25519.Verify(public, message, signature)
			}
		}
	}
	if !body || !standard {
		return fmt.Errorf("body verifies: %v, id, time and body verify: %v", body, standard)
	}
	return nil
}

func BenchmarkSign(b *testing.B) {
	f := newFixture(b, Options{})
	body := make([]byte, 1400)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.keyring.sign(context.Background(), platform.Sandbox, "Webhook:1", f.clock.Now(), body); err != nil {
			b.Fatal(err)
		}
	}
}
