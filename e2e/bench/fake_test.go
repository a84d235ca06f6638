package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
)

// fakeService is the service, as far as the generator sees it.
type fakeService struct {
	*httptest.Server
	finalEvent            string // the event that ends a payment
	failPath              string // a path that is answered 500
	onPayment             func() // called when a payment came, if it is there
	mu                    sync.Mutex
	endpoint              string
	quotes                map[string]string // reference to transaction
	idempotencyKeys       map[string]bool   // idempotency keys that came
	payers                map[string]string // transaction to the account that pays
	accounts              []internalAccount // accounts, the oldest first
	deliverBeforeResponse bool              // deliver what ends a transfer before it is answered
	sending               sync.WaitGroup
	counts                struct{ quotes, payments, customers, accounts, executed, out, in atomic.Int64 }
	ecdsaKey              *ecdsa.PrivateKey
	ed25519Key            ed25519.PrivateKey
}

func newFakeService(t *testing.T) *fakeService {
	t.Helper()
	f := &fakeService{finalEvent: "OUTGOING_PAYMENT.COMPLETED", quotes: map[string]string{}, payers: map[string]string{}, idempotencyKeys: map[string]bool{}}
	var err error
	if f.ecdsaKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if _, f.ed25519Key, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() { f.sending.Wait(); f.Close() })
	return f
}

func (f *fakeService) target() target { return newTarget(f.Listener.Addr().String(), "id", "secret") }

func (f *fakeService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	body, err := io.ReadAll(r.Body)
	if err != nil || id != "id" || secret != "secret" || r.URL.Path == basePath+f.failPath {
		http.Error(w, `{"code":"INTERNAL_ERROR"}`, http.StatusInternalServerError)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		f.idempotencyKeys[key] = true
	}
	answer, status := "", http.StatusOK
	if f.serveAccounts(w, r, body) {
		return
	}
	switch r.Method + " " + strings.TrimPrefix(r.URL.Path, basePath) {
	case "PATCH /config":
		var in struct{ WebhookEndpoint string }
		err = json.Unmarshal(body, &in)
		f.endpoint = in.WebhookEndpoint
		answer = `{}`
	case "POST /customers":
		f.counts.customers.Add(1)
		owner := "Customer:" + uuid.NewString()
		f.accounts = append(f.accounts, internalAccount{ID: "InternalAccount:" + uuid.NewString(), CustomerID: owner})
		answer, status = `{"id":"`+owner+`"}`, http.StatusCreated
	case "POST /customers/external-accounts":
		f.counts.accounts.Add(1)
		answer, status = `{"id":"ExternalAccount:`+uuid.NewString()+`"}`, http.StatusCreated
	case "POST /quotes":
		f.counts.quotes.Add(1)
		reference, transaction := fmt.Sprintf("REF%09d", f.counts.quotes.Load()), uuid.NewString()
		var in struct{ Source struct{ AccountID string } }
		err = json.Unmarshal(body, &in)
		f.quotes[reference], f.payers[transaction] = transaction, in.Source.AccountID
		f.send("OUTGOING_PAYMENT.PENDING", transaction)
		answer, status = `{"id":"Quote:`+transaction+`","paymentInstructions":[{"accountOrWalletInfo":{"reference":"`+reference+`"}}],"transactionId":"Transaction:`+transaction+`"}`, http.StatusCreated
	case "POST /sandbox/send":
		f.counts.payments.Add(1)
		var in struct {
			Reference, CurrencyCode string
			CurrencyAmount          int
		}
		err = json.Unmarshal(body, &in)
		transaction, ok := f.quotes[in.Reference]
		if !ok || in.CurrencyCode != "USD" || in.CurrencyAmount != rampAmount {
			http.Error(w, `{"code":"REFERENCE_NOT_FOUND"}`, http.StatusNotFound)
			return
		}
		f.send("OUTGOING_PAYMENT.PROCESSING", transaction)
		f.send(f.finalEvent, transaction)
		if f.onPayment != nil {
			f.onPayment()
		}
		answer = `{"id":"Transaction:` + transaction + `"}`
	case "GET /webhook-keys":
		answer = f.publicKeys()
	default:
		status = http.StatusNotFound
	}
	if err != nil {
		status = http.StatusBadRequest
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// send delivers an event on its own, as the service does. The caller holds the lock.
func (f *fakeService) send(event, transaction string) {
	endpoint := f.endpoint
	if endpoint == "" {
		return
	}
	f.sending.Go(func() {
		d := f.sign(fmt.Appendf(nil, `{"webhookId":"Webhook:1","type":"OUTGOING_PAYMENT","event":%q,"timestamp":"2026-01-02T03:04:05Z","transaction":{"id":"Transaction:%s"}}`, event, transaction))
		request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, endpoint, bytes.NewReader(d.body))
		if err != nil {
			return
		}
		for line := range strings.SplitSeq(string(d.head), "\r\n") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				request.Header.Set(name, value)
			}
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			answer.Body.Close()
		}
	})
}

// sign makes a delivery of a body.
func (f *fakeService) sign(body []byte) delivery {
	sum := sha256.Sum256(body)
	signature, _ := ecdsa.SignASN1(rand.Reader, f.ecdsaKey, sum[:]) // does not fail with a good key
	const id, at = "Webhook:1", "1767323045"
	standard := ed25519.Sign(f.ed25519Key, []byte(id+"."+at+"."+string(body)))
	encode := base64.StdEncoding.EncodeToString
	return delivery{body: body, head: []byte("POST /webhooks HTTP/1.1\r\nService-Webhook-Signature: {\"v\":\"1\",\"s\":\"" + encode(signature) + "\"}\r\n" +
		"Webhook-Id: " + id + "\r\nWebhook-Timestamp: " + at + "\r\nWebhook-Signature: v1a," + encode(make([]byte, 64)) + " v1a," + encode(standard))}
}

func (f *fakeService) publicKeys() string {
	var list []map[string]string
	for _, key := range []any{f.ecdsaKey.Public(), f.ed25519Key.Public()} {
		der, _ := x509.MarshalPKIXPublicKey(key) // does not fail with a good key
		list = append(list, map[string]string{"publicKey": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), "algorithm": "any"})
	}
	text, _ := json.Marshal(map[string]any{"data": list})
	return string(text)
}
