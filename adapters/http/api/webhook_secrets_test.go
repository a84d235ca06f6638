package api_test

import (
	"testing"

	"causeway/core/platform"
)

func TestWebhookSecrets(t *testing.T) {
	t.Parallel()
	// A secret is shown when it is created, and never again. The previous one ends after the overlap,
	// a third is refused, and a deleted one is gone. A platform sees only its own.
	c := newClient(t)
	first := c.must(201, "POST", "/webhook-secrets", "")
	first.assertBody(t, `{"id": "*", "secret": "*", "createdAt": "2026-03-14T12:00:00.000Z"}`)
	if got, want := first.stringAt("secret"), "whsec_"+first.stringAt("id"); got != want {
		t.Errorf("the secret is %q, want %q", got, want)
	}

	second := c.must(201, "POST", "/webhook-secrets", `{"overlapSeconds": 3600}`)
	c.must(200, "GET", "/webhook-secrets", "").assertBody(t, `{"data": [
		{"id": "`+second.stringAt("id")+`", "createdAt": "2026-03-14T12:00:00.000Z"},
		{"id": "`+first.stringAt("id")+`", "createdAt": "2026-03-14T12:00:00.000Z", "validUntil": "2026-03-14T13:00:00.000Z"}]}`)

	if got := c.send("POST", "/webhook-secrets", ""); got.status != 409 || got.stringAt("code") != "CONFLICT" {
		t.Errorf("a third: %d %s", got.status, got.rawBody)
	}
	for _, body := range []string{`{"overlapSeconds": -1}`, `{"overlapSeconds": 604801}`} {
		if got := c.send("POST", "/webhook-secrets", body); got.status != 400 {
			t.Errorf("%s: %d %s", body, got.status, got.rawBody)
		}
	}
	other := c.createPlatform(t, platform.Sandbox)
	if got := other.send("DELETE", "/webhook-secrets/"+first.stringAt("id"), ""); got.status != 404 {
		t.Errorf("by another platform: %d %s", got.status, got.rawBody)
	}
	other.must(200, "GET", "/webhook-secrets", "").assertBody(t, `{"data": []}`)

	c.must(204, "DELETE", "/webhook-secrets/"+first.stringAt("id"), "")
	if got := c.must(200, "GET", "/webhook-secrets", "").dataStrings("id"); len(got) != 1 || got[0] != second.stringAt("id") {
		t.Errorf("afterwards %q", got)
	}
	if got := c.send("DELETE", "/webhook-secrets/"+first.stringAt("id"), ""); got.status != 404 {
		t.Errorf("again: %d %s", got.status, got.rawBody)
	}
}
