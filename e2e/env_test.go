package e2e

import (
	"context"
	"database/sql"
	"maps"
	"net"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"causeway/adapters/pgembed/pgtest"
	"causeway/e2e/kit"
)

// testEnv is one database with a server on it and a sandbox platform. When the test
// ends, the ledger check must pass.
type testEnv struct {
	t           testing.TB
	databaseURL string
	db          *sql.DB // as the owner of the tables
	server      *process
	// clientAddress is that of the clients of platforms: the service limits some requests of an address. Nil is any.
	clientAddress net.Addr
	// administrator makes tokens for people; nil before the first.
	administrator *person
	*tenant
}

// tenant is a platform and its client.
type tenant struct {
	*client
	platformID string
	receiver   *webhookReceiver // nil until startReceiver
	// webhookSecret is the secret of the webhooks; empty until startReceiver.
	webhookSecret string
	// endpointFor, if set, returns the URL at which the service reaches a receiver.
	endpointFor func(receiver string) string
}

// newTestEnv is for tests that stop, configure or look into the server, or see or change what belongs to no platform.
func newTestEnv(t testing.TB, options ...string) *testEnv {
	t.Helper()
	h := newDatabaseEnv(t)
	h.server = startServer(t, h.databaseURL, options...)
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	return h
}

// newDatabaseEnv returns an environment with a database, but no server and no platform.
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

// createPlatform creates a platform.
func (h *testEnv) createPlatform(name, environment string, flags ...string) *tenant {
	h.t.Helper()
	created, err := kit.CreatePlatform(context.Background(), binary, h.databaseURL, name, environment, flags...)
	if err != nil {
		h.t.Fatal(err)
	}
	base := ""
	if h.server != nil {
		base = h.server.baseURL
	}
	return &tenant{client: newClientFrom(h.t, h.clientAddress, base, created.ClientID, created.ClientSecret), platformID: created.PlatformID}
}

// queryInt returns a number from the database.
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

// execAsService executes a statement in the role of the service, as whom what it writes is sealed as evidence.
func (h *testEnv) execAsService(query string, args ...any) {
	h.t.Helper()
	tx, err := h.db.Begin()
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec("SET LOCAL ROLE causeway_service; SET LOCAL causeway.platform = '*'"); err != nil {
		h.t.Fatal(err)
	}
	if _, err := tx.Exec(query, args...); err != nil {
		h.t.Fatalf("%s: %v", query, err)
	}
	if err := tx.Commit(); err != nil {
		h.t.Fatal(err)
	}
}

// expireQuote moves the expiry of a quote into the past.
func (h *testEnv) expireQuote(quote apiResponse) {
	h.t.Helper()
	h.exec("UPDATE quotes SET expires_at = now() - interval '1 second' WHERE id = $1", uuidOf(quote.text("id")))
	h.exec("UPDATE jobs SET due_at = now() WHERE step = 'expire' AND $1::uuid = ANY(subjects)", uuidOf(quote.text("transactionId")))
}

// uuidOf returns the UUID of an id.
func uuidOf(id string) string {
	for i := range id {
		if id[i] == ':' {
			return id[i+1:]
		}
	}
	return id
}

// createCustomer creates a customer, and returns its id.
func (p *tenant) createCustomer(change ...object) string {
	p.t.Helper()
	return p.post("/customers", customerBody(change...)).wantStatus(201).text("id")
}

// support adds a currency to those of the platform, with any amounts.
func (p *tenant) support(currency string) {
	p.t.Helper()
	added := object{"currencyCode": currency, "minAmount": 1, "maxAmount": 9_000_000_000_000_000, "requiredCounterpartyFields": []any{},
		"enabledTransactionTypes": []any{"OUTGOING", "INCOMING"}}
	p.patch("/config", object{"supportedCurrencies": append(p.get("/config").list("supportedCurrencies"), added)}).wantStatus(200)
}

// customerBody is kit.CustomerBody with changes.
func customerBody(change ...object) object {
	body := kit.CustomerBody()
	for _, c := range change {
		maps.Copy(body, c)
	}
	return body
}

// createWallet registers a bitcoin wallet whose address has a suffix, a test value.
func (p *tenant) createWallet(customer, suffix string) string {
	p.t.Helper()
	return p.post("/customers/external-accounts", kit.WalletBody(customer, suffix)).wantStatus(201).text("id")
}

// createBankAccount registers a US bank account.
func (p *tenant) createBankAccount(customer string) string {
	p.t.Helper()
	return p.post("/customers/external-accounts", usAccountBody(customer)).wantStatus(201).text("id")
}

func usAccountBody(customer string) object { return kit.USAccountBody(customer, "555") }

// createQuote creates a quote from dollars to a new customer's wallet whose address has a
// suffix.
func (p *tenant) createQuote(suffix string) apiResponse {
	p.t.Helper()
	customer := p.createCustomer()
	return p.post("/quotes", kit.RampQuoteBody(customer, p.createWallet(customer, suffix), "SENDING", 10050)).wantStatus(201)
}

func paymentReference(quote apiResponse) string {
	quote.t.Helper()
	text := quote.text("paymentInstructions.0.accountOrWalletInfo.reference")
	if text == "" {
		quote.t.Fatalf("%s: no reference: %s", quote.request, quote.body)
	}
	return text
}

// payQuote pays a quote by its reference; amount 0 is the amount of the quote.
func (p *tenant) payQuote(quote apiResponse, amount int64) apiResponse {
	p.t.Helper()
	body := object{"reference": paymentReference(quote), "currencyCode": quote.text("sendingCurrency.code")}
	if amount != 0 {
		body["currencyAmount"] = amount
	}
	return p.post("/sandbox/send", body)
}

// formatTimestamp formats a timestamp as the interface does.
func formatTimestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
