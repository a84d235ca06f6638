package e2e

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/e2e/kit"
)

func TestQuote_InvalidIsRejected(t *testing.T) {
	t.Parallel()
	// Every invalid quote is rejected with its code and the names of the fields, and nothing
	// is stored.
	h := newSharedEnv(t)
	customer := h.createCustomer()
	wallet, bank := h.createWallet(customer, ""), h.createBankAccount(customer)
	balance := h.get("/customers/internal-accounts?currency=USD&customerId=" + customer).wantStatus(200).text("data.0.id")
	other := h.createPlatform("Other", "SANDBOX", "--regulated")
	foreign := other.createCustomer()
	theirWallet := other.createWallet(foreign, "")
	foreignWallet := h.createWallet(h.createCustomer(), "")
	const unknownID = "00000000-0000-7000-8000-000000000000"
	change := func(path string, value any) object {
		body := kit.RampQuoteBody(customer, wallet, "SENDING", 10050)
		if in, name, deep := strings.Cut(path, "."); deep {
			body[in].(object)[name] = value
		} else {
			body[path] = value
		}
		return body
	}
	before := h.queryInt("SELECT count(*) FROM quotes WHERE platform_id = $1", uuidOf(h.platformID))

	for name, c := range map[string]struct {
		body   any
		status int
		code   string
		field  string
	}{
		"malformed JSON":  {`{"source": {`, 400, "INVALID_INPUT", ""},
		"text after JSON": {`{} {}`, 400, "INVALID_INPUT", ""},
		"no JSON":         {`hello`, 400, "INVALID_INPUT", ""},
		"not an object":   {`[]`, 400, "INVALID_INPUT", ""},
		"null":            {`null`, 400, "INVALID_INPUT", ""},
		"no body":         {``, 400, "INVALID_INPUT", ""},
		"a key twice":     {`{"lockedCurrencyAmount": 1, "lockedCurrencyAmount": 2}`, 400, "INVALID_INPUT", ""},
		"not UTF-8":       {"{\"description\": \"\xff\xfe\"}", 400, "INVALID_INPUT", ""},
		"deep nesting":    {strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000), 400, "INVALID_INPUT", ""},
		"amount 0":        {change("lockedCurrencyAmount", 0), 400, "INVALID_INPUT", "lockedCurrencyAmount"},
		"amount -1":       {change("lockedCurrencyAmount", -1), 400, "INVALID_INPUT", "lockedCurrencyAmount"},
		"amount 9e15+1": {change("lockedCurrencyAmount", int64(9_000_000_000_000_001)), 400, "INVALID_INPUT",
			"lockedCurrencyAmount"},
		"amount 1.5":                {change("lockedCurrencyAmount", 1.5), 400, "INVALID_INPUT", "lockedCurrencyAmount"},
		"amount beyond int64":       {`{"lockedCurrencyAmount":99999999999999999999999}`, 400, "INVALID_INPUT", "lockedCurrencyAmount"},
		"amount 1e400":              {`{"lockedCurrencySide":"SENDING","lockedCurrencyAmount":1e400}`, 400, "INVALID_INPUT", ""},
		"amount as text":            {change("lockedCurrencyAmount", "10050"), 400, "INVALID_INPUT", "lockedCurrencyAmount"},
		"amount null":               {change("lockedCurrencyAmount", nil), 400, "INVALID_INPUT", "lockedCurrencyAmount"},
		"amount true":               {change("lockedCurrencyAmount", true), 400, "INVALID_INPUT", "lockedCurrencyAmount"},
		"amount 9e15":               {change("lockedCurrencyAmount", int64(9_000_000_000_000_000)), 400, "AMOUNT_OUT_OF_RANGE", ""},
		"amount 1":                  {change("lockedCurrencyAmount", 1), 400, "AMOUNT_OUT_OF_RANGE", ""},
		"side unknown":              {change("lockedCurrencySide", "BOTH"), 400, "INVALID_INPUT", "lockedCurrencySide"},
		"side in lower case":        {change("lockedCurrencySide", "sending"), 400, "INVALID_INPUT", "lockedCurrencySide"},
		"source of the wrong type":  {change("source", "USD"), 400, "INVALID_INPUT", "source"},
		"source missing":            {change("source", nil), 400, "INVALID_INPUT", "source"},
		"currency in lower case":    {change("source.currency", "usd"), 400, "INVALID_INPUT", "source.currency"},
		"currency unknown":          {change("source.currency", "XYZ"), 400, "INVALID_INPUT", "source.currency"},
		"currency missing":          {change("source.currency", nil), 400, "INVALID_INPUT", "source"},
		"currency with no corridor": {change("source.currency", "KRW"), 400, "INVALID_CURRENCY", ""},
		"same currency from a balance": {object{"source": object{"accountId": balance}, "destination": object{"accountId": bank},
			"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 10050}, 400, "INVALID_CURRENCY", ""},
		"wrong currency echoed":         {change("destination.currency", "EUR"), 400, "INVALID_INPUT", "destination.currency"},
		"customer malformed":            {change("source.customerId", "ana"), 400, "INVALID_INPUT", "source.customerId"},
		"customer of another type":      {change("source.customerId", wallet), 400, "INVALID_INPUT", "source.customerId"},
		"customer unknown":              {change("source.customerId", "Customer:"+unknownID), 404, "USER_NOT_FOUND", ""},
		"customer of another platform":  {change("source.customerId", foreign), 404, "USER_NOT_FOUND", ""},
		"account malformed":             {change("destination.accountId", "ExternalAccount:1"), 400, "INVALID_INPUT", "destination.accountId"},
		"account unknown":               {change("destination.accountId", "ExternalAccount:"+unknownID), 404, "EXTERNAL_ACCOUNT_NOT_FOUND", ""},
		"account of another platform":   {change("destination.accountId", theirWallet), 404, "EXTERNAL_ACCOUNT_NOT_FOUND", ""},
		"account of another customer":   {change("destination.accountId", foreignWallet), 400, "INVALID_INPUT", "destination.accountId"},
		"description of the wrong type": {change("description", 7), 400, "INVALID_INPUT", "description"},
		"description too long":          {change("description", strings.Repeat("x", 501)), 400, "INVALID_INPUT", "description"},
		"purpose unknown":               {change("purposeOfPayment", "FUN"), 400, "INVALID_INPUT", "purposeOfPayment"},
	} {
		got := h.post("/quotes", c.body)
		if got.wantError(c.status, c.code); c.field != "" && !slices.Contains(got.errorFields(), c.field) {
			t.Errorf("%s: %s is not among the invalid fields %v: %s", name, c.field, got.errorFields(), got.body)
		}
		if t.Failed() && got.status != c.status {
			t.Logf("case: %s", name)
		}
	}

	all := h.post("/quotes", object{"source": object{"customerId": "x", "currency": "usd"}, "destination": object{"accountId": 5},
		"lockedCurrencySide": "NEITHER", "lockedCurrencyAmount": 1.5}).wantError(400, "INVALID_INPUT").errorFields()
	for _, field := range []string{"source.customerId", "source.currency", "destination.accountId", "lockedCurrencySide",
		"lockedCurrencyAmount"} {
		if !slices.Contains(all, field) {
			t.Errorf("only %v of five invalid fields are named", all)
		}
	}
	echoed := change("destination.currency", "BTC")
	echoed["somethingNew"] = object{"unknown": true}
	h.post("/quotes", echoed).wantStatus(201) // the right currency may be echoed, and unknown fields are ignored
	if created := h.queryInt("SELECT count(*) FROM quotes WHERE platform_id = $1", uuidOf(h.platformID)) - before; created != 1 {
		t.Errorf("%d quotes were created, want 1", created)
	}
}

func TestExternalAccount_InvalidIsRejected(t *testing.T) {
	t.Parallel()
	// An account that cannot be paid is not stored, and the error names every invalid field.
	h := newSharedEnv(t)
	customer := h.createCustomer()
	account := func(currency string, info any) object {
		return object{"customerId": customer, "currency": currency, "accountInfo": info}
	}
	wallet := object{"accountType": "LAYER2_WALLET", "address": "spark1same"}
	h.post("/customers/external-accounts", account("BTC", wallet)).wantStatus(201)

	for name, c := range map[string]struct {
		body   any
		status int
		code   string
		field  string
	}{
		"unknown type": {account("BTC", object{"accountType": "MATTRESS", "address": "x"}), 400, "INVALID_INPUT",
			"accountInfo.accountType"},
		"no type":                {account("BTC", object{"address": "x"}), 400, "INVALID_INPUT", "accountInfo.accountType"},
		"info of the wrong type": {account("BTC", "x"), 400, "INVALID_INPUT", "accountInfo"},
		"no info":                {object{"customerId": customer, "currency": "BTC"}, 400, "INVALID_INPUT", "accountInfo"},
		"currency it cannot hold": {account("EUR", object{"accountType": "LAYER2_WALLET", "address": "spark1euro"}), 400,
			"INVALID_INPUT", "currency"},
		"currency in lower case": {account("btc", wallet), 400, "INVALID_INPUT", "currency"},
		"no address":             {account("BTC", object{"accountType": "LAYER2_WALLET"}), 400, "INVALID_INPUT", "accountInfo.address"},
		"address of another type": {account("BTC", object{"accountType": "LAYER2_WALLET", "address": 5}), 400, "INVALID_INPUT",
			"accountInfo.address"},
		"routing number too short": {account("USD", object{"accountType": "US_ACCOUNT", "accountNumber": "123456789", "routingNumber": "1",
			"beneficiary": object{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana"}}), 400, "INVALID_INPUT", "accountInfo.routingNumber"},
		"no beneficiary": {account("USD", object{"accountType": "US_ACCOUNT", "accountNumber": "123456789",
			"routingNumber": "021000021"}), 400, "INVALID_INPUT", "accountInfo.beneficiary"},
		"the same again": {account("BTC", wallet), 409, "CONFLICT", ""},
		"no such bank account": {account("BTC", object{"accountType": "LAYER2_WALLET", "address": "spark1w105"}), 400,
			"INVALID_BANK_ACCOUNT", ""},
		"customer unknown": {object{"customerId": "Customer:" + uuid.NewString(), "currency": "BTC", "accountInfo": wallet}, 404,
			"USER_NOT_FOUND", ""},
	} {
		got := h.post("/customers/external-accounts", c.body)
		if got.wantError(c.status, c.code); c.field != "" && !slices.Contains(got.errorFields(), c.field) {
			t.Errorf("%s: %s is not among the invalid fields %v: %s", name, c.field, got.errorFields(), got.body)
		}
		if got.status != c.status {
			t.Logf("case: %s", name)
		}
	}
	if n := h.queryInt("SELECT count(*) FROM external_accounts WHERE platform_id = $1", uuidOf(h.platformID)); n != 1 {
		t.Errorf("%d accounts, want 1", n)
	}
}

func TestCustomer_InvalidIsRejected(t *testing.T) {
	t.Parallel()
	// An invalid customer is not stored, and the error names every invalid field.
	h := newSharedEnv(t)

	bad := h.post("/customers", object{"customerType": "INDIVIDUAL", "birthDate": "31.1.1990", "nationality": "usa",
		"address": object{"line1": "x", "country": "us"}}).wantError(400, "INVALID_INPUT").errorFields()

	for _, field := range []string{"birthDate", "nationality", "address.city", "address.postalCode", "address.country"} {
		if !slices.Contains(bad, field) {
			t.Errorf("%s is not among the invalid fields %v", field, bad)
		}
	}
	// The state is required where postal addresses have one.
	withAddress := func(country string) object {
		return object{"customerType": "INDIVIDUAL", "address": object{"line1": "x", "city": "y", "postalCode": "z", "country": country}}
	}
	if got := h.post("/customers", withAddress("US")).wantError(400, "INVALID_INPUT").errorFields(); !slices.Equal(got,
		[]string{"address.state"}) {
		t.Errorf("an address in the United States without a state: %v", got)
	}
	if german := h.post("/customers", withAddress("DE")).wantStatus(201); german.text("address.state") != "" {
		t.Errorf("%s", german.body)
	}
	h.post("/customers", object{}).wantError(400, "INVALID_INPUT")
	h.post("/customers", object{"customerType": "BUSINESS"}).wantError(400, "INVALID_INPUT")
	h.post("/customers", customerBody(object{"platformCustomerId": "twice"})).wantStatus(201)
	h.post("/customers", customerBody(object{"platformCustomerId": "twice"})).wantError(409, "CONFLICT")
	if n := h.queryInt("SELECT count(*) FROM customers WHERE platform_id = $1", uuidOf(h.platformID)); n != 2 {
		t.Errorf("%d customers, want 2", n)
	}
}

func TestCustomer_UnverifiedCannotMoveMoney(t *testing.T) {
	t.Parallel()
	// An unverified customer cannot move money.
	h := newSharedEnv(t)
	open := h.createPlatform("Open", "SANDBOX")
	shop := open.post("/customers", object{"customerType": "BUSINESS", "businessInfo": object{"legalName": "Acme"}}).wantStatus(201)
	shop.wantValues(map[string]any{"kybStatus": "PENDING"})

	open.post("/quotes", kit.RampQuoteBody(shop.text("id"), open.createWallet(shop.text("id"), ""), "SENDING", 10050)).wantError(403,
		"USER_NOT_READY")
	person := open.createCustomer()
	open.post("/quotes", kit.RampQuoteBody(person, open.createWallet(person, ""), "SENDING", 10050)).wantStatus(201)
}

func TestIDs_UnknownOrForeignReturn404(t *testing.T) {
	t.Parallel()
	// For a resource of another platform the response is the same as for an unknown id; a
	// malformed id is invalid input.
	h := newSharedEnv(t)
	other := h.createPlatform("Other", "SANDBOX", "--regulated")
	quote := other.createQuote("")
	customer := other.createCustomer()
	account := other.createWallet(customer, "")
	token := other.post("/tokens", object{"name": "x", "permissions": []string{"VIEW"}}).wantStatus(201).text("id")

	for _, c := range []struct{ method, path, id, code string }{
		{"GET", "/quotes/%s", quote.text("id"), "QUOTE_NOT_FOUND"},
		{"POST", "/quotes/%s/execute", quote.text("id"), "QUOTE_NOT_FOUND"},
		{"GET", "/transactions/%s", quote.text("transactionId"), "TRANSACTION_NOT_FOUND"},
		{"GET", "/customers/%s", customer, "USER_NOT_FOUND"},
		{"GET", "/customers/external-accounts/%s", account, "EXTERNAL_ACCOUNT_NOT_FOUND"},
		{"GET", "/tokens/%s", token, "TOKEN_NOT_FOUND"},
		{"DELETE", "/tokens/%s", token, "TOKEN_NOT_FOUND"},
	} {
		never := c.id[:strings.Index(c.id, ":")+1] + uuid.NewString()
		foreign := h.call(c.method, fmt.Sprintf(c.path, c.id), nil).wantError(404, c.code)
		unknown := h.call(c.method, fmt.Sprintf(c.path, never), nil).wantError(404, c.code)
		if strings.ReplaceAll(string(foreign.body), c.id, never) != string(unknown.body) {
			t.Errorf("%s differs from an unknown id:\n%s\n%s", c.path, foreign.body, unknown.body)
		}
		for _, malformed := range []string{"x", "Quote:", "Customer:1", "Card:" + uuid.NewString(), strings.ToUpper(c.id[:3]) + c.id[3:], "%00",
			"%27;--", c.id + "0"} {
			h.call(c.method, fmt.Sprintf(c.path, malformed), nil).wantError(400, "INVALID_INPUT")
		}
	}
	if got := itemIDs(h.get("/transactions").wantStatus(200)); len(got) != 0 {
		t.Errorf("another platform's transactions are listed: %v", got)
	}
	h.post("/sandbox/send", object{"reference": paymentReference(quote), "currencyCode": "USD"}).wantError(404, "REFERENCE_NOT_FOUND")
	h.post("/sandbox/send", object{"quoteId": quote.text("id"), "currencyCode": "USD"}).wantError(404, "QUOTE_NOT_FOUND")
	other.get("/quotes/" + quote.text("id")).wantStatus(200).wantValues(map[string]any{"status": "PENDING"})
}

func TestExecute_NotExecutableQuoteIsRejected(t *testing.T) {
	t.Parallel()
	// A just-in-time quote cannot be executed; the error says if it has expired or is paid.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	quote := h.createQuote("")
	h.post("/quotes/"+quote.text("id")+"/execute", nil).wantError(409, "QUOTE_NOT_EXECUTABLE")

	h.expireQuote(quote)
	hooks.awaitOutgoingEvent(quote.text("transactionId"), "EXPIRED")
	h.post("/quotes/"+quote.text("id")+"/execute", nil).wantError(409, "QUOTE_EXPIRED")
	h.post("/quotes/"+quote.text("id")+"/execute", object{}).wantError(409, "QUOTE_EXPIRED")
	h.get("/quotes/" + quote.text("id")).wantStatus(200).wantValues(map[string]any{"status": "EXPIRED"})
}

func TestQuote_JustInTimeWithinOneCurrency(t *testing.T) {
	t.Parallel()
	// Dollars that are paid in just in time are paid out as dollars, less the corridor's fees.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	customer := h.createCustomer()
	quote := h.post("/quotes", kit.RampQuoteBody(customer, h.createBankAccount(customer), "SENDING", 10050)).wantStatus(201)
	fees := quote.int("feesIncluded")
	quote.wantValues(map[string]any{"exchangeRate": 1, "totalReceivingAmount": 10050 - fees})

	h.payQuote(quote, 0).wantStatus(200)
	hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")

	h.checkLedgerBalances(h.platformID, accountBalances{"rails/RTP USD": -fees, "income/fees USD": fees})
}

func TestExecute_DeletedPartyStopsTheQuote(t *testing.T) {
	t.Parallel()
	// An account or a customer that is deleted after the quote was created stops its execution, and
	// what is paid in for a just-in-time quote is refunded.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	s := h.newScenarioEnv(t)
	wallet := s.createBTCWallet("")
	prefunded := s.createQuoteTo(object{"accountId": wallet}, object{"accountId": s.fundUSDAccount(20_000)}, 10050)
	justInTime := h.createQuote("")
	s.delete("/customers/external-accounts/" + wallet).wantStatus(204)
	h.delete("/customers/external-accounts/" + justInTime.text("destination.accountId")).wantStatus(204)

	s.post("/quotes/"+prefunded.text("id")+"/execute", nil).wantError(409, "QUOTE_NOT_EXECUTABLE").wantValues(
		map[string]any{"reason": "Account deleted"})
	h.payQuote(justInTime, 0).wantStatus(200).wantValues(map[string]any{"status": "FAILED", "failureReason": "QUOTE_EXECUTION_FAILED"})

	hooks.awaitOutgoingEvent(justInTime.text("transactionId"), "REFUND_COMPLETED")
	s.get("/quotes/" + prefunded.text("id")).wantStatus(200).wantValues(map[string]any{"status": "PENDING"})
}

func TestErrors_MalformedRequests(t *testing.T) {
	t.Parallel()
	// A malformed request gets an error in the common form, and every response has a request
	// id.
	h := newSharedEnv(t)

	h.get("/nothing/here").wantError(404, "NOT_FOUND")
	h.get("//nowhere").wantError(404, "NOT_FOUND")
	h.get("//2099-01-01/config").wantError(404, "NOT_FOUND")
	if allow := h.delete("/quotes").wantError(405, "METHOD_NOT_ALLOWED").header.Get("Allow"); !strings.Contains(allow, "POST") ||
		strings.Contains(allow, "DELETE") {
		t.Errorf("Allow %q", allow)
	}
	if allow := h.post("/config", object{}).wantError(405, "METHOD_NOT_ALLOWED").header.Get("Allow"); !strings.Contains(allow, "GET") ||
		!strings.Contains(allow, "PATCH") {
		t.Errorf("Allow %q", allow)
	}
	h.withHeader("Content-Type", "text/plain").post("/quotes", "{}").wantError(415, "UNSUPPORTED_MEDIA_TYPE")
	h.withHeader("Content-Type", "application/x-www-form-urlencoded").post("/quotes", "a=b").wantError(415, "UNSUPPORTED_MEDIA_TYPE")
	h.withHeader("Content-Type", "application/json; charset=utf-8").post("/quotes", "{}").wantError(400, "INVALID_INPUT")

	given := h.withHeader("Request-Id", "11111111-2222-4333-8444-555555555555").get("/config").wantStatus(200)
	if id := given.header.Get("Request-Id"); id != "11111111-2222-4333-8444-555555555555" {
		t.Errorf("Request-Id %q was not echoed", id)
	}
	for _, path := range []string{"/config", "/nothing", "//healthz"} {
		if id := h.get(path).header.Get("Request-Id"); uuid.Validate(id) != nil {
			t.Errorf("%s: Request-Id %q", path, id)
		}
	}
	for _, evil := range []string{"x y", strings.Repeat("x", 5000), "<script>"} {
		if id := h.withHeader("Request-Id", evil).get("/config").header.Get("Request-Id"); id == evil {
			t.Errorf("Request-Id %.20q was echoed", id)
		}
	}
	h.get("//").wantStatus(200)
	h.get("//healthz").wantStatus(200)
	h.get("//readyz").wantStatus(200)
	h.get("//metrics").wantStatus(404) // for operators only, on their own address
}

func TestRequest_LargeBodyIsRejected(t *testing.T) {
	t.Parallel()
	// A body of 20 MB is rejected, with or without Content-Length, and the server continues.
	h := newSharedEnv(t)
	large := `{"description": "` + strings.Repeat("x", 20<<20) + `"}`

	// The server need not read all of it, so the connection may end before the response is
	// read; but it is never accepted.
	for name, body := range map[string]any{"with a length": large, "in chunks": io.MultiReader(strings.NewReader(large))} {
		got, err := h.do(t.Context(), http.MethodPost, "/quotes", body)
		if err != nil {
			t.Errorf("%s: no response: %v", name, err)
			continue
		}
		got.wantError(413, "PAYLOAD_TOO_LARGE")
	}

	h.createQuote("")
}

func TestRateLimit_OtherCallersUnaffected(t *testing.T) {
	t.Parallel()
	// A caller over the rate limit gets Retry-After, and others are not affected.
	h := newTestEnv(t, "--rate-limit", "1", "--rate-burst", "5")
	other := h.createPlatform("Other", "SANDBOX")
	var rejected apiResponse
	for range 10 {
		if got := h.get("/config"); got.status != http.StatusOK {
			rejected = got
		}
	}

	if rejected.t == nil {
		t.Fatal("none of ten requests at once was limited")
	}
	rejected.wantError(429, "RATE_LIMITED")
	if wait := rejected.header.Get("Retry-After"); wait != "1" {
		t.Errorf("Retry-After %q, want 1", wait)
	}
	other.get("/config").wantStatus(200)
	h.get("//").wantStatus(200)
	h.get("//healthz").wantStatus(200)
}
