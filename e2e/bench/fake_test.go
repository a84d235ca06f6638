package main

import (
	"context"
	"encoding/json"
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

// fakeService is the part of the service that the load generator uses.
type fakeService struct {
	*httptest.Server
	finalEvent            string // event at the end of a payment
	failPath              string // a path that is responded to with 500
	onPayment             func() // called on a payment; may be nil
	mu                    sync.Mutex
	endpoint              string
	quotes                map[string]string // reference to transaction
	idempotencyKeys       map[string]bool   // received
	payers                map[string]string // transaction to the account that pays
	accounts              []internalAccount // the oldest first
	deliverBeforeResponse bool              // deliver the end of a transfer before the response
	sending               sync.WaitGroup
	counts                struct{ quotes, payments, customers, accounts, executed, out, in atomic.Int64 }
}

func newFakeService(t *testing.T) *fakeService {
	t.Helper()
	f := &fakeService{finalEvent: "OUTGOING_PAYMENT.COMPLETED", quotes: map[string]string{}, payers: map[string]string{}, idempotencyKeys: map[string]bool{}}
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
	response, status := "", http.StatusOK
	if f.serveAccounts(w, r, body) {
		return
	}
	switch r.Method + " " + strings.TrimPrefix(r.URL.Path, basePath) {
	case "PATCH /config":
		var in struct{ WebhookEndpoint string }
		err = json.Unmarshal(body, &in)
		f.endpoint = in.WebhookEndpoint
		response = `{}`
	case "POST /customers":
		f.counts.customers.Add(1)
		owner := "Customer:" + uuid.NewString()
		f.accounts = append(f.accounts, internalAccount{ID: "InternalAccount:" + uuid.NewString(), CustomerID: owner})
		response, status = `{"id":"`+owner+`"}`, http.StatusCreated
	case "POST /customers/external-accounts":
		f.counts.accounts.Add(1)
		response, status = `{"id":"ExternalAccount:`+uuid.NewString()+`"}`, http.StatusCreated
	case "POST /quotes":
		f.counts.quotes.Add(1)
		reference, transaction := fmt.Sprintf("REF%09d", f.counts.quotes.Load()), uuid.NewString()
		var in struct{ Source struct{ AccountID string } }
		err = json.Unmarshal(body, &in)
		f.quotes[reference], f.payers[transaction] = transaction, in.Source.AccountID
		f.send("OUTGOING_PAYMENT.PENDING", transaction)
		response, status = `{"id":"Quote:`+transaction+`","paymentInstructions":[{"accountOrWalletInfo":{"reference":"`+reference+`"}}],"transactionId":"Transaction:`+transaction+`"}`, http.StatusCreated
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
		response = `{"id":"Transaction:` + transaction + `"}`
	default:
		status = http.StatusNotFound
	}
	if err != nil {
		status = http.StatusBadRequest
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, response)
}

// send delivers an event, as the service does. The caller holds the lock.
func (f *fakeService) send(event, transaction string) {
	endpoint := f.endpoint
	if endpoint == "" {
		return
	}
	f.sending.Go(func() {
		body := fmt.Sprintf(`{"webhookId":"Webhook:1","type":"OUTGOING_PAYMENT","event":%q,"timestamp":"2026-01-02T03:04:05Z","transaction":{"id":"Transaction:%s"}}`, event, transaction)
		request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, endpoint, strings.NewReader(body))
		if err != nil {
			return
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
		}
	})
}
