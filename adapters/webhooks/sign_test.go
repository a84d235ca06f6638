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
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"causeway/core/event"
	"causeway/core/ident"
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

func TestHeaders_AreThoseOfADelivery(t *testing.T) {
	t.Parallel()
	// What is made for a program that the service does not reach has the same headers as a delivery.
	f := newFixture(t, Options{})
	server, requests := newReceiver(t, nil)
	d := f.delivery(server.URL)
	f.newSecret(t, &d.Endpoint)
	d.Endpoint.Signatures = platform.WebhookSignatures{HMAC: true, ECDSA: true, Ed25519: true}

	header, err := f.keyring.Headers(context.Background(), d)

	f.sender.Deliver(context.Background(), d)
	r := <-requests
	if err != nil || len(header) != 5 {
		t.Fatalf("%v: %v", err, header)
	}
	for name, values := range header {
		if got := r.header.Values(name); !slices.Equal(got, values) {
			t.Errorf("%s: %v, a delivery has %v", name, values, got)
		}
	}
}

// newSecret stores a new current secret of the platform of f's deliveries, and returns its text and
// the version.
func (f *fixture) newSecret(t testing.TB, e *ports.Endpoint) string {
	t.Helper()
	id := ident.NewWebhookSecret(randomIDs{}.New, f.clock.Now())
	text, sealed, err := f.keyring.NewSecret(e.Platform, id)
	if err != nil {
		t.Fatal(err)
	}
	f.secrets.stored = append([]ports.SealedWebhookSecret{{WebhookSecret: platform.WebhookSecret{ID: id}, Sealed: sealed}},
		f.secrets.stored...)
	e.SecretsVersion++
	return text
}

// verifiesWith reports whether the library of Standard Webhooks verifies a request with a secret.
func verifiesWith(t testing.TB, secret string, r receivedRequest) bool {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return verifier.Verify(r.body, r.header) == nil
}

func TestSign_StandardWebhooksLibraryVerifies(t *testing.T) {
	t.Parallel()
	// The library of Standard Webhooks verifies a delivery with each valid secret, and with no other.
	// A changed secret is used from the first delivery after the change, without reading secrets
	// for each delivery.
	f := newFixture(t, Options{})
	server, requests := newReceiver(t, nil)
	endpoint := f.delivery(server.URL).Endpoint
	deliver := func() receivedRequest {
		t.Helper()
		d := f.delivery(server.URL)
		d.Endpoint = endpoint
		if response := f.sender.Deliver(t.Context(), d); response.Outcome != event.Accepted {
			t.Fatalf("response %+v", response)
		}
		return <-requests
	}
	if r := deliver(); strings.Contains(r.header.Get("webhook-signature"), "v1,") || f.secrets.reads != 0 {
		t.Errorf("without a secret: %v, %d reads", r.header, f.secrets.reads)
	}

	first := f.newSecret(t, &endpoint)
	if !strings.HasPrefix(first, "whsec_") || !verifiesWith(t, first, deliver()) || !verifiesWith(t, first, deliver()) ||
		f.secrets.reads != 1 {
		t.Errorf("the first secret does not verify, or was read %d times", f.secrets.reads)
	}
	f.secrets.stored[0].ValidUntil = f.clock.Now().Add(time.Hour)
	second := f.newSecret(t, &endpoint)
	if r := deliver(); !verifiesWith(t, first, r) || !verifiesWith(t, second, r) {
		t.Errorf("during the overlap: %v", r.header)
	}
	f.clock.advance(time.Hour)
	d := f.delivery(server.URL)
	d.At = time.Now() // the library compares the timestamp with the clock of the machine
	d.Endpoint = endpoint
	headers, err := f.keyring.sign(t.Context(), endpoint, "id", f.clock.Now(), d.Body)
	if err != nil || strings.Count(headers.standard, "v1,") != 1 {
		t.Errorf("after the overlap: %q, %v", headers.standard, err)
	}
	f.secrets.stored, endpoint.SecretsVersion = nil, endpoint.SecretsVersion+1
	f.sender.Deliver(t.Context(), ports.WebhookDelivery{Endpoint: endpoint, ID: d.ID, Body: d.Body, At: time.Now()})
	if r := <-requests; verifiesWith(t, first, r) || verifiesWith(t, second, r) {
		t.Errorf("a deleted secret verifies: %v", r.header)
	}
}

func TestSign_OnlyChosenSignatures(t *testing.T) {
	t.Parallel()
	// A delivery has the signatures that its platform chose, and the ECDSA signature if it would have
	// none.
	f := newFixture(t, Options{})
	endpoint := f.delivery("http://example.com").Endpoint
	withSecret := endpoint
	f.newSecret(t, &withSecret)
	for name, c := range map[string]struct {
		endpoint ports.Endpoint
		chosen   platform.WebhookSignatures
		want     string
	}{
		"all":                   {withSecret, platform.WebhookSignatures{ECDSA: true, HMAC: true, Ed25519: true}, "ecdsa v1 v1a"},
		"HMAC":                  {withSecret, platform.WebhookSignatures{HMAC: true}, "v1"},
		"ECDSA":                 {withSecret, platform.WebhookSignatures{ECDSA: true}, "ecdsa"},
		"Ed25519":               {withSecret, platform.WebhookSignatures{Ed25519: true}, "v1a"},
		"default":               {withSecret, platform.DefaultWebhookSignatures, "ecdsa v1"},
		"none":                  {withSecret, platform.WebhookSignatures{}, "ecdsa"},
		"HMAC without a secret": {endpoint, platform.WebhookSignatures{HMAC: true}, "ecdsa"},
	} {
		c.endpoint.Signatures = c.chosen

		headers, err := f.keyring.sign(t.Context(), c.endpoint, "id", f.clock.Now(), []byte("{}"))

		var got []string
		if headers.service != "" {
			got = append(got, "ecdsa")
		}
		for value := range strings.FieldsSeq(headers.standard) {
			version, _, _ := strings.Cut(value, ",")
			got = append(got, version)
		}
		if err != nil || strings.Join(got, " ") != c.want || headers.timestamp == "" {
			t.Errorf("%s: %v, %v; want %s", name, got, err, c.want)
		}
	}
}

