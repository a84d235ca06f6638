package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/receivers"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/lightning"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	rules "causeway/core/uma"
	"causeway/ports"
)

// invoice issues an invoice of 25.00 for the customer of this side, to the customer of another one, or to anybody.
func (s *umaSide) invoice(from *umaSide) receivers.UMAInvoice {
	s.t.Helper()
	if from == nil {
		return s.invoiceTo("")
	}
	return s.invoiceTo(from.Customer.UMAAddress)
}

func (s *umaSide) invoiceTo(sender string) receivers.UMAInvoice {
	s.t.Helper()
	request := receivers.UMAInvoiceRequest{To: s.Customer.ID, Amount: 25_00, Currency: s.Platform.Currencies[0].Code, Sender: sender}
	made, err := s.receivers.CreateUMAInvoice(s.t.Context(), s.Platform.ID, request, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return made
}

func (s *umaSide) lookUpInvoice(text string) (receivers.LookupResult, error) {
	return s.receivers.LookupUMAAddress(s.t.Context(), s.Platform.ID, text, receivers.Sender{Customer: s.Customer.ID})
}

// payInvoice returns the request that pays an invoice which was looked up.
func (s *umaSide) payInvoice(from account.Internal, found receivers.LookupResult) quote.Request {
	return quote.Request{Platform: s.Platform.ID, Source: quote.Source{Internal: from.ID, Customer: s.Customer.ID}, Side: quote.Receiving,
		Destination: quote.Destination{UMA: found.ReceiverUMA}, Amount: found.InvoiceAmount, Lookup: found.Lookup.ID}
}

// wantInvoice checks the status of the invoice with an id of the protocol.
func (s *umaSide) wantInvoice(id uuid.UUID, want rules.InvoiceStatus) receivers.UMAInvoice {
	s.t.Helper()
	page, err := s.receivers.ListUMAInvoices(s.t.Context(), s.Platform.ID, ports.UMAInvoiceFilter{Paging: ports.Paging{Limit: 100}})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, i := range page.Items {
		if i.Invoice.ID == id {
			if i.Status != want {
				s.t.Errorf("the invoice is %s at %s, not %s", i.Status, s.Platform.UMADomain, want)
			}
			return i
		}
	}
	s.t.Errorf("%s does not have the invoice", s.Platform.UMADomain)
	return receivers.UMAInvoice{}
}

func TestUMAInvoice_IsPaidOnce(t *testing.T) {
	t.Parallel()
	// Bo asks ana for 25.00 euros: her provider gets the invoice, and shows it. A quote pays it; meanwhile, and afterwards, there is no
	// second one, on either side. One that nobody executes ends, and another one is possible then.
	ana, bo := newUMASides(t)
	dollars := ana.NewInternalAccount(ana.Customer.ID, "USD", 1_000_00)
	made := bo.invoice(ana)
	id := made.Invoice.ID
	bo.wantInvoice(id, rules.InvoicePending)
	bo.waitForDelivery(made, rules.DeliveryDelivered)
	if asked := ana.wantInvoice(id, rules.InvoicePending); asked.From != ana.Customer.ID || asked.Text != made.Text || asked.Amount != 25_00 ||
		asked.Currency != "EUR" || asked.Receiver != bo.Customer.UMAAddress {
		t.Errorf("ana is asked for %+v", asked)
	}
	found, err := ana.lookUpInvoice(strings.ToUpper(made.Text))
	if err != nil || len(found.Currencies) != 1 || found.Currencies[0].Min != 25_00 || found.Currencies[0].Max != 25_00 {
		t.Fatalf("%+v, %v", found, err)
	}
	other := ana.payInvoice(dollars, found)
	other.Amount++
	if _, err := ana.payments.CreateQuote(t.Context(), other, nil); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("another amount: %v", err)
	}

	var wait sync.WaitGroup
	quotes, errs := make([]quote.WithStatus, 4), make([]error, 4)
	for i := range quotes {
		wait.Go(func() {
			quotes[i], errs[i] = ana.payments.CreateQuote(t.Context(), ana.payInvoice(dollars, found), nil)
		})
	}
	wait.Wait()
	var first quote.WithStatus
	created := 0
	for i, err := range errs {
		switch {
		case err == nil:
			created, first = created+1, quotes[i]
		case !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.PayreqRequestFailed):
			t.Errorf("a second quote: %v", err)
		}
	}
	if created != 1 {
		t.Fatalf("%d quotes: %v", created, errs)
	}
	if _, err := ana.lookUpInvoice(made.Text); !fault.Is(err, fault.Conflict) {
		t.Errorf("with a quote: %v", err)
	}
	ana.wantInvoice(id, rules.InvoiceProcessing)
	for _, side := range []*umaSide{ana, bo} { // nobody executes it
		side.Clock.Advance(time.Hour)
	}
	ana.waitFor(first.Quote.Transaction, transaction.Expired)
	for _, t := range bo.incoming() {
		bo.waitFor(t.ID, transaction.Failed)
	}
	ana.wantInvoice(id, rules.InvoicePending)

	if found, err = ana.lookUpInvoice(made.Text); err != nil {
		t.Fatal(err)
	}
	second, err := ana.payments.CreateQuote(t.Context(), ana.payInvoice(dollars, found), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ana.payments.ExecuteQuote(t.Context(), ana.Platform.ID, second.Quote.ID, nil); err != nil {
		t.Fatal(err)
	}
	ana.waitFor(second.Quote.Transaction, transaction.Completed)
	for _, side := range []*umaSide{ana, bo} {
		paid := side.wantInvoice(id, rules.InvoicePaid)
		payment, err := side.Store.Transaction(t.Context(), side.Platform.ID, paid.Payment)
		if err != nil || payment.State.Status != transaction.Completed ||
			payment.ReceiverAmount() != (money.Amount{Minor: 25_00, Currency: "EUR"}) {
			t.Errorf("%+v, %v", payment, err)
		}
		side.wantExplained()
	}
	if _, err := ana.lookUpInvoice(made.Text); !fault.Is(err, fault.Conflict) {
		t.Errorf("a paid invoice: %v", err)
	}
	if paid := ana.network.paid(); paid != 1 {
		t.Errorf("%d payments", paid)
	}
}

