package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"causeway/adapters/apiclient"
)

func TestRequestLogs_ReadWithTheCommand(t *testing.T) {
	t.Parallel()
	// Good and bad requests are followed and listed as they are answered, filtered, and shown with masked bodies: no name, account
	// number or secret is printed, or stored. After the process was killed and started again, they are there, and the reader goes on.
	h := newTestEnv(t)
	h.tenant = h.createPlatform("Logged", "SANDBOX")
	follow := startProcess(t, h.tokenEnv(), "logs", "--follow")
	follow.awaitLine("Following the requests")
	const name, number, key = "Ana Maria Lima", "123456789", "order-77"
	created := h.post("/customers", object{"customerType": "INDIVIDUAL", "platformCustomerId": "ana-77", "fullName": name,
		"birthDate": "1990-02-03", "nationality": "PT", "region": "US", "email": "ana77@example.com"})
	created.wantStatus(201)
	account := object{"currency": "USD", "accountInfo": object{"accountType": "US_ACCOUNT", "accountNumber": number, "routingNumber": "1",
		"beneficiary": object{"beneficiaryType": "INDIVIDUAL", "fullName": name}}}
	refused, err := h.Client.Do(t.Context(), apiclient.Request{Method: http.MethodPost, Path: "/customers/external-accounts", Body: account,
		IdempotencyKey: key})
	if err != nil || refused.Status != 400 {
		t.Fatalf("%v, %+v", err, refused)
	}
	secret := h.post("/tokens", object{"name": "Reports of Ana", "permissions": []any{"VIEW"}}).wantStatus(201).text("clientSecret")
	h.get("/customers/" + name).wantStatus(400)
	wrong := h.Client
	wrong.ClientSecret = secret
	if r, err := wrong.Do(t.Context(), apiclient.Request{Method: http.MethodGet, Path: "/config"}); err != nil || r.Status != 401 {
		t.Fatalf("%v, %+v", err, r)
	}

	for _, line := range []string{"201 POST   /2025-10-13/customers ", "400 POST   /2025-10-13/customers/external-accounts ",
		"201 POST   /2025-10-13/tokens ", "400 GET    /2025-10-13/customers/*** ", "401 GET    /2025-10-13/config "} {
		follow.awaitLine(line)
	}
	list := func(args ...string) (rows []map[string]any) {
		t.Helper()
		out := mustRunCommand(t, h.tokenEnv(), append([]string{"logs", "--output", "json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &rows); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return rows
	}
	byKey := list("--idempotency-key", key)
	if len(byKey) != 1 || byKey[0]["request_id"] != refused.Header.Get("Request-Id") || byKey[0]["code"] != "INVALID_INPUT" {
		t.Fatalf("by key: %v", byKey)
	}
	for args, want := range map[string]int{"--status 4xx": 3, "--status 401,404": 1, "--status 5xx": 0, "--operation createToken": 1,
		"--path /customers": 3, "--method post --status 400": 1, "--limit 2": 2, "--request-id " + refused.Header.Get("Request-Id"): 1} {
		if rows := list(strings.Fields(args)...); len(rows) != want {
			t.Errorf("%s: %d requests, want %d: %v", args, len(rows), want, rows)
		}
	}
	printed := mustRunCommand(t, h.tokenEnv(), "logs", "--output", "csv")
	for _, row := range list() {
		printed += mustRunCommand(t, h.tokenEnv(), "logs", "show", row["id"].(string))
	}
	if !strings.Contains(printed, `"customerType": "INDIVIDUAL"`) || !strings.Contains(printed, created.text("id")) ||
		!strings.Contains(printed, `"field": "accountInfo.routingNumber"`) {
		t.Errorf("printed %s", printed)
	}
	var stored string
	if err := h.db.QueryRow(`SELECT string_agg(r::text, ' ') FROM request_log r`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	for _, masked := range []string{name, "ANA MARIA", "Lima", number, "1990-02-03", "ana-77", "ana77", secret, h.ClientSecret, "Reports of"} {
		if strings.Contains(printed, masked) || strings.Contains(stored, masked) {
			t.Errorf("%s is in the log", masked)
		}
	}

	before := len(list())
	address := strings.TrimPrefix(h.server.rootURL(), "http://")
	h.server.kill()
	h.server = startServer(t, h.databaseURL, "--listen", address)
	if after := len(list()); after != before {
		t.Errorf("%d requests after the restart, before there were %d", after, before)
	}
	h.get("/customers/" + created.text("id")).wantStatus(200)
	follow.awaitLine("200 GET    /2025-10-13/customers/" + created.text("id"))
	h.server.terminate() // writes what waits
	h.server = startServer(t, h.databaseURL, "--listen", address)
	if after := len(list()); after != before+1 {
		t.Errorf("%d requests after the second restart, want %d", after, before+1)
	}
	follow.terminate()
}

func TestRequestLogs_Refusals(t *testing.T) {
	t.Parallel()
	// Wrong arguments and credentials end the command, and say why. Another platform's requests are not there.
	h := newSharedEnv(t)
	other := h.createPlatform("Other", "PRODUCTION")
	h.get("/quote").wantStatus(404)
	eventually(t, "the request is in the log", func() bool { return len(h.get("/request-logs?status=404").wantStatus(200).list("data")) == 1 })
	id := h.get("/request-logs?status=404").text("data.0.id")
	if out := mustRunCommand(t, other.tokenEnv(), "logs"); !strings.Contains(out, "There are no such requests in the log.") {
		t.Errorf("of the other platform: %s", out)
	}
	for _, c := range []struct {
		env  []string
		args []string
		want string
	}{
		{h.tokenEnv(), []string{"logs", "--status", "6xx"}, "status[0]: must be a status such as 409, or a class such as 4xx"},
		{h.tokenEnv(), []string{"logs", "--limit", "0"}, "--limit must be from 1 to 10000, not 0"},
		{h.tokenEnv(), []string{"logs", "--follow", "--output", "csv"}, "--follow prints lines"},
		{h.tokenEnv(), []string{"logs", "--follow", "--to", "2026-01-01T00:00:00Z"}, "--follow has no end"},
		{h.tokenEnv(), []string{"logs", "show", "Quote:1"}, "must be an id of the form RequestLog:<uuid>"},
		{other.tokenEnv(), []string{"logs", "show", id}, "404 NOT_FOUND"},
		{append(h.tokenEnv(), "CAUSEWAY_CLIENT_SECRET=wrong"), []string{"logs", "--follow"}, "401"},
		{nil, []string{"logs"}, "credentials.json does not exist"},
	} {
		_, errOut, status := runCommand(t, c.env, c.args...)
		if status != 1 || !strings.Contains(errOut, c.want) {
			t.Errorf("%v: status %d, %s", c.args, status, errOut)
		}
	}
}
