package api_test

import (
	"slices"
	"strings"
	"testing"
)

func TestToken_Lifecycle(t *testing.T) {
	t.Parallel()
	// A token is created with a secret that is returned once, works at once, is listed,
	// and stops working when it is deleted.
	c := newClient(t)

	created := c.must(201, "POST", "/tokens", `{"name": " Web ", "permissions": ["VIEW", "MANAGE", "VIEW"]}`)
	created.assertBody(
		t, `{"id": "*", "name": "Web", "permissions": ["MANAGE", "VIEW"], "clientId": "*", "clientSecret": "*", "createdAt": "*", "updatedAt": "*"}`)
	web := *c
	web.user, web.password = created.stringAt("clientId"), created.stringAt("clientSecret")

	web.must(200, "GET", "/tokens/"+created.stringAt("id"), "").assertBody(t,
		`{"id": "`+created.stringAt("id")+`", "name": "Web", "permissions": ["MANAGE", "VIEW"], "clientId": "`+web.user+
			`", "createdAt": "*", "updatedAt": "*"}`)
	if got, want := web.must(200, "GET", "/tokens", "").dataStrings("id"),
		[]string{created.stringAt("id"), c.tenant.Token.ID.String()}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	if got := web.must(200, "GET", "/tokens?name=Web&createdBefore=2026-03-14T12:00:00Z", "").dataStrings("name"); !slices.Equal(got,
		[]string{"Web"}) {
		t.Errorf("listed by name %q", got)
	}
	if a := web.must(204, "DELETE", "/tokens/"+created.stringAt("id"), ""); a.rawBody != "" {
		t.Errorf("deleted with a body: %s", a.rawBody)
	}
	web.must(401, "GET", "/tokens", "").assertBody(t,
		`{"status": 401, "code": "UNAUTHORIZED", "message": "*", "reason": "Invalid credentials", "details": {"reason": "Invalid credentials"}}`)
	if a := c.must(409, "DELETE", "/tokens/"+c.tenant.Token.ID.String(), ""); a.stringAt("code") != "CONFLICT" || a.stringAt("reason") == "" {
		t.Errorf("the last token: %s", a.rawBody)
	}
}

func TestCreateToken_ReplayOmitsSecret(t *testing.T) {
	t.Parallel()
	// The repeated request creates no second token; its response has everything but the
	// secret.
	c := newClient(t).withKey("key")
	body := `{"name": "web", "permissions": ["VIEW"]}`

	first, again := c.must(201, "POST", "/tokens", body), c.must(201, "POST", "/tokens", body)

	if first.header.Get("Idempotent-Replayed") != "" || len(first.stringAt("clientSecret")) != 64 {
		t.Errorf("the first response: %v %s", first.header, first.rawBody)
	}
	if again.header.Get("Idempotent-Replayed") != "true" || again.stringAt("clientSecret") != "" ||
		again.stringAt("id") != first.stringAt("id") {
		t.Errorf("the second response: %v %s", again.header, again.rawBody)
	}
	if n := len(c.must(200, "GET", "/tokens", "").dataStrings("id")); n != 2 {
		t.Errorf("%d tokens, want the first and the new one", n)
	}
}

func TestCreateToken_ListsAllInvalidFields(t *testing.T) {
	t.Parallel()
	// All invalid fields are listed by path.
	c := newClient(t)
	for body, want := range map[string][]string{
		`{}`:                                {"name", "permissions"},
		`{"name": 1, "permissions": "ALL"}`: {"name", "permissions"},
		`{"name": "  ", "permissions": ["VIEW", "ALL", 3]}`:                     {"name", "permissions[1]", "permissions[2]"},
		`{"name": "", "permissions": []}`:                                       {"name", "permissions"},
		`{"name": "` + strings.Repeat("x", 201) + `", "permissions": ["VIEW"]}`: {"name"},
	} {
		if a := c.send("POST", "/tokens", body); a.status != 400 || !slices.Equal(a.invalidFields(), want) {
			t.Errorf("%.60s: %d %q, want %q", body, a.status, a.invalidFields(), want)
		}
	}
	for path, status := range map[string]int{
		"/tokens/1": 400, "/tokens/Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b": 400, "/tokens/Token:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b": 404,
		"/tokens?limit=0": 400, "/tokens?limit=101": 400, "/tokens?cursor=nonsense": 400, "/tokens?createdAfter=today": 400,
	} {
		if a := c.send("GET", path, ""); a.status != status {
			t.Errorf("GET %s: %d %s", path, a.status, a.rawBody)
		}
	}
}