func TestUMAInvoice_Refused(t *testing.T) {
	t.Parallel()
	// What is expired, changed, signed by somebody else, for somebody else or of nobody is not taken, and not paid. One that is sent
	// again stays one, and a provider asks nobody for more than twenty, and all together for more than 500.
	ana, bo := newUMASides(t)
	dollars := ana.NewInternalAccount(ana.Customer.ID, "USD", 1_000_00)
	now := ana.Clock.Now()
	key := []byte("a key that is not that of bo's..")
	write := func(key []byte, change func(*rules.Invoice)) string {
		i := rules.Invoice{ID: ana.IDs.New(now), Receiver: bo.Customer.UMAAddress, Sender: ana.Customer.UMAAddress, Amount: 25_00,
			Currency: "EUR", Decimals: 2, ExpiresAt: now.Add(time.Hour), Callback: "https://pay.test/uma/payreq/%24bo",
			Wanted: []transaction.InfoField{{Name: "FULL_NAME", Mandatory: true}}}
		change(&i)
		text, err := i.Encode(func(text string) string { return rules.Sign(key, text) })
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	push := func(text string) (int, string) {
		body, _ := json.Marshal(map[string]string{"invoice": text})
		r := httptest.NewRequest(http.MethodPost, "http://bank.test/uma/requests", strings.NewReader(string(body)))
		w := httptest.NewRecorder()
		ana.handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	same := func(*rules.Invoice) {}
	bo.invoice(nil) // so that bo has keys
	ring, err := bo.Store.UMAKeys(t.Context(), bo.Platform.ID)
	if err != nil || len(ring) != 1 {
		t.Fatal(ring, err)
	}
	signing := ring[0].Signing
	for what, test := range map[string]struct {
		text, code string
		status     int
	}{
		"no invoice":     {"uma1qqq", "INVALID_INVOICE", 400},
		"too long":       {write(signing, func(i *rules.Invoice) { i.ExpiresAt = now.Add(31 * 24 * time.Hour) }), "INVALID_INVOICE", 400},
		"another key":    {write(key, same), "INVALID_SIGNATURE", 401},
		"expired":        {write(signing, func(i *rules.Invoice) { i.ExpiresAt = now }), "INVOICE_EXPIRED", 400},
		"no sender":      {write(signing, func(i *rules.Invoice) { i.Sender = "" }), "INVALID_INVOICE", 400},
		"unknown sender": {write(signing, func(i *rules.Invoice) { i.Sender = "$eve@bank.test" }), "USER_NOT_FOUND", 404},
		"decimals":       {write(signing, func(i *rules.Invoice) { i.Decimals = 3 }), "INVALID_CURRENCY", 400},
		"a callback":     {write(signing, func(i *rules.Invoice) { i.Callback = "http://pay.test/" }), "INVALID_INVOICE", 400},
		"blocked":        {write(signing, func(i *rules.Invoice) { i.Receiver = "$bo@blocked.test" }), "COUNTERPARTY_NOT_ALLOWED", 403},
	} {
		if status, body := push(test.text); status != test.status || !strings.Contains(body, test.code) {
			t.Errorf("%s: %d %s", what, status, body)
		}
		if what == "unknown sender" || what == "no sender" || what == "too long" {
			continue
		}
		if _, err := ana.lookUpInvoice(test.text); !fault.Is(err, fault.InvalidReceiver) {
			t.Errorf("look up %s: %v", what, err)
		}
	}
	others := write(signing, func(i *rules.Invoice) { i.Sender = "$eve@bank.test" })
	if _, err := ana.lookUpInvoice(others); !fault.Is(err, fault.InvalidReceiver) {
		t.Errorf("look up one for somebody else: %v", err)
	}
	again := write(signing, same)
	for range 2 {
		if status, body := push(again); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	if kept := ana.QueryStrings(`SELECT count(*)::text FROM uma_invoices`); kept[0] != "1" {
		t.Errorf("%s invoices are kept", kept[0])
	}
	multiply := func(issuer string, n int) {
		t.Helper()
		err := ana.Exec(`INSERT INTO uma_invoices SELECT platform_id, gen_random_uuid(), ` + issuer + `, gen_random_uuid(), content, receiver_id,
			sender_id, amount, currency, NULL, expires_at, created_at FROM (SELECT * FROM uma_invoices LIMIT 1) AS one, generate_series(1, ` +
			strconv.Itoa(n) + `) AS i`)
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what string) {
		t.Helper()
		if status, body := push(write(signing, same)); status != 403 || !strings.Contains(body, "VELOCITY_LIMIT_EXCEEDED") {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
	multiply("issuer", 19)
	refused("the twenty-first of a provider")
	if err := ana.Exec(`DELETE FROM uma_invoices WHERE id <> (SELECT id FROM uma_invoices LIMIT 1)`); err != nil {
		t.Fatal(err)
	}
	multiply("CASE WHEN i % 2 = 0 THEN 'x' || i || '.pay.test' ELSE 'pay.test:' || 8000 + i END", 19)
	refused("the twenty-first of a provider at other ports and subdomains")
	if err := ana.Exec(`DELETE FROM uma_invoices WHERE id <> (SELECT id FROM uma_invoices LIMIT 1)`); err != nil {
		t.Fatal(err)
	}
	multiply("'p' || i || '.test'", 498)
	if status, body := push(write(signing, same)); status != 200 { // another provider does not keep it away
		t.Errorf("the five hundredth: %d %s", status, body)
	}
	refused("one more")

	// A pay request for an invoice that was not issued, or for another amount, has no invoice.
	text := write(signing, same)
	found, err := ana.lookUpInvoice(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ana.payments.CreateQuote(t.Context(), ana.payInvoice(dollars, found), nil); !fault.Is(err, fault.PayreqRequestFailed) ||
		!strings.Contains(err.Error(), "INVALID_INVOICE") {
		t.Errorf("one that was not issued: %v", err)
	}
	if len(bo.incoming()) != 0 {
		t.Error("a payment was begun")
	}
}

func TestUMAInvoice_WithinThePlatform(t *testing.T) {
	t.Parallel()
	// A customer of the same platform pays an invoice, once, without a Lightning payment.
	_, bo := newUMASides(t)
	made := bo.invoice(nil)
	cleo := bo.NewCustomer("cleo")
	euros := bo.NewInternalAccount(cleo.ID, "EUR", 100_00)
	sender := receivers.Sender{Customer: cleo.ID}
	found, err := bo.receivers.LookupUMAAddress(t.Context(), bo.Platform.ID, made.Text, sender)
	if err != nil {
		t.Fatal(err)
	}
	if found.Lookup.Invoice != made.KeptInvoice.ID || found.Currencies[0].Min != 25_00 || found.Currencies[0].Max != 25_00 {
		t.Errorf("found %+v", found)
	}
	request := bo.payInvoice(euros, found)
	request.Source.Customer = cleo.ID
	var created quote.WithStatus
	var wait sync.WaitGroup
	var one sync.Mutex
	quotes := 0
	for range 6 { // some of them are in one batch
		wait.Go(func() {
			made, err := bo.payments.CreateQuote(t.Context(), request, nil)
			one.Lock()
			defer one.Unlock()
			if err == nil {
				created, quotes = made, quotes+1
			} else if !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
		})
	}
	if wait.Wait(); quotes != 1 {
		t.Fatalf("%d quotes", quotes)
	}
	if _, err := bo.payments.ExecuteQuote(t.Context(), bo.Platform.ID, created.Quote.ID, nil); err != nil {
		t.Fatal(err)
	}
	bo.waitFor(created.Quote.Transaction, transaction.Completed)
	if paid := bo.wantInvoice(made.Invoice.ID, rules.InvoicePaid); paid.From != cleo.ID || bo.network.paid() != 0 {
		t.Errorf("%+v", paid)
	}
}

// getJSON asks the provider for something.
func (s *umaSide) getJSON(target string) (status int, body map[string]any) {
	status, text := s.get(target)
	_ = json.Unmarshal([]byte(text), &body)
	return status, body
}

func TestLNURL_WalletPaysAnAddress(t *testing.T) {
	t.Parallel()
	// A wallet without UMA pays bo by Lightning address: in bitcoin, for which nothing about the payer is required, also fractions of a
	// satoshi. Who requires something, does not exist, or rejects the payment gives no invoice.
	ana, bo := newUMASides(t, func(p *platform.Platform) {
		p.LightningAddresses = true
		if p.UMADomain == "pay.test" {
			p.Currencies = append(p.Currencies, platform.Currency{Code: "BTC", MinAmount: 1, MaxAmount: 1_000_000, Directions: []string{"INCOMING"}})
		}
	})
	for side, name := range map[*umaSide]string{ana: "bank.test/.well-known/lnurlp/ana", bo: "pay.test/.well-known/lnurlp/eve"} {
		if status, body := side.getJSON("http://" + name); status != 404 || body["code"] != "USER_NOT_FOUND" {
			t.Errorf("%s: %d %v", name, status, body)
		}
	}
	status, found := bo.getJSON("http://pay.test/.well-known/lnurlp/bo")
	const metadata = `[["text/plain","Pay to bo@pay.test"],["text/identifier","bo@pay.test"]]`
	if status != 200 || found["tag"] != "payRequest" || found["metadata"] != metadata || found["minSendable"].(float64) < 1000 {
		t.Fatalf("%d %v", status, found)
	}
	callback := strings.Replace(found["callback"].(string), "https:", "http:", 1)
	for _, bad := range []string{"", "?amount=1", "?amount=x", "?amount=999999999999999"} {
		if status, body := bo.getJSON(callback + bad); status != 400 || body["status"] != "ERROR" {
			t.Errorf("%q: %d %v", bad, status, body)
		}
	}
	const msats = 2_500_777
	status, given := bo.getJSON(callback + "?amount=" + strconv.Itoa(msats))
	if status != 200 {
		t.Fatalf("%d %v", status, given)
	}
	invoice, err := lightning.ParseInvoice(given["pr"].(string))
	if err != nil || invoice.MilliSatoshis != msats || invoice.DescriptionHash == nil {
		t.Fatalf("%+v, %v", invoice, err)
	}
	arrived := bo.incoming()[0]
	bo.network.receive(t, given["pr"].(string))
	got := bo.waitFor(arrived.ID, transaction.Completed)
	if got.Source.UMA != "" || got.Destination.UMA != bo.Customer.UMAAddress ||
		got.Pricing.Sent != (money.Amount{Minor: 2_500, Currency: "BTC"}) ||
		got.Pricing.Received.Currency != "BTC" {
		t.Errorf("%+v", got)
	}
	bo.wantExplained()

	bo.mu.Lock()
	bo.respond = 403
	bo.mu.Unlock()
	if status, body := bo.getJSON(callback + "?amount=2500000"); status != 424 || body["status"] != "ERROR" {
		t.Errorf("a rejected payment: %d %v", status, body)
	}
}

// receive pays an invoice by hand. It returns false if its node does not take the payment.
func (n *lightningNetwork) receive(t *testing.T, text string) bool {
	t.Helper()
	n.mu.Lock()
	invoice := n.invoices[text]
	payable := invoice != nil && !invoice.cancelled && invoice.paidBy == uuid.Nil
	if payable {
		invoice.paidBy = uuid.New()
	}
	n.mu.Unlock()
	if !payable {
		return false
	}
	now := invoice.owner.Clock.Now()
	if _, err := invoice.owner.payments.Receive(t.Context(), transaction.Receipt{ID: ident.NewReceipt(invoice.owner.IDs.New, now),
		PartnerID: invoice.request.ID.String(), Platform: invoice.owner.Platform.ID, Rail: "LIGHTNING", Reference: invoice.request.Reference,
		Amount: invoice.request.Amount, At: now}, nil); err != nil {
		t.Fatal(err)
	}
	return true
}
