package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"causeway/adapters/apiclient"
	"causeway/e2e/bench/history"
)

const (
	// consolePayments and consoleCustomers are those of the platform whose pages are measured.
	consolePayments  = 1_000_000
	consoleCustomers = 100_000
	// paidForConsole are payments that are made, with their timelines; the others are rows alone.
	paidForConsole = 20
	consoleRounds  = 200
	// consoleEntries are those of the ledger of the past six months.
	consoleEntries = 500_000
)

// fillConsole adds customers with an account each, and payments of one each 5 seconds, newest last, to the only platform. The words of
// names are drawn from 200 and 500.
const fillConsole = `
CREATE FUNCTION pg_temp.id_at(at timestamptz, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
	SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid $$;
CREATE TEMP TABLE p AS SELECT id FROM platforms ORDER BY created_at DESC LIMIT 1;
CREATE TEMP TABLE c AS SELECT n, pg_temp.id_at('2025-01-01Z'::timestamptz + n * interval '1 second', n) AS id FROM generate_series(1, %[2]d) n;
INSERT INTO customers (platform_id, id, platform_customer_id, customer_type, region, uma_address, status, details, created_at, updated_at)
SELECT p.id, c.id, 'user-' || n, 'INDIVIDUAL', 'US', '$user' || n || '@bench.test', 'APPROVED',
	jsonb_build_object('fullName', 'First' || chr(97 + n %% 20) || chr(97 + n / 20 %% 10) || ' Last' || chr(97 + n / 200 %% 25) || chr(97 + n / 5000 %% 20)),
	'2025-01-01Z', '2025-01-01Z' FROM p, c;
INSERT INTO external_accounts (platform_id, id, customer_id, currency, account_type, fields, status, fingerprint, created_at, updated_at)
SELECT p.id, c.id, c.id, 'USD', 'US_ACCOUNT', jsonb_build_object('accountNumber', lpad((n * 7919)::text, 10, '0'), 'routingNumber', '021000021'), 'ACTIVE',
	n::text, '2025-01-01Z', '2025-01-01Z' FROM p, c;
INSERT INTO transactions (platform_id, id, customer_id, direction, status, refund_status, stage, failure_reason, destination_external, source_rail, source_account,
	destination_rail, destination_account, sent_currency, sent_minor, received_currency, received_minor, created_at, updated_at, source_uma, destination_uma, reference, details)
SELECT p.id, pg_temp.id_at(t.at, t.n), c.id, CASE t.n %% 10 WHEN 0 THEN 'INCOMING' ELSE 'OUTGOING' END,
	CASE WHEN t.n %% 200 = 1 THEN 'FAILED' WHEN t.n %% 500 = 2 THEN 'EXPIRED' WHEN t.n > %[1]d - 300 AND t.n %% 3 = 0 THEN 'PROCESSING' ELSE 'COMPLETED' END,
	'', '', '', c.id, 'ACH', '', 'ACH', '', CASE t.n %% 3 WHEN 0 THEN 'EUR' ELSE 'USD' END, 100 + (t.n * 7919) %% 500000, 'USD', 100 + (t.n * 104729) %% 500000,
	t.at, t.at, '', CASE t.n %% 7 WHEN 0 THEN '$receiver' || t.n || '@bench.test' ELSE '' END, 'REF' || t.n, ''
FROM p, (SELECT n, now() - (%[1]d - n) * interval '5 seconds' AS at FROM generate_series(1::bigint, %[1]d) n) t JOIN c ON c.n = 1 + (t.n * 31) %% %[2]d
ORDER BY t.n;
INSERT INTO rail_replies (platform_id, subject_id, replied_at, call, verdict, reason, accepted, partner_id)
SELECT platform_id, id, created_at, 'SEND', 'DONE', '', true, 'PARTNER-' || reference FROM transactions WHERE reference LIKE 'REF%%';
INSERT INTO webhook_events (platform_id, id, subject_id, seq, created_at, type, name, body)
SELECT platform_id, id, id, row_number() OVER (ORDER BY id), created_at, 'OUTGOING_PAYMENT', 'OUTGOING_PAYMENT.COMPLETED', '{}' FROM transactions WHERE reference LIKE 'REF%%' ORDER BY id;
SELECT setval('webhook_event_seq', (SELECT max(seq) FROM webhook_events));
INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, outcome, error, response)
SELECT platform_id, id, created_at, 1, 20, CASE WHEN seq %% 100 = 1 THEN 500 ELSE 200 END, seq %% 100 = 1, CASE WHEN seq %% 100 = 1 THEN 'GIVEN_UP' ELSE 'ACCEPTED' END, '', '' FROM webhook_events;
INSERT INTO request_log (platform_id, id, token_id, arrived_at, duration_us, method, operation, route, path, query, status, code, message, request_id, idempotency_key,
	replayed, request_type, request_size, request_body, request_cut, response_type, response_size, response_body, response_cut, lost_before)
SELECT p.id, pg_temp.id_at(at, n), tokens.id, at, 1500, 'POST', CASE n %% 50000 WHEN 7 THEN 'deleteCustomerById' ELSE 'createQuote' END, '/quotes', CASE n %% 50000 WHEN 7 THEN '/customers/' || n ELSE '/quotes' END, '',
	CASE WHEN n %% 100000 = 3 THEN 503 WHEN n %% 50 = 1 THEN 400 ELSE 201 END, '', '', pg_temp.id_at(at, n), 'key-' || n, false, 'application/json', 20, '', false, 'application/json', 200, '', false, 0
FROM p, tokens, (SELECT n, now() - (%[1]d - n) * interval '0.6 seconds' AS at FROM generate_series(1::bigint, %[1]d) n) r;
INSERT INTO verifications (platform_id, id, customer_id, status, application_id, customer_approved, details, created_at, updated_at)
SELECT p.id, c.id, c.id, CASE n %% 50 WHEN 0 THEN 'PENDING_MANUAL_REVIEW' ELSE 'APPROVED' END, c.id, n %% 50 <> 0, '{}', '2025-01-01Z', '2025-01-01Z' FROM p, c;
INSERT INTO verification_reviews (platform_id, id, customer_id, verification_id, application_id, verdict, actor, details, reviewed_at)
SELECT p.id, c.id, c.id, c.id, c.id, 'ACCEPTED', 'Reviewer ' || n %% 20, '{}', '2025-01-01Z'::timestamptz + n * interval '1 second' FROM p, c WHERE n %% 50 <> 0;
INSERT INTO operator_actions (platform_id, id, action, subject_id, actor, at)
SELECT p.id, c.id, 'VIEW_CUSTOMER', c.id, 'Person ' || n %% 20, '2025-01-01Z'::timestamptz + n * interval '1 second' FROM p, c;
INSERT INTO people (id, email, name, roles, status, created_at, updated_at)
VALUES ('00000000-0000-7000-8000-000000000001', 'bench@bench.test', 'Bench', '{SUPPORT,FINANCE,OPERATOR}', 'ACTIVE', now(), now());
INSERT INTO person_sessions (token_hash, person_id, setup, created_at, last_used_at, expires_at)
VALUES ('\x%[3]x', '00000000-0000-7000-8000-000000000001', false, now(), now(), now() + interval '7 days');
`

