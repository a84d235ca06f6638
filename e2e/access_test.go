package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestCredentials(t *testing.T) {
	t.Parallel()
	// Without the right password nothing is answered but that it is missing or wrong.
	h := newHouse(t)
	for name, c := range map[string]*client{
		"no credentials":           newClient(t, h.base, "", ""),
		"no such client":           newClient(t, h.base, strings.Repeat("0", 32), h.secret),
		"wrong secret":             newClient(t, h.base, h.id, "wrong"),
		"secret with more":         newClient(t, h.base, h.id, h.secret+"0"),
		"secret in the wrong case": newClient(t, h.base, h.id, strings.ToUpper(h.secret)),
		"bearer":                   newClient(t, h.base, "", "").with("Authorization", "Bearer "+h.secret),
		"not base64":               newClient(t, h.base, "", "").with("Authorization", "Basic !!!"),
	} {
		got := c.get("/config").refused(401, "UNAUTHORIZED")
		if got.str("reason") == "" || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("%s: no reason or no challenge: %v %s", name, got.header, got.text)
		}
		if c.post("/quotes", "{ malformed").status != 401 {
			t.Errorf("%s: the body was looked at before the password", name)
		}
	}
	h.get("/config").want(200)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	// A token does what it may and no more, its secret is told once, and from the
	// moment it is deleted it opens nothing, on any process.
	h := newHouse(t)
	second := serve(t, h.database)
	made := h.post("/tokens", object{"name": "Back office", "permissions": []string{"VIEW"}}).want(201)
	token := newClient(t, h.base, made.str("clientId"), made.str("clientSecret"))

	token.get("/config").want(200)
	token.at(second).get("/config").want(200)
	for _, path := range []string{"/tokens", "/tokens/" + made.str("id")} {
		if read := h.get(path).want(200); strings.Contains(string(read.text), "clientSecret") {
			t.Errorf("GET %s shows a secret: %s", path, read.text)
		}
	}
	if ids := listed(h.get("/tokens?name=Back%20office").want(200)); !slices.Equal(ids, []string{made.str("id")}) {
		t.Errorf("tokens by name: %v", ids)
	}

	h.delete("/tokens/" + made.str("id")).want(204)

	token.at(second).get("/config").refused(401, "UNAUTHORIZED")
	token.get("/config").refused(401, "UNAUTHORIZED")
	h.get("/tokens/"+made.str("id")).refused(404, "TOKEN_NOT_FOUND")
	h.delete("/tokens/"+made.str("id")).refused(404, "TOKEN_NOT_FOUND")
	own := listed(h.get("/tokens").want(200))
	if len(own) != 1 {
		t.Fatalf("tokens: %v", own)
	}
	h.delete("/tokens/"+own[0]).refused(409, "CONFLICT")
	for _, bad := range []object{{}, {"name": ""}, {"name": "x", "permissions": []string{}}, {"name": "x", "permissions": []string{"ALL"}}, {"name": "x", "permissions": "VIEW"}} {
		h.post("/tokens", bad).refused(400, "INVALID_INPUT")
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	// Permissions are not nested: each opens its own operations and no others.
	h := newHouse(t)
	customer := h.customer()
	quote := object{}
	text, _ := json.Marshal(ramp(customer, h.wallet(customer, ""), "SENDING", 10050))
	_ = json.Unmarshal(text, &quote)
	tokens := map[string]*client{}
	for _, permission := range []string{"VIEW", "TRANSACT", "MANAGE"} {
		made := h.post("/tokens", object{"name": permission, "permissions": []string{permission}}).want(201)
		tokens[permission] = newClient(t, h.base, made.str("clientId"), made.str("clientSecret"))
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
		{"MANAGE", "POST", "/customers", func() any { return person() }, 201},
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
				got.refused(403, "FORBIDDEN")
			} else if got.status != c.status {
				t.Errorf("%s with %s: %d %s", got.what, permission, got.status, got.text)
			}
		}
	}
}

func TestProduction(t *testing.T) {
	t.Parallel()
	// Nothing of the sandbox can be reached from a production platform, and where no
	// rail is connected it says so.
	h := newHouse(t)
	live := h.found("Live", "PRODUCTION", "--regulated")
	customer := live.customer()
	wallet := live.wallet(customer, "")

	refused := live.post("/sandbox/send", object{"reference": "X", "currencyCode": "USD", "currencyAmount": 5}).refused(403, "FORBIDDEN")
	if refused.str("reason") != "Sandbox only" {
		t.Errorf("reason %q", refused.str("reason"))
	}
	live.post("/quotes", ramp(customer, wallet, "SENDING", 10050)).refused(501, "NOT_IMPLEMENTED")
	live.patch("/config", object{"webhookEndpoint": "http://127.0.0.1:9/x"}).refused(400, "INVALID_INPUT")
	if got := h.books(live.platform); len(got) != 0 {
		t.Errorf("production books: %s", got)
	}
	// Magic identifiers mean nothing there.
	live.post("/customers/external-accounts", object{"customerId": customer, "currency": "BTC",
		"accountInfo": object{"accountType": "LAYER2_WALLET", "address": "spark1w105"}}).want(201)
}

func TestLogsKeepSecrets(t *testing.T) {
	t.Parallel()
	// Even at the most talkative level no line shows a secret or anything about a
	// person, and each failed request can be found by its id.
	h := newHouse(t, "--log-level", "debug")
	hooks := h.listen()
	customer := h.customer(object{"fullName": "Zacharias Quux", "email": "zacharias@example.com"})
	h.post("/customers/external-accounts", object{"customerId": customer, "currency": "USD", "accountInfo": object{
		"accountType": "US_ACCOUNT", "accountNumber": "77665544332211", "routingNumber": "021000021",
		"beneficiary": object{"beneficiaryType": "INDIVIDUAL", "fullName": "Zacharias Quux"}}}).want(201)
	h.get("/customers?umaAddress=" + "%24zacharias-quux@example.com")
	made := h.post("/tokens", object{"name": "x", "permissions": []string{"VIEW"}}).want(201)
	newClient(t, h.base, h.id, "guessed-secret").get("/config").want(401)
	quote := h.quote("")
	h.pay(quote, 0).want(200)
	hooks.end(quote.str("transactionId"), "COMPLETED")
	id := h.with("Request-Id", "99999999-2222-4333-8444-555555555555").get("/quotes/x").header.Get("Request-Id")

	h.server.log.await(t, "the line of the last request", func(line string) bool { return strings.Contains(line, id) })
	log := h.server.log.all()
	for _, secret := range []string{h.secret, made.str("clientSecret"), "guessed-secret", masterKey, "Zacharias", "zacharias", "Quux", "Ana Silva",
		"77665544332211", "Main Street", "1990-01-31"} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}
