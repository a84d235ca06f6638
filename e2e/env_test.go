package e2e

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"causeway/adapters/pgembed/pgtest"
)

// testEnv is one database with a server on it and a sandbox platform. When the test
// ends its books must be right.
type testEnv struct {
	t           testing.TB
	databaseURL string
	db          *sql.DB // as the owner of the tables, who may do what the service may not
	server      *process
	*tenant
}

// tenant is a platform, as seen by a program of its own.
type tenant struct {
	*client
	platformID string
	receiver   *webhookReceiver // nil until listen
}

func newTestEnv(t testing.TB, options ...string) *testEnv {
	t.Helper()
	h := newDatabaseEnv(t)
	h.server = startServer(t, h.databaseURL, options...)
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	return h
}

// newDatabaseEnv is a house nobody lives in yet.
func newDatabaseEnv(t testing.TB) *testEnv {
	t.Helper()
	h := &testEnv{t: t, databaseURL: pgtest.New(t)}
	db, err := sql.Open("pgx", h.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	h.db = db
	t.Cleanup(func() {
		_ = db.Close()
	})
	t.Cleanup(h.checkLedger)
	return h
}

// createPlatform makes a platform.
func (h *testEnv) createPlatform(name, environment string, flags ...string) *tenant {
	h.t.Helper()
	args := append([]string{"platform", "create", "--name", name, "--environment", environment}, flags...)
	var made struct{ PlatformID, ClientID, ClientSecret, BaseURL string }
	if err := json.Unmarshal([]byte(mustRunCommand(h.t, []string{"DATABASE_URL=" + h.databaseURL}, args...)), &made); err != nil {
		h.t.Fatal(err)
	}
	base := ""
	if h.server != nil {
		base = h.server.baseURL
	}
	return &tenant{client: newClient(h.t, base, made.ClientID, made.ClientSecret), platformID: made.PlatformID}
}

// queryInt is a number from the database.
func (h *testEnv) queryInt(query string, args ...any) (n int64) {
	h.t.Helper()
	if err := h.db.QueryRow(query, args...).Scan(&n); err != nil {
		h.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (h *testEnv) exec(query string, args ...any) {
	h.t.Helper()
	if _, err := h.db.Exec(query, args...); err != nil {
		h.t.Fatalf("%s: %v", query, err)
	}
}

// expireQuote moves the end of a quote into the past.
func (h *testEnv) expireQuote(quote apiResponse) {
	h.t.Helper()
	h.exec("UPDATE quotes SET expires_at = now() - interval '1 second' WHERE id = $1", uuidOf(quote.text("id")))
	h.exec("UPDATE jobs SET due_at = now() WHERE step = 'expire' AND $1::uuid = ANY(subjects)", uuidOf(quote.text("transactionId")))
}

// uuidOf is the uuid of an id.
func uuidOf(id string) string {
	for i := range id {
		if id[i] == ':' {
			return id[i+1:]
		}
	}
	return id
}

var serialNumber atomic.Int64

// createCustomer makes one, and returns its id.
func (p *tenant) createCustomer(change ...object) string {
	p.t.Helper()
	return p.post("/customers", customerBody(change...)).wantStatus(201).text("id")
}

// customerBody is what a customer is made of.
func customerBody(change ...object) object {
	body := object{
		"platformCustomerId": fmt.Sprintf("c-%d", serialNumber.Add(1)), "customerType": "INDIVIDUAL",
		"fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US",
		"address": object{"line1": "123 Main Street", "city": "San Francisco", "state": "CA", "postalCode": "94105", "country": "US"},
	}
	for _, c := range change {
		for name, value := range c {
			body[name] = value
		}
	}
	return body
}

// createWallet registers a wallet for bitcoin; end is what its address ends in.
func (p *tenant) createWallet(customer, end string) string {
	p.t.Helper()
	return p.post("/customers/external-accounts", object{
		"customerId": customer, "currency": "BTC",
		"accountInfo": object{"accountType": "LAYER2_WALLET", "address": "spark1" + uuid.NewString()[:8] + "w" + end},
	}).wantStatus(201).text("id")
}

// createBankAccount registers a US bank account.
func (p *tenant) createBankAccount(customer string) string {
	p.t.Helper()
	return p.post("/customers/external-accounts", usAccountBody(customer)).wantStatus(201).text("id")
}

func usAccountBody(customer string) object {
	return object{"customerId": customer, "currency": "USD", "accountInfo": object{
		"accountType": "US_ACCOUNT", "accountNumber": fmt.Sprintf("55%07d555", serialNumber.Add(1)), "routingNumber": "021000021",
		"beneficiary": object{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US"},
	}}
}

// rampQuoteBody asks for a quote from dollars to a wallet.
func rampQuoteBody(customer, account, side string, amount int64) object {
	return object{
		"source":             object{"customerId": customer, "currency": "USD"},
		"destination":        object{"destinationType": "ACCOUNT", "accountId": account},
		"lockedCurrencySide": side, "lockedCurrencyAmount": amount,
	}
}

// createQuote makes one from dollars to a new customer's wallet whose address ends so.
func (p *tenant) createQuote(end string) apiResponse {
	p.t.Helper()
	customer := p.createCustomer()
	return p.post("/quotes", rampQuoteBody(customer, p.createWallet(customer, end), "SENDING", 10050)).wantStatus(201)
}

func paymentReference(quote apiResponse) string {
	quote.t.Helper()
	text := quote.text("paymentInstructions.0.accountOrWalletInfo.reference")
	if text == "" {
		quote.t.Fatalf("%s: no reference: %s", quote.request, quote.body)
	}
	return text
}

// payQuote pays a quote by its reference; amount 0 is the amount it asks for.
func (p *tenant) payQuote(quote apiResponse, amount int64) apiResponse {
	p.t.Helper()
	body := object{"reference": paymentReference(quote), "currencyCode": quote.text("sendingCurrency.code")}
	if amount != 0 {
		body["currencyAmount"] = amount
	}
	return p.post("/sandbox/send", body)
}

// formatTimestamp writes a moment as the interface does.
func formatTimestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
