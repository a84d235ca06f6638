package apiclient

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// signer signs webhooks as the service does, and publishes its keys.
type signer struct {
	t       testing.TB
	ecdsa   *ecdsa.PrivateKey
	ed25519 ed25519.PrivateKey
	secret  []byte
}

func newSigner(t testing.TB) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	return &signer{t, key, edwards, secret}
}

func (s *signer) sign(id string, at time.Time, body string) http.Header {
	s.t.Helper()
	digest := sha256.Sum256([]byte(body))
	der, err := ecdsa.SignASN1(rand.Reader, s.ecdsa, digest[:])
	if err != nil {
		s.t.Fatal(err)
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signature := ed25519.Sign(s.ed25519, []byte(id+"."+timestamp+"."+body))
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte(id + "." + timestamp + "." + body))
	header := http.Header{}
	header.Set("Service-Webhook-Signature", `{"v":"1","s":"`+base64.StdEncoding.EncodeToString(der)+`"}`)
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", timestamp)
	header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))+" v1a,"+base64.StdEncoding.EncodeToString(signature))
	return header
}

func (s *signer) publishedKeys() string {
	var list []map[string]string
	for _, key := range []any{s.ecdsa.Public(), s.ed25519.Public()} {
		der, err := x509.MarshalPKIXPublicKey(key)
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, map[string]string{"publicKey": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))})
	}
	text, err := json.Marshal(map[string]any{"data": list})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// newVerifier returns a verifier of a service that publishes the keys of the signer that
// current points to, and counts how often they are fetched.
func newVerifier(t testing.TB, current *atomic.Pointer[signer]) (*Verifier, *atomic.Int64) {
	fetches := new(atomic.Int64)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetches.Add(1)
		_, _ = w.Write([]byte(current.Load().publishedKeys()))
	}))
	t.Cleanup(service.Close)
	return NewVerifier(&Client{BaseURL: service.URL}), fetches
}

const webhookBody = `{"webhookId":"Webhook:1","event":"TEST"}`

func TestVerifier_ChangedDeliveryIsRejected(t *testing.T) {
	t.Parallel()
	// A delivery is valid if all of its signatures are, nothing signed was changed, and, once there
	// is a secret, it has a signature by that.
	var current atomic.Pointer[signer]
	current.Store(newSigner(t))
	v, fetches := newVerifier(t, &current)
	now := time.Now()
	good := current.Load().sign("Webhook:1", now, webhookBody)

	for range 2 {
		if err := v.Verify(t.Context(), good, []byte(webhookBody), now); err != nil {
			t.Error(err)
		}
	}
	if err := v.AddSecret("whsec_" + base64.StdEncoding.EncodeToString(current.Load().secret)); err != nil {
		t.Fatal(err)
	}
	if err := v.Verify(t.Context(), good, []byte(webhookBody), now); err != nil {
		t.Error(err)
	}
	if fetches.Load() != 1 {
		t.Errorf("the keys were fetched %d times for valid deliveries", fetches.Load())
	}

	changed := func(name string, change func(string) string) http.Header {
		header := good.Clone()
		header.Set(name, change(header.Get(name)))
		return header
	}
	replace := func(old, by string) func(string) string {
		return func(value string) string { return strings.Replace(value, old, by, 1) }
	}
	for name, c := range map[string]struct {
		header http.Header
		body   string
	}{
		"body changed":      {good, strings.Replace(webhookBody, "TEST", "TESt", 1)},
		"no signature":      {http.Header{}, webhookBody},
		"id changed":        {changed("Webhook-Id", replace("1", "2")), webhookBody},
		"time changed":      {changed("Webhook-Timestamp", func(string) string { return strconv.FormatInt(now.Unix()+1, 10) }), webhookBody},
		"version changed":   {changed("Service-Webhook-Signature", replace(`"v":"1"`, `"v":"2"`)), webhookBody},
		"algorithm changed": {changed("Webhook-Signature", replace("v1,", "v1a,")), webhookBody},
		"HMAC missing": {changed("Webhook-Signature", func(value string) string { return value[strings.Index(value, "v1a"):] }),
			webhookBody},
		"HMAC changed":      {changed("Webhook-Signature", replace("v1,", "v1,AAAA")), webhookBody},
		"Ed25519 changed":   {changed("Webhook-Signature", replace("v1a,", "v1a,AAAA")), webhookBody},
		"too old":           {current.Load().sign("Webhook:1", now.Add(-time.Hour), webhookBody), webhookBody},
		"signed by another": {newSigner(t).sign("Webhook:1", now, webhookBody), webhookBody},
	} {
		if v.Verify(t.Context(), c.header, []byte(c.body), now) == nil {
			t.Errorf("%s: verified", name)
		}
	}
}

