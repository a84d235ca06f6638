package api_test

import (
	"fmt"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/core/platform"
)

func TestIdempotency_EveryPOSTRunsOnce(t *testing.T) {
	t.Parallel()
	// Every POST that is repeated under its key returns the first response, byte for byte,
	// and changes nothing; errors are repeated too; another request is refused.
	c := newClient(t)
	customer := c.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL", "fullName": "Ana Ng"}`).stringAt("id")
	for i, test := range []struct {
		path, body, other string
		status            int
	}{
		{"/customers", `{"customerType": "INDIVIDUAL", "platformCustomerId": "ana"}`, `{"customerType": "INDIVIDUAL"}`, 201},
		{"/customers", `{"customerType": "INDIVIDUAL", "platformCustomerId": "ana"}`, `{}`, 409},
		{"/customers", `{"customerType": "ROBOT"}`, `{"customerType": "INDIVIDUAL"}`, 400},
		{"/customers/external-accounts", `{"customerId": "` + customer +
			`", "currency": "BTC", "accountInfo": {"accountType": "LAYER2_WALLET", "address": "spark1a"}}`, `{}`, 201},
		{"/platform/external-accounts", `{"currency": "BTC", "accountInfo": {"accountType": "LAYER2_WALLET", "address": "spark1a"}}`, `{}`, 201},
		{"/platform/external-accounts", `{"currency": "BTC", "accountInfo": {"accountType": "LAYER2_WALLET", "address": "spark1a"}}`, `{}`, 409},
		{"/webhook-deliveries/redeliver", `{"startDate": "2026-03-14T12:00:00Z", "endDate": "2026-03-14T13:00:00Z"}`, `{}`, 200},
	} {
		keyed := c.withKey(fmt.Sprintf("key %d", i))

		first, again := keyed.must(test.status, "POST", test.path, test.body), keyed.must(test.status, "POST", test.path, test.body)

		if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" || first.rawBody != again.rawBody {
			t.Errorf("%d: first %v %s\nagain %v %s", i, first.header, first.rawBody, again.header, again.rawBody)
		}
		if a := keyed.must(422, "POST", test.path, test.other); a.stringAt("code") != "IDEMPOTENCY_KEY_REUSED" {
			t.Errorf("%d: another request: %s", i, a.rawBody)
		}
	}
	if n := len(c.must(200, "GET", "/customers", "").dataStrings("id")); n != 2 {
		t.Errorf("%d customers, want 2", n)
	}
	if n := len(c.webhooks.redeliveries); n != 1 {
		t.Errorf("%d redeliveries, want 1", n)
	}

	// Keys of other platforms are independent.
	c.createPlatform(t, platform.Sandbox).withKey("key 0").must(201, "POST", "/customers",
		`{"customerType": "INDIVIDUAL", "platformCustomerId": "ana"}`)
}

func TestIdempotency_TwoProcessesRunOnce(t *testing.T) {
	t.Parallel()
	// The same request reaches two processes at once, many times: both return the same,
	// and only one customer is created.
	url := pgtest.New(t)
	first, second := newTestServer(t, url), newTestServer(t, url)
	c := first.createPlatform(t, platform.Sandbox)
	const rounds = 25
	for round := range rounds {
		body := fmt.Sprintf(`{"customerType": "INDIVIDUAL", "platformCustomerId": "c%d"}`, round)
		replies := make(chan reply, 2)
		for _, process := range []*testServer{first, second} {
			keyed := c.withKey(fmt.Sprint("round ", round))
			keyed.testServer = process
			go func() { replies <- keyed.send("POST", "/customers", body) }()
		}

		one, other := <-replies, <-replies

		replayed := one.header.Get("Idempotent-Replayed") + other.header.Get("Idempotent-Replayed")
		if one.status != 201 || other.status != 201 || one.rawBody != other.rawBody || replayed != "true" {
			t.Errorf("round %d: %d %s\nand %d %s, replayed %q", round, one.status, one.rawBody, other.status, other.rawBody, replayed)
		}
	}
	if a := c.must(200, "GET", "/customers", ""); a.stringAt("totalCount") != fmt.Sprint(rounds) {
		t.Errorf("%s customers, want %d", a.stringAt("totalCount"), rounds)
	}
}
