package api_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/http/api"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/outbox"
	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/core/platform"
	"causeway/ports/portstest"
)

func TestListWebhookKeys_ByEnvironment(t *testing.T) {
	t.Parallel()
	// A platform sees the keys of its environment with their validity.
	c := newClient(t)

	c.must(200, "GET", "/webhook-keys", "").assertBody(t, `{"data": [
		{"id": "*", "algorithm": "ED25519", "publicKey": "pem of SANDBOX", "standardWebhooksKey": "whpk_1", "validFrom": "2026-03-14T12:00:00.000Z"},
		{"id": "*", "algorithm": "ECDSA_P256_SHA256", "publicKey": "old", "validFrom": "2026-03-14T11:00:00.000Z", "validUntil": "2026-03-14T12:00:00.000Z"}]}`)
	if got := c.createPlatform(t, platform.Production).must(200, "GET", "/webhook-keys",
		"").dataStrings("publicKey"); got[0] != "pem of PRODUCTION" {
		t.Errorf("in production: %q", got)
	}
}

func TestListDeliveries(t *testing.T) {
	t.Parallel()
	// A list has the status of each delivery, a single delivery also the body; filters and
	// pages apply.
	c := newClient(t)
	refused := event.Attempt{Number: 1, AttemptedAt: noon, Duration: 1500 * time.Microsecond, Outcome: event.Refused,
		StatusCode: 500, Response: "no"}
	var want []string
	for _, status := range []event.Status{event.Delivered, event.Failed, event.Pending, event.Unsent} {
		d := c.webhooks.addDelivery(c.tenant.Platform.ID, event.OutgoingPaymentCompleted, status, refused)
		want = append([]string{d.ID.String()}, want...)
	}
	test := c.webhooks.addDelivery(c.tenant.Platform.ID, event.TestSent, event.Delivered)
	c.webhooks.addDelivery(c.createPlatform(t, platform.Sandbox).tenant.Platform.ID, event.TestSent, event.Failed)

	c.must(200, "GET", "/webhook-deliveries/"+want[2], "").assertBody(t, `{"webhookId": "`+want[2]+
		`", "type": "OUTGOING_PAYMENT", "event": "OUTGOING_PAYMENT.COMPLETED",
		"transactionId": "Transaction:07000000-0000-0000-0000-000000000000", "status": "FAILED", "createdAt": "2026-03-14T12:00:00.000Z", "body": {"exactly": "this"},
		"attempts": [{"number": 1, "at": "2026-03-14T12:00:00.000Z", "durationMs": 2, "outcome": "REFUSED", "statusCode": 500, "response": "no"}]}`)
	c.must(200, "GET", "/webhook-deliveries/"+test.ID.String(), "").assertBody(t,
		`{"webhookId": "*", "type": "TEST", "event": "TEST", "status": "DELIVERED", "createdAt": "*", "attempts": [], "body": {"exactly": "this"}}`)
	c.must(200, "GET", "/webhook-deliveries?status=FAILED", "").assertBody(t,
		`{"data": [{"webhookId": "*", "type": "*", "event": "*", "transactionId": "*", "status": "FAILED",
		"attempts": ["*"], "createdAt": "*"}], "hasMore": false}`)

	var got []string
	for cursor := ""; ; {
		a := c.must(
			200, "GET", "/webhook-deliveries?limit=3&type=OUTGOING_PAYMENT&transactionId=Transaction:07000000-0000-0000-0000-000000000000&cursor="+
				cursor, "")
		got = append(got, a.dataStrings("webhookId")...)
		if cursor = a.stringAt("nextCursor"); cursor == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("walked %q\nwant %q", got, want)
	}
	for query, count := range map[string]int{"event=TEST": 1, "sortOrder=asc": 5, "startDate=2026-03-14T12:00:01Z": 0,
		"endDate=2026-03-14T12:00:00Z": 5} {
		if n := len(c.must(200, "GET", "/webhook-deliveries?"+query, "").dataStrings("webhookId")); n != count {
			t.Errorf("%s: %d, want %d", query, n, count)
		}
	}
	for query, field := range map[string]string{"status=LOST": "status", "transactionId=1": "transactionId", "cursor=x": "cursor"} {
		if a := c.send("GET", "/webhook-deliveries?"+query, ""); a.status != 400 || !slices.Equal(a.invalidFields(), []string{field}) {
			t.Errorf("%s: %d %s", query, a.status, a.rawBody)
		}
	}
}