func TestSign_UnreadableSecretsAreAnInternalError(t *testing.T) {
	t.Parallel()
	// If changed secrets cannot be read, nothing is sent, neither with the old secrets nor without.
	f := newFixture(t, Options{})
	server, requests := newReceiver(t, nil)
	d := f.delivery(server.URL)
	f.newSecret(t, &d.Endpoint)
	f.sender.Deliver(t.Context(), d)
	<-requests
	f.newSecret(t, &d.Endpoint)
	f.secrets.failing = true

	if response := f.sender.Deliver(t.Context(), d); response.Outcome != event.InternalError || len(requests) != 0 {
		t.Errorf("response %+v, %d requests", response, len(requests))
	}

	f.secrets.failing = false
	f.secrets.stored[0].Sealed = f.secrets.stored[1].Sealed // moved to another row
	if response := f.sender.Deliver(t.Context(), d); response.Outcome != event.InternalError {
		t.Errorf("a secret of another row: %+v", response)
	}
}

func TestSign_LostVersionOfSecretsIsReadAgain(t *testing.T) {
	t.Parallel()
	// A database that has lost a change of the secrets gives its version to another one. Once the database
	// has changed, deliveries are signed with the secrets that it has, and with its keys.
	f := newFixture(t, Options{})
	server, requests := newReceiver(t, nil)
	d := f.delivery(server.URL)
	lost := f.newSecret(t, &d.Endpoint)
	f.sender.Deliver(t.Context(), d)
	if r := <-requests; !verifiesWith(t, lost, r) {
		t.Fatal("the secret signs nothing")
	}
	f.secrets.stored = nil
	d.Endpoint.SecretsVersion--
	kept := f.newSecret(t, &d.Endpoint)

	f.keyring.Forget()

	if response := f.sender.Deliver(t.Context(), d); response.Outcome == event.InternalError {
		t.Fatalf("response %+v", response)
	}
	if r := <-requests; !verifiesWith(t, kept, r) || verifiesWith(t, lost, r) {
		t.Error("signed with a secret that the database has lost")
	}
}

func TestSign_BodySignatureIsDeterministic(t *testing.T) {
	t.Parallel()
	// The signature of the body is the same for every attempt. The one over the timestamp changes
	// with it.
	f := newFixture(t, Options{})
	d := f.delivery("http://example.com")
	sign := func(at time.Time) signatureHeaders {
		s, err := f.keyring.sign(context.Background(), d.Endpoint, d.ID.String(), at, d.Body)
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

func TestSign_BodyIsSignedOnceUntilAccepted(t *testing.T) {
	t.Parallel()
	// The signature of the body is made at the first attempt and used again for every retry, also
	// after the keys were read again, but not by another key. It is forgotten when the delivery is
	// accepted, and a bounded number is kept.
	f := newFixture(t, Options{})
	status := http.StatusInternalServerError
	server, requests := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	d := f.delivery(server.URL)
	attempt := func() string {
		t.Helper()
		f.sender.Deliver(t.Context(), d)
		return (<-requests).header.Get("Service-Webhook-Signature")
	}
	first := attempt()
	for of, value := range f.keyring.bodySignatures.values {
		if value != first {
			t.Errorf("kept %q, sent %q", value, first)
		}
		f.keyring.bodySignatures.values[of] = "kept"
	}
	f.clock.advance(2 * refreshInterval)
	if got := attempt(); got != "kept" {
		t.Errorf("the second attempt has %q", got)
	}
	if err := f.keyring.Rotate(t.Context(), platform.Sandbox, f.clock.Now(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := attempt(); got == "kept" || got == first {
		t.Errorf("after a rotation %q", got)
	}

	status = http.StatusOK
	attempt()
	if n := len(f.keyring.bodySignatures.values); n != 1 {
		t.Errorf("%d signatures are kept, want that of the old key", n)
	}
	for i := range 3 * maxBodySignatures {
		f.keyring.bodySignatures.put(bodySignature{digest: [32]byte{byte(i), byte(i >> 8)}}, "x")
	}
	if n := len(f.keyring.bodySignatures.values); n > maxBodySignatures {
		t.Errorf("%d signatures are kept", n)
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
	endpoint := f.delivery("http://example.com").Endpoint
	f.newSecret(b, &endpoint)
	for name, signatures := range map[string]platform.WebhookSignatures{
		"HMAC": {HMAC: true}, "default": platform.DefaultWebhookSignatures, "all": {ECDSA: true, HMAC: true, Ed25519: true},
	} {
		b.Run(name, func(b *testing.B) {
			endpoint.Signatures = signatures
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				body[n%len(body)]++ // every event has a body of its own
				if _, err := f.keyring.sign(context.Background(), endpoint, "Webhook:1", f.clock.Now(), body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