// consolePages are measured, with what is filled in from a number.
var consolePages = []struct {
	name string
	path func(n int) string
}{
	{"Overview", func(int) string { return "" }},
	{"List of payments", func(int) string { return "/payments" }},
	{"List of payments, by status", func(int) string { return "/payments?status=FAILED" }},
	{"List of payments, by status and amounts", func(n int) string {
		return fmt.Sprintf("/payments?status=COMPLETED&currency=USD&min=%d&max=%d", 100+n%100, 2000+n%100)
	}},
	{"List of payments of a customer", func(n int) string { return fmt.Sprintf("/payments?customer=user-%d", 1+n%consoleCustomers) }},
	{"List of payments, of a day of the past", func(n int) string {
		day := time.Now().UTC().AddDate(0, 0, -1-n%50).Format("2006-01-02")
		return "/payments?from=" + day + "T00:00&to=" + day + "T23:59"
	}},
	{"List of customers", func(int) string { return "/customers" }},
	{"Search for a reference", func(n int) string { return fmt.Sprintf("/search?q=REF%d", 1+n%consolePayments) }},
	{"Search for an amount", func(n int) string { return fmt.Sprintf("/search?q=%d.%02d+USD", 1+n%5000, n%100) }},
	{"Search for a UMA address of a payment", func(n int) string {
		return fmt.Sprintf("/search?q=$receiver%d@bench.test", 7*(1+n/7))
	}},
	{"Search for a UMA address of a customer", func(n int) string {
		return fmt.Sprintf("/search?q=$user%d@bench.test", 1+n%consoleCustomers)
	}},
	{"Search for an own id of a customer", func(n int) string { return fmt.Sprintf("/search?q=user-%d", 1+n%consoleCustomers) }},
	{"Search for the id of a partner", func(n int) string { return fmt.Sprintf("/search?q=PARTNER-REF%d", 1+n%consolePayments) }},
	{"Search for a name of two words", func(n int) string {
		return fmt.Sprintf("/search?q=first%c%c+last%c%c", 'a'+n%20, 'a'+n/20%10, 'a'+n/200%25, 'a'+n/5000%20)
	}},
	{"Search for a name of one word", func(n int) string { return fmt.Sprintf("/search?q=first%c%c", 'a'+n%20, 'a'+n/20%10) }},
	{"Search for the last digits of an account", func(n int) string { return fmt.Sprintf("/search?q=%04d", n%10_000) }},
	{"Requests", func(int) string { return "/requests" }},
	{"Requests that failed", func(int) string { return "/requests?status=5" }},
	{"Requests of a rare operation", func(int) string { return "/requests?operation=deleteCustomerById" }},
	{"Requests with a rare path", func(int) string { return "/requests?path=/customers/" }},
	{"Request with a key", func(n int) string { return fmt.Sprintf("/requests?key=key-%d", 1+n) }},
	{"Webhooks", func(int) string { return "/webhooks" }},
	{"Webhooks that failed", func(int) string { return "/webhooks?status=FAILED" }},
	{"Webhooks that wait", func(int) string { return "/webhooks?status=PENDING" }},
	{"Webhooks that were delivered", func(int) string { return "/webhooks?status=DELIVERED" }},
	{"Reviews", func(int) string { return "/reviews" }},
	{"Audit", func(int) string { return "/audit" }},
	{"Audit of a person", func(n int) string { return fmt.Sprintf("/audit?actor=person+%d", n%20) }},
	{"Audit of a person who has done nothing", func(int) string { return "/audit?actor=nobody" }},
	{"State", func(int) string { return "/state" }},
	{"Jobs", func(int) string { return "/jobs" }},
	{"Trial balance", func(int) string { return "/trial-balance" }},
}