func TestVerifier_EachSignatureSuffices(t *testing.T) {
	t.Parallel()
	// A delivery may have one signature only, but not none; a signature by an unknown secret does
	// not count.
	var current atomic.Pointer[signer]
	current.Store(newSigner(t))
	now := time.Now()
	all := current.Load().sign("Webhook:1", now, webhookBody)
	hmacSignature, ed25519Signature, _ := strings.Cut(all.Get("Webhook-Signature"), " ")
	for name, c := range map[string]struct {
		ecdsa, standard string
		secret          bool
		want            bool
	}{
		"ECDSA":                       {all.Get("Service-Webhook-Signature"), "", false, true},
		"Ed25519":                     {"", ed25519Signature, false, true},
		"HMAC":                        {"", hmacSignature, true, true},
		"HMAC by an unknown secret":   {"", hmacSignature, false, false},
		"none":                        {"", "", false, false},
		"ECDSA only, with the secret": {all.Get("Service-Webhook-Signature"), "", true, false},
	} {
		v, _ := newVerifier(t, &current)
		if c.secret {
			if err := v.AddSecret("whsec_" + base64.StdEncoding.EncodeToString(current.Load().secret)); err != nil {
				t.Fatal(err)
			}
		}
		header := all.Clone()
		header.Set("Service-Webhook-Signature", c.ecdsa)
		header.Set("Webhook-Signature", c.standard)

		if err := v.Verify(t.Context(), header, []byte(webhookBody), now); (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	v, _ := newVerifier(t, &current)
	for _, text := range []string{"", "whsec_", "whsec_?"} {
		if v.AddSecret(text) == nil {
			t.Errorf("the secret %q is accepted", text)
		}
	}
}

func TestVerifier_NewKeyIsFetched(t *testing.T) {
	t.Parallel()
	// After a change of keys, the first delivery makes the verifier fetch the new ones.
	var current atomic.Pointer[signer]
	current.Store(newSigner(t))
	v, _ := newVerifier(t, &current)
	now := time.Now()
	if err := v.Verify(t.Context(), current.Load().sign("Webhook:1", now, webhookBody), []byte(webhookBody), now); err != nil {
		t.Fatal(err)
	}

	current.Store(newSigner(t))

	if err := v.Verify(t.Context(), current.Load().sign("Webhook:1", now, webhookBody), []byte(webhookBody), now); err != nil {
		t.Error(err)
	}
}

func TestReceiver_WrongSignatureIsUnauthorized(t *testing.T) {
	t.Parallel()
	// The handler sees every delivery and what is wrong with it; a wrong signature is
	// responded to with 401.
	var current atomic.Pointer[signer]
	current.Store(newSigner(t))
	v, _ := newVerifier(t, &current)
	received := make(chan Delivery, 2)
	r, err := Listen("/hooks", v, func(d Delivery) (int, string) { received <- d; return http.StatusAccepted, "ok" })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()

	for _, c := range []struct {
		signer *signer
		status int
	}{{current.Load(), http.StatusAccepted}, {newSigner(t), http.StatusUnauthorized}} {
		client := &Client{BaseURL: r.URL, Header: c.signer.sign("Webhook:1", time.Now(), webhookBody)}
		response, err := client.Do(t.Context(), Request{Method: http.MethodPost, Body: webhookBody})
		if err != nil {
			t.Fatal(err)
		}
		d := <-received
		if response.Status != c.status || (d.Err == nil) != (c.status == http.StatusAccepted) || string(d.Body) != webhookBody {
			t.Errorf("status %d, want %d: %v, %s", response.Status, c.status, d.Err, d.Body)
		}
	}
}
