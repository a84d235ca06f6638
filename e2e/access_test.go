package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

func TestAuth_WrongCredentialsAreRejected(t *testing.T) {
	t.Parallel()
	// Without valid credentials every request is rejected, with the reason.
	h := newSharedEnv(t)
	for name, c := range map[string]*client{
		"no credentials":           h.withToken("", ""),
		"no such client":           h.withToken(strings.Repeat("0", 32), h.ClientSecret),
		"wrong secret":             h.withToken(h.ClientID, "wrong"),
		"secret with more":         h.withToken(h.ClientID, h.ClientSecret+"0"),
		"secret in the wrong case": h.withToken(h.ClientID, strings.ToUpper(h.ClientSecret)),
		"bearer":                   h.withToken("", "").withHeader("Authorization", "Bearer "+h.ClientSecret),
		"not base64":               h.withToken("", "").withHeader("Authorization", "Basic !!!"),
	} {
		got := c.get("/config").wantError(401, "UNAUTHORIZED")
		if got.text("reason") == "" || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("%s: no reason or no challenge: %v %s", name, got.header, got.body)
		}
		if c.post("/quotes", "{ malformed").status != 401 {
			t.Errorf("%s: the body was looked at before the password", name)
		}
	}
	h.get("/config").wantStatus(200)
}

func TestToken_PermissionsAndDeletion(t *testing.T) {
	t.Parallel()
	// A token has its permissions and no others. Its secret is returned once, and after it is
	// deleted no server accepts it.
	h := newSharedEnv(t)
	second := secondServer(t)
	created := h.post("/tokens", object{"name": "Back office", "permissions": []string{"VIEW"}}).wantStatus(201)
	token := h.withToken(created.text("clientId"), created.text("clientSecret"))

	token.get("/config").wantStatus(200)
	token.withServer(second).get("/config").wantStatus(200)
	for _, path := range []string{"/tokens", "/tokens/" + created.text("id")} {
		if read := h.get(path).wantStatus(200); strings.Contains(string(read.body), "clientSecret") {
			t.Errorf("GET %s shows a secret: %s", path, read.body)
		}
	}
	if ids := itemIDs(h.get("/tokens?name=Back%20office").wantStatus(200)); !slices.Equal(ids, []string{created.text("id")}) {
		t.Errorf("tokens by name: %v", ids)
	}

	h.delete("/tokens/" + created.text("id")).wantStatus(204)

	token.withServer(second).get("/config").wantError(401, "UNAUTHORIZED")
	token.get("/config").wantError(401, "UNAUTHORIZED")
	h.get("/tokens/"+created.text("id")).wantError(404, "TOKEN_NOT_FOUND")
	h.delete("/tokens/"+created.text("id")).wantError(404, "TOKEN_NOT_FOUND")
	own := itemIDs(h.get("/tokens").wantStatus(200))
	if len(own) != 1 {
		t.Fatalf("tokens: %v", own)
	}
	h.delete("/tokens/"+own[0]).wantError(409, "CONFLICT")
	for _, bad := range []object{{}, {"name": ""}, {"name": "x", "permissions": []string{}}, {"name": "x", "permissions": []string{"ALL"}},
		{"name": "x", "permissions": "VIEW"}} {
		h.post("/tokens", bad).wantError(400, "INVALID_INPUT")
	}
}