// measureConsole measures pages of the console on a platform with many payments.
func (b *bench) measureConsole(ctx context.Context) {
	const name = "console"
	s := b.newLedgerService(ctx, name, 1)
	p := s.createPlatform(ctx)
	logf("making a ledger of %d entries", consoleEntries)
	must(history.Write(ctx, history.Options{URL: s.databaseURL, Platform: p.id, Entries: consoleEntries, Months: 6, Seed: 1}))
	secret := base64.RawURLEncoding.EncodeToString(make([]byte, 32))
	logf("making %d payments of %d customers", consolePayments, consoleCustomers)
	began := time.Now()
	b.meter.scriptIn(ctx, name, fmt.Sprintf(fillConsole, consolePayments, consoleCustomers, sha256.Sum256([]byte(secret))))
	b.meter.scriptIn(ctx, name, "VACUUM (ANALYZE)")
	logf("they took %s", formatDuration(time.Since(began)))
	s.start(ctx)
	pages := consoleClient{address: s.address, secret: secret, base: "/console/platforms/" + p.id.UUID().String()}
	paid := p.payForConsole(ctx)
	for {
		if waiting := queryIn[struct{ Count int64 }](ctx, b.meter, name, "SELECT count(*) FROM search_queue"); waiting[0].Count == 0 {
			break
		}
		check(sleep(ctx, time.Second))
	}
	b.meter.scriptIn(ctx, name, "VACUUM (ANALYZE)")
	measure := func(name string, path func(n int) string) {
		l := timed(consoleRounds, func() time.Duration { return pages.get(ctx, path(rand.IntN(consolePayments))) })
		b.report.add(consoleSection, name, consoleRounds, l, formatMillis(l.max), judge(goalConsolePage, l.p99))
	}
	for _, page := range consolePages {
		measure(page.name, page.path)
	}
	measure("Page of a payment, with its timeline", func(n int) string { return "/payments/" + paid[n%len(paid)] })
	for _, of := range []struct{ name, query, path string }{
		{"Page of another payment", "SELECT id::text FROM transactions WHERE reference LIKE 'REF%000'", "/payments/"},
		{"Search for the id of a payment", "SELECT id::text FROM transactions WHERE reference LIKE 'REF%000'", "/search?q=Transaction:"},
		{"Page of a customer", "SELECT id::text FROM customers WHERE platform_customer_id LIKE 'user-%00'", "/customers/"},
		{"Audit of an object", "SELECT id::text FROM customers WHERE platform_customer_id LIKE 'user-%00'", "/audit?object=Customer:"},
		{"Entries of one of the busiest accounts", `SELECT path || '&currency=' || a.currency AS id FROM ledger_accounts a JOIN (SELECT debit_account_id AS id,
			count(*) AS n FROM ledger_entries GROUP BY 1 ORDER BY n DESC LIMIT 10) busy USING (id)`, "/entries?path="},
	} {
		ids := queryIn[struct{ ID string }](ctx, b.meter, name, of.query)
		measure(of.name, func(n int) string { return of.path + ids[n%len(ids)].ID })
	}
	check(s.stop())
}

