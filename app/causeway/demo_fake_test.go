package main

import (
	"bytes"
	"context"
	"crypto"
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
	"strconv"
	"sync"
	"testing"
	"time"

	"causeway/adapters/cli"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// fakeService responds as the service does, for one demo, and sends its webhooks.
type fakeService struct {
	*httptest.Server
	t          testing.TB
	key        *ecdsa.PrivateKey
	ed25519Key ed25519.PrivateKey

	// What is to fail.
	refusePath  string // the path of a request that is responded to with 403
	forgeEvent  string // the event that is signed with another key
	noWebhooks  bool   // no webhook is sent
	lostEvent   string // the event that is not sent
	failPayment bool   // the payment fails

	deliveries       sync.WaitGroup // of webhooks
	delivering       sync.Mutex     // one at a time, so that their responses are in order
	mu               sync.Mutex
	endpoint         string
	endpoints        []string // all that were set
	idempotencyKeys  map[string]bool
	responseStatuses []int // of the receiver, in order
}

const (
	fakePlatform    = "PlatformConfig:0199f0a2-0000-7000-8000-000000000001"
	fakeCustomer    = "Customer:0199f0a2-0000-7000-8000-000000000002"
	fakeAccount     = "ExternalAccount:0199f0a2-0000-7000-8000-000000000003"
	fakeQuote       = "Quote:0199f0a2-0000-7000-8000-000000000004"
	fakeTransaction = "Transaction:0199f0a2-0000-7000-8000-000000000005"
	fakeSecret      = "not-a-secret"
)

func newFakeService(t testing.TB) *fakeService {
	t.Helper()
	f := &fakeService{t: t, key: newTestKey(t), ed25519Key: newEd25519Key(t), idempotencyKeys: map[string]bool{},
		endpoint: "https://platform.example/webhooks"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v/config", f.config)
	mux.HandleFunc("PATCH /v/config", f.config)
	mux.HandleFunc("GET /v/webhook-keys", f.webhookKeys)
	mux.HandleFunc("POST /v/customers", f.createCustomer)
	mux.HandleFunc("POST /v/customers/external-accounts", f.registerWallet)
	mux.HandleFunc("GET /v/exchange-rates", f.rates)
	mux.HandleFunc("POST /v/quotes", f.createQuote)
	mux.HandleFunc("POST /v/sandbox/send", f.send)
	mux.HandleFunc("GET /v/transactions/{id}", f.transaction)
	f.Server = httptest.NewServer(f.requireAuth(mux))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeService) credentials() cli.Credentials {
	return cli.Credentials{PlatformID: fakePlatform, ClientID: "client", ClientSecret: fakeSecret, BaseURL: f.URL + "/v"}
}

// requireAuth requires the credentials, and a new idempotency key with every POST.
func (f *fakeService) requireAuth(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); id != "client" || secret != fakeSecret {
			f.writeJSON(w, 401, `{"status":401,"code":"UNAUTHORIZED","message":"Unknown client id or wrong secret."}`)
			return
		}
		f.mu.Lock()
		key := r.Header.Get("Idempotency-Key")
		reused := r.Method == http.MethodPost && (key == "" || f.idempotencyKeys[key])
		f.idempotencyKeys[key] = true
		f.mu.Unlock()
		switch {
		case reused:
			f.t.Errorf("%s %s without an idempotency key of its own", r.Method, r.URL.Path)
		case r.URL.Path == "/v"+f.refusePath:
			f.writeJSON(w, 403, `{"status":403,"code":"FORBIDDEN","message":"This token may not do that."}`)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (f *fakeService) writeJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (f *fakeService) config(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.Method == http.MethodPatch {
		var change struct{ WebhookEndpoint string }
		f.decode(r, &change)
		f.endpoint = change.WebhookEndpoint
		f.endpoints = append(f.endpoints, f.endpoint)
		if len(f.endpoints) == 1 {
			f.deliveries.Go(func() {
				f.deliver(
					"TEST", `{"webhookId":"Webhook:0199f0a2-0000-7000-8000-0000000000a0","type":"TEST","event":"TEST","timestamp":"2026-03-02T12:00:00Z"}`)
			})
		}
	}
	f.writeJSON(w, 200, fmt.Sprintf(`{"id":%q,"umaDomain":"uma.sandbox.test","webhookEndpoint":%q}`, fakePlatform, f.endpoint))
}

func (f *fakeService) webhookKeys(w http.ResponseWriter, _ *http.Request) {
	f.writeJSON(w, 200, fmt.Sprintf(`{"data":[
		{"id":"0199f0a2-0000-7000-8000-0000000000b1","algorithm":"ED25519","publicKey":%q},
		{"id":"0199f0a2-0000-7000-8000-0000000000b2","algorithm":"ECDSA_P256_SHA256","publicKey":%q}]}`, publicPEM(f.t, f.ed25519Key.Public()),
		publicPEM(f.t, &f.key.PublicKey)))
}

func (f *fakeService) createCustomer(w http.ResponseWriter, r *http.Request) {
	var request struct {
		CustomerType string
		Address      struct{ Line1, City, State, PostalCode, Country string }
	}
	f.decode(r, &request)
	if a := request.Address; request.CustomerType != "INDIVIDUAL" || a.Line1 == "" || a.City == "" || a.State == "" ||
		a.PostalCode == "" || a.Country == "" {
		f.t.Errorf("a customer that would be refused: %+v", request)
	}
	f.writeJSON(
		w, 201, fmt.Sprintf(`{"id":%q,"kycStatus":"APPROVED","umaAddress":"$0199f0a2@uma.sandbox.test","createdAt":"2026-03-02T12:00:01Z"}`,
			fakeCustomer))
}

func (f *fakeService) registerWallet(w http.ResponseWriter, r *http.Request) {
	var request struct {
		CustomerID, Currency string
		AccountInfo          struct{ AccountType, Address string }
	}
	f.decode(r, &request)
	if request.CustomerID != fakeCustomer || request.Currency != "BTC" || request.AccountInfo.AccountType != "LAYER2_WALLET" ||
		request.AccountInfo.Address == "" {
		f.t.Errorf("an account that would be refused: %+v", request)
	}
	f.writeJSON(w, 201, fmt.Sprintf(`{"id":%q,"status":"ACTIVE","currency":"BTC","accountInfo":{"accountType":"LAYER2_WALLET"}}`, fakeAccount))
}

func (f *fakeService) rates(w http.ResponseWriter, _ *http.Request) {
	f.writeJSON(w, 200, `{"data":[{"sourceCurrency":{"code":"USD"},"sendingAmount":10050,"destinationCurrency":{"code":"BTC"},
		"destinationPaymentRail":"LAYER2","receivingAmount":100000,"exchangeRate":10.00000000001,"fees":{"fixed":50,"total":50},"updatedAt":"2026-03-02T12:00:00Z"}]}`)
}

// createQuote sends the webhook before it responds, as can happen.
func (f *fakeService) createQuote(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Source               struct{ CustomerID, Currency string }
		Destination          struct{ AccountID string }
		LockedCurrencySide   string
		LockedCurrencyAmount int64
	}
	f.decode(r, &request)
	if request.Source.CustomerID != fakeCustomer || request.Destination.AccountID != fakeAccount || request.LockedCurrencySide != "SENDING" {
		f.t.Errorf("a quote for something else: %+v", request)
	}
	f.deliverPayment("PENDING", fakeCustomer)
	f.writeJSON(w, 201, fmt.Sprintf(`{"id":%q,"quoteId":%q,"status":"PENDING","expiresAt":"2026-03-02T12:05:02Z","exchangeRate":10.00000000001,
		"sendingCurrency":{"code":"USD"},"receivingCurrency":{"code":"BTC"},"totalSendingAmount":%d,"feesIncluded":50,"totalReceivingAmount":100000,
		"transactionId":%q,"paymentInstructions":[{"accountOrWalletInfo":{"accountType":"US_ACCOUNT","accountNumber":"4210000017","routingNumber":"021000021","reference":"4T9K2M7PXQ3A"}}]}`,
		fakeQuote, fakeQuote, request.LockedCurrencyAmount, fakeTransaction))
}

// send also sends a webhook of another customer's payment.
func (f *fakeService) send(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Reference, CurrencyCode string
		CurrencyAmount          int64
	}
	f.decode(r, &request)
	if request.Reference != "4T9K2M7PXQ3A" || request.CurrencyCode != "USD" || request.CurrencyAmount != 10050 {
		f.t.Errorf("paid wrongly: %+v", request)
	}
	f.writeJSON(w, 200, fmt.Sprintf(`{"id":%q,"status":"PROCESSING","type":"OUTGOING","quoteId":%q}`, fakeTransaction, fakeQuote))
	f.deliveries.Go(func() {
		f.deliverPayment("PROCESSING", fakeCustomer)
		f.deliverPayment("PROCESSING", "Customer:0199f0a2-0000-7000-8000-0000000000ff")
		f.deliverPayment("PROCESSING", fakeCustomer) // once more, as may happen
		if f.failPayment {
			f.deliverPayment("FAILED", fakeCustomer)
			return
		}
		f.deliverPayment("COMPLETED", fakeCustomer)
	})
}

func (f *fakeService) transaction(w http.ResponseWriter, r *http.Request) {
	f.writeJSON(w, 200, fmt.Sprintf(`{"id":%q,"status":"COMPLETED","sentAmount":{"amount":10050,"currency":{"code":"USD"}},"fees":50,
		"receivedAmount":{"amount":100000,"currency":{"code":"BTC"}},"exchangeRate":10.00000000001,"settledAt":"2026-03-02T12:00:03Z"}`,
		r.PathValue("id")))
}

func (f *fakeService) decode(r *http.Request, into any) {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		f.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
}

func (f *fakeService) deliverPayment(status, customer string) {
	settled := "null"
	if status == "COMPLETED" {
		settled = `"2026-03-02T12:00:03Z"`
	}
	f.deliver("OUTGOING_PAYMENT."+status, fmt.Sprintf(`{"webhookId":"Webhook:%s-%s","type":"OUTGOING_PAYMENT","event":"OUTGOING_PAYMENT.%s",
		"timestamp":"2026-03-02T12:00:02Z","transaction":{"id":%q,"customerId":%q,"status":%q,"settledAt":%s}}`,
		status, customer[len(customer)-2:], status, fakeTransaction, customer, status, settled))
}

func (f *fakeService) deliver(event, body string) {
	f.delivering.Lock()
	defer f.delivering.Unlock()
	if f.noWebhooks || event == f.lostEvent {
		return
	}
	key := f.key
	if event == f.forgeEvent {
		key = newTestKey(f.t)
	}
	digest := sha256.Sum256([]byte(body))
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		f.t.Error(err)
		return
	}
	f.mu.Lock()
	endpoint := f.endpoint
	f.mu.Unlock()
	request, err := http.NewRequest(http.MethodPost, endpoint, bytes.NewReader([]byte(body)))
	if err != nil {
		f.t.Error(err)
		return
	}
	var envelope struct{ WebhookID string }
	if err := json.Unmarshal([]byte(body), &envelope); err != nil {
		f.t.Error(err)
		return
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	edSignature := ed25519.Sign(f.ed25519Key, []byte(envelope.WebhookID+"."+timestamp+"."+body))
	request.Header.Set("Webhook-Id", envelope.WebhookID)
	request.Header.Set("Webhook-Timestamp", timestamp)
	request.Header.Set("Webhook-Signature", "v1a,"+base64.StdEncoding.EncodeToString(edSignature))
	request.Header.Set("Service-Webhook-Signature", `{"v":"1","s":"`+base64.StdEncoding.EncodeToString(signature)+`"}`)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return // the demo has ended
	}
	defer response.Body.Close()
	f.mu.Lock()
	f.responseStatuses = append(f.responseStatuses, response.StatusCode)
	f.mu.Unlock()
}

func newTestKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newEd25519Key(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func publicPEM(t testing.TB, key crypto.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Error(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// fakeLedgerReader contains the entries of one payment, and a balance from before.
type fakeLedgerReader struct {
	ports.LedgerReader
	entries []ports.RecordedEntry
}

func (b fakeLedgerReader) Entries(_ context.Context, f ports.EntryFilter) (ports.EntryPage, error) {
	if f.Platform.String() != fakePlatform || f.Transaction.String() != fakeTransaction {
		return ports.EntryPage{}, nil
	}
	return ports.EntryPage{Entries: b.entries}, nil
}

func (b fakeLedgerReader) Balances(_ context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error) {
	balances := ledger.Balances{}
	for _, e := range b.entries {
		p := ledger.Posting{ID: e.Posting, Platform: accounts[0].Platform, Kind: e.Kind, Effective: e.Effective, Entries: []ledger.Entry{e.Entry}}
		if err := balances.Apply(p); err != nil {
			return nil, err
		}
	}
	found := map[ledger.Account]int64{}
	for _, a := range accounts {
		found[a] = balances[a]
		if a.Path == ledger.Rail("RTP") {
			found[a] += 500_000 // from earlier payments
		}
	}
	return found, nil
}

// newRampLedger returns the entries of a payment of 100.50 USD with a fee of 0.50 to 0.00100000 BTC.
func newRampLedger(t testing.TB) fakeLedgerReader {
	t.Helper()
	platform, err := ident.ParsePlatform(fakePlatform)
	if err != nil {
		t.Fatal(err)
	}
	header := func(n byte) ledger.Header {
		return ledger.Header{ID: [16]byte{15: n}, Platform: platform, Effective: noon}
	}
	var reader fakeLedgerReader
	for _, p := range []ledger.Posting{
		ledger.JITReceived(header(1), ledger.Rail("RTP"), money.Amount{Minor: 10050, Currency: money.USD}),
		ledger.Converted(header(2), ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts,
			Sent: money.Amount{Minor: 10050, Currency: money.USD}, Fees: 50, Received: money.Amount{Minor: 100_000, Currency: money.BTC}}),
		ledger.Delivered(header(3), ledger.Chain("LAYER2"), money.Amount{Minor: 100_000, Currency: money.BTC}),
	} {
		for _, e := range p.Entries {
			reader.entries = append(reader.entries, ports.RecordedEntry{Entry: e, Posting: p.ID, Kind: p.Kind, Effective: noon})
		}
	}
	return reader
}