func TestToken_PermissionsAreNotNested(t *testing.T) {
	t.Parallel()
	// No permission includes another: each allows its own operations only.
	h := newSharedEnv(t)
	customer := h.createCustomer()
	quote := object{}
	text, _ := json.Marshal(kit.RampQuoteBody(customer, h.createWallet(customer, ""), "SENDING", 10050))
	_ = json.Unmarshal(text, &quote)
	tokens := map[string]*client{}
	for _, permission := range []string{"VIEW", "TRANSACT", "MANAGE"} {
		created := h.post("/tokens", object{"name": permission, "permissions": []string{permission}}).wantStatus(201)
		tokens[permission] = h.withToken(created.text("clientId"), created.text("clientSecret"))
	}
	for _, c := range []struct {
		permission, method, path string
		body                     func() any
		status                   int
	}{
		{"VIEW", "GET", "/config", nil, 200},
		{"VIEW", "GET", "/customers", nil, 200},
		{"VIEW", "GET", "/transactions", nil, 200},
		{"VIEW", "GET", "/exchange-rates", nil, 200},
		{"VIEW", "GET", "/discoveries", nil, 200},
		{"VIEW", "GET", "/tokens", nil, 200},
		{"VIEW", "GET", "/webhook-keys", nil, 200},
		{"VIEW", "GET", "/webhook-deliveries", nil, 200},
		{"TRANSACT", "POST", "/quotes", func() any { return quote }, 201},
		{"TRANSACT", "POST", "/sandbox/send", func() any { return object{"reference": "X", "currencyCode": "USD"} }, 404},
		{"MANAGE", "POST", "/customers", func() any { return customerBody() }, 201},
		{"MANAGE", "PATCH", "/config", func() any { return object{} }, 200},
		{"MANAGE", "POST", "/tokens", func() any { return object{"name": "x", "permissions": []string{"VIEW"}} }, 201},
	} {
		for permission, token := range tokens {
			var body any
			if c.body != nil {
				body = c.body()
			}
			got := token.call(c.method, c.path, body)
			if permission != c.permission {
				got.wantError(403, "FORBIDDEN")
			} else if got.status != c.status {
				t.Errorf("%s with %s: %d %s", got.request, permission, got.status, got.body)
			}
		}
	}
}

func TestProduction_SandboxIsUnreachable(t *testing.T) {
	t.Parallel()
	// A production platform cannot use the sandbox, and gets NOT_IMPLEMENTED where no rail is
	// connected.
	h := newSharedEnv(t)
	live := h.createPlatform("Live", "PRODUCTION", "--regulated")
	customer := live.createCustomer()
	wallet := live.createWallet(customer, "")

	rejected := live.post("/sandbox/send", object{"reference": "X", "currencyCode": "USD", "currencyAmount": 5}).wantError(403, "FORBIDDEN")
	if rejected.text("reason") != "Sandbox only" {
		t.Errorf("reason %q", rejected.text("reason"))
	}
	live.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10050)).wantError(501, "NOT_IMPLEMENTED")
	live.patch("/config", object{"webhookEndpoint": "http://127.0.0.1:9/x"}).wantError(400, "INVALID_INPUT")
	if got := h.ledgerBalances(live.platformID); len(got) != 0 {
		t.Errorf("production ledger: %s", got)
	}
	// Test values have no effect there.
	live.post("/customers/external-accounts", object{"customerId": customer, "currency": "BTC",
		"accountInfo": object{"accountType": "LAYER2_WALLET", "address": "spark1w105"}}).wantStatus(201)
}

func TestLogs_ContainNoSecretsOrPersonalData(t *testing.T) {
	t.Parallel()
	// Even at the lowest log level no line contains a secret or personal data, and each failed
	// request is found by its id.
	h := newTestEnv(t, "--log-level", "debug")
	hooks := h.startReceiver()
	customer := h.createCustomer(object{"fullName": "Zacharias Quux", "email": "zacharias@example.com"})
	h.post("/customers/external-accounts", object{"customerId": customer, "currency": "USD", "accountInfo": object{
		"accountType": "US_ACCOUNT", "accountNumber": "77665544332211", "routingNumber": "021000021",
		"beneficiary": object{"beneficiaryType": "INDIVIDUAL", "fullName": "Zacharias Quux"}}}).wantStatus(201)
	h.get("/customers?umaAddress=" + "%24zacharias-quux@example.com")
	created := h.post("/tokens", object{"name": "x", "permissions": []string{"VIEW"}}).wantStatus(201)
	h.withToken(h.ClientID, "guessed-secret").get("/config").wantStatus(401)
	quote := h.createQuote("")
	h.payQuote(quote, 0).wantStatus(200)
	hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
	id := h.withHeader("Request-Id", "99999999-2222-4333-8444-555555555555").get("/quotes/x").header.Get("Request-Id")

	h.server.awaitLine(id)
	log := h.server.Output()
	for _, secret := range []string{h.ClientSecret, created.text("clientSecret"), "guessed-secret", masterKey, "Zacharias", "zacharias",
		"Quux", "Ana Silva",
		"77665544332211", "Main Street", "1990-01-31"} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}