// payForConsole makes payments through the API, and returns their ids.
func (p platform) payForConsole(ctx context.Context) (ids []string) {
	customer := p.create(ctx, "/customers", map[string]any{"customerType": "INDIVIDUAL", "fullName": "Console Bench",
		"birthDate": "1990-01-31", "nationality": "US", "platformCustomerId": "console-bench"})
	wallet := p.create(ctx, "/customers/external-accounts", map[string]any{"customerId": customer, "currency": "BTC",
		"accountInfo": map[string]any{"accountType": "LAYER2_WALLET", "address": "spark1benchofconsole"}})
	for range paidForConsole {
		var quote struct{ ID, TransactionID string }
		check(p.Call(ctx, "POST", "/quotes", map[string]any{"source": map[string]any{"customerId": customer, "currency": "USD"},
			"destination":        map[string]any{"destinationType": "ACCOUNT", "accountId": wallet},
			"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 10050}, &quote))
		p.do(ctx, apiclient.Request{Method: "POST", Path: "/sandbox/send", Body: map[string]any{"quoteId": quote.ID, "currencyCode": "USD"}})
		_, id, _ := strings.Cut(quote.TransactionID, ":")
		ids = append(ids, id)
	}
	return ids
}

// consoleClient is a browser in a session.
type consoleClient struct{ address, secret, base string }

// roundTrip sends a request, and returns the status, the address that it leads to, and the whole body.
func roundTrip(r *http.Request) (status int, location string, body []byte) {
	response, err := http.DefaultTransport.RoundTrip(r)
	check(err)
	defer response.Body.Close()
	return response.StatusCode, response.Header.Get("Location"), must(io.ReadAll(response.Body))
}

// get reads a page, and those that it leads to, and returns how long that took.
func (c consoleClient) get(ctx context.Context, path string) time.Duration {
	began := time.Now()
	for to := c.base + path; to != ""; {
		r := must(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.address+to, nil))
		r.AddCookie(&http.Cookie{Name: "console", Value: c.secret})
		status, location, body := roundTrip(r)
		switch status {
		case http.StatusOK, http.StatusNotFound: // nothing was found
			to = ""
		case http.StatusSeeOther:
			if to = must(url.Parse(location)).RequestURI(); strings.HasPrefix(to, "/console/sign-in") {
				check(fmt.Errorf("GET %s asks to sign in", path))
			}
		default:
			check(fmt.Errorf("GET %s: %d: %.200s", path, status, body))
		}
	}
	return time.Since(began)
}