func TestSandboxWebhookRequest(t *testing.T) {
	t.Parallel()
	// Who manages a sandbox platform reads an event as it would be sent: headers, and the body as text. Others do not, nor
	// another platform, nor one of production.
	c := newClient(t)
	d := c.webhooks.addDelivery(c.tenant.Platform.ID, event.OutgoingPaymentFailed, event.Unsent)
	path := "/sandbox/webhook-deliveries/" + d.ID.String() + "/request"

	c.must(200, "GET", path, "").assertBody(t, `{"webhookId": "`+d.ID.String()+`", "headers": {"webhook-id": "`+d.ID.String()+
		`"}, "body": "{\"exactly\":\"this\"}"}`)

	c.createPlatform(t, platform.Sandbox).must(404, "GET", path, "")
	c.createPlatform(t, platform.Production).must(403, "GET", path, "")
}

func TestRedeliver(t *testing.T) {
	t.Parallel()
	// One event or a time range is redelivered as requested; unknown events and invalid
	// ranges are refused.
	c := newClient(t)
	d := c.webhooks.addDelivery(c.tenant.Platform.ID, event.OutgoingPaymentFailed, event.Failed)

	c.must(200, "POST", "/webhook-deliveries/"+d.ID.String()+"/redeliver", "").assertBody(t, `{"count": 2}`)
	c.must(200, "POST", "/webhook-deliveries/redeliver",
		`{"startDate": "2026-03-14T12:00:00Z", "endDate": "2026-03-14T13:00:00+01:00", "status": "FAILED"}`).assertBody(t, `{"count": 1}`)

	if redeliveries := c.webhooks.redeliveries; len(redeliveries) != 2 || redeliveries[0].IDs[0] != d.ID ||
		redeliveries[1].Status != event.Failed || !redeliveries[1].Created.From.Equal(noon) ||
		!redeliveries[1].Created.To.Equal(noon.Add(time.Millisecond)) {
		t.Errorf("redeliveries %+v", redeliveries)
	}
	other := c.createPlatform(t, platform.Sandbox)
	other.must(404, "POST", "/webhook-deliveries/"+d.ID.String()+"/redeliver", "")
	other.must(404, "GET", "/webhook-deliveries/"+d.ID.String(), "")
	for body, want := range map[string]string{
		`{}`: "endDate startDate",
		`{"startDate": "2026-03-14T12:00:00Z", "endDate": "2026-03-14T11:00:00Z", "status": "LOST"}`: "endDate status",
	} {
		if a := c.send("POST", "/webhook-deliveries/redeliver", body); a.status != 400 || strings.Join(a.invalidFields(), " ") != want {
			t.Errorf("%s: %d %q", body, a.status, a.invalidFields())
		}
	}
}

func TestListDeliveries_ShowsTestEvent(t *testing.T) {
	t.Parallel()
	// Setting the endpoint adds a PENDING TEST event to the real log, with its body; the
	// log of another platform is empty.
	d := newTestServer(t, pgtest.New(t), func(deps *api.Deps, store *postgres.DB) {
		deps.Webhooks = webhooks.New(webhooks.Config{Log: outbox.NewLog(store.Pool(), nil), Events: api.Events,
			Clock: portstest.NewFakeClock(noon), IDs: idGenerator})
	})
	c := d.createPlatform(t, platform.Sandbox)
	c.must(200, "PATCH", "/config", `{"webhookEndpoint": "https://example.com/hook"}`)

	listed := c.must(200, "GET", "/webhook-deliveries?event=TEST&status=PENDING", "")
	listed.assertBody(
		t, `{"data": [{"webhookId": "*", "type": "TEST", "event": "TEST", "status": "PENDING", "attempts": [], "createdAt": "2026-03-14T12:00:00.000Z"}], "hasMore": false}`)
	id := listed.dataStrings("webhookId")[0]

	c.must(200, "GET", "/webhook-deliveries/"+id, "").assertBody(t,
		`{"webhookId": "*", "type": "TEST", "event": "TEST", "status": "PENDING", "attempts": [], "createdAt": "*",
		"body": {"webhookId": "`+id+`", "type": "TEST", "event": "TEST", "timestamp": "2026-03-14T12:00:00.000Z"}}`)
	c.must(200, "POST", "/webhook-deliveries/"+id+"/redeliver", "").assertBody(t, `{"count": 0}`)
	if a := c.must(400, "GET", "/webhook-deliveries?event=SNOW", ""); !slices.Equal(a.invalidFields(), []string{"event"}) {
		t.Errorf("an event that does not exist: %s", a.rawBody)
	}

	other := d.createPlatform(t, platform.Sandbox)
	other.must(404, "GET", "/webhook-deliveries/"+id, "")
	other.must(404, "POST", "/webhook-deliveries/"+id+"/redeliver", "")
	other.must(200, "GET", "/webhook-deliveries", "").assertBody(t, `{"data": [], "hasMore": false}`)
}
