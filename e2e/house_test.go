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

// house is one database with a server on it and a sandbox platform. When the test
// ends its books must be right.
type house struct {
	t        testing.TB
	database string
	db       *sql.DB // as the owner of the tables, who may do what the service may not
	server   *process
	*party
}

// party is a platform, as seen by a program of its own.
type party struct {
	*client
	platform string
	hooks    *hooks // nil until listen
}

func newHouse(t testing.TB, options ...string) *house {
	t.Helper()
	h := newDatabase(t)
	h.server = serve(t, h.database, options...)
	h.party = h.found("Sandbox", "SANDBOX", "--regulated")
	return h
}

// newDatabase is a house nobody lives in yet.
func newDatabase(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, database: pgtest.New(t)}
	db, err := sql.Open("pgx", h.database)
	if err != nil {
		t.Fatal(err)
	}
	h.db = db
	t.Cleanup(func() {
		_ = db.Close()
	})
	t.Cleanup(h.prove)
	return h
}

// found makes a platform.
func (h *house) found(name, environment string, flags ...string) *party {
	h.t.Helper()
	args := append([]string{"platform", "create", "--name", name, "--environment", environment}, flags...)
	var made struct{ PlatformID, ClientID, ClientSecret, BaseURL string }
	if err := json.Unmarshal([]byte(must(h.t, []string{"DATABASE_URL=" + h.database}, args...)), &made); err != nil {
		h.t.Fatal(err)
	}
	base := ""
	if h.server != nil {
		base = h.server.base
	}
	return &party{client: newClient(h.t, base, made.ClientID, made.ClientSecret), platform: made.PlatformID}
}

// count is a number from the database.
func (h *house) count(query string, args ...any) (n int64) {
	h.t.Helper()
	if err := h.db.QueryRow(query, args...).Scan(&n); err != nil {
		h.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (h *house) exec(query string, args ...any) {
	h.t.Helper()
	if _, err := h.db.Exec(query, args...); err != nil {
		h.t.Fatalf("%s: %v", query, err)
	}
}

// expire moves the end of a quote into the past.
func (h *house) expire(quote answer) {
	h.t.Helper()
	h.exec("UPDATE quotes SET expires_at = now() - interval '1 second' WHERE id = $1", bare(quote.str("id")))
	h.exec("UPDATE jobs SET due_at = now() WHERE step = 'expire' AND $1::uuid = ANY(subjects)", bare(quote.str("transactionId")))
}

// bare is the uuid of an id.
func bare(id string) string {
	for i := range id {
		if id[i] == ':' {
			return id[i+1:]
		}
	}
	return id
}

var serial atomic.Int64

// customer makes one, and returns its id.
func (p *party) customer(change ...object) string {
	p.t.Helper()
	return p.post("/customers", person(change...)).want(201).str("id")
}

// person is what a customer is made of.
func person(change ...object) object {
	body := object{
		"platformCustomerId": fmt.Sprintf("c-%d", serial.Add(1)), "customerType": "INDIVIDUAL",
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

// wallet registers a wallet for bitcoin; end is what its address ends in.
func (p *party) wallet(customer, end string) string {
	p.t.Helper()
	return p.post("/customers/external-accounts", object{
		"customerId": customer, "currency": "BTC",
		"accountInfo": object{"accountType": "LAYER2_WALLET", "address": "spark1" + uuid.NewString()[:8] + "w" + end},
	}).want(201).str("id")
}

// bank registers a US bank account.
func (p *party) bank(customer string) string {
	p.t.Helper()
	return p.post("/customers/external-accounts", usAccount(customer)).want(201).str("id")
}

func usAccount(customer string) object {
	return object{"customerId": customer, "currency": "USD", "accountInfo": object{
		"accountType": "US_ACCOUNT", "accountNumber": fmt.Sprintf("55%07d555", serial.Add(1)), "routingNumber": "021000021",
		"beneficiary": object{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US"},
	}}
}

// ramp asks for a quote from dollars to a wallet.
func ramp(customer, account, side string, amount int64) object {
	return object{
		"source":             object{"customerId": customer, "currency": "USD"},
		"destination":        object{"destinationType": "ACCOUNT", "accountId": account},
		"lockedCurrencySide": side, "lockedCurrencyAmount": amount,
	}
}

// quote makes one from dollars to a new customer's wallet whose address ends so.
func (p *party) quote(end string) answer {
	p.t.Helper()
	customer := p.customer()
	return p.post("/quotes", ramp(customer, p.wallet(customer, end), "SENDING", 10050)).want(201)
}

func reference(quote answer) string {
	quote.t.Helper()
	text := quote.str("paymentInstructions.0.accountOrWalletInfo.reference")
	if text == "" {
		quote.t.Fatalf("%s: no reference: %s", quote.what, quote.text)
	}
	return text
}

// pay pays a quote by its reference; amount 0 is the amount it asks for.
func (p *party) pay(quote answer, amount int64) answer {
	p.t.Helper()
	body := object{"reference": reference(quote), "currencyCode": quote.str("sendingCurrency.code")}
	if amount != 0 {
		body["currencyAmount"] = amount
	}
	return p.post("/sandbox/send", body)
}

// stamp writes a moment as the interface does.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
