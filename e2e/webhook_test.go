package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/core/event"
	"causeway/e2e/kit"
)

func TestWebhook_TestEventOnEndpointChange(t *testing.T) {
	t.Parallel()
	// Another URL gets one TEST event, setting the same again sends none, and a rejected one
	// is not repeated.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	tests := func() (n int) {
		hooks.mu.Lock()
		defer hooks.mu.Unlock()
		for _, d := range hooks.deliveries {
			if d.event == "TEST" {
				n++
			}
		}
		return n
	}
	hooks.awaitDelivery("TEST", func(d delivery) bool { return d.event == "TEST" }).wantValues(map[string]any{"type": "TEST"})

	h.patch("/config", object{"webhookEndpoint": hooks.url}).wantStatus(200)
	h.patch("/config", object{"umaDomain": "uma.example.org"}).wantStatus(200)
	hooks.respondWith(func(d delivery) int { return http.StatusInternalServerError })
	h.patch("/config", object{"webhookEndpoint": strings.Replace(hooks.url, "/hooks", "/elsewhere", 1)}).wantStatus(200)

	rejected := hooks.awaitDelivery("the second TEST", func(d delivery) bool { return d.event == "TEST" && d.responseStatus == 500 })
	eventually(t, "the end of the rejected TEST", func() bool {
		return h.get("/webhook-deliveries/"+rejected.id).text("status") == "FAILED"
	})
	hooks.respondWith(nil)
	// Later events are not delayed, and show that there was no third one.
	quote := h.createQuote("")
	hooks.awaitOutgoingEvent(quote.text("transactionId"), "PENDING")
	if n := tests(); n != 2 {
		t.Errorf("%d TEST events, want 2", n)
	}
}

func TestWebhook_EndpointChangeTakesEffectAtOnce(t *testing.T) {
	t.Parallel()
	// After the response to a change of the endpoint, everything is sent to the new one, its
	// TEST event first.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	for _, path := range []string{"/second", "", "/third"} {
		endpoint := ""
		if path != "" {
			endpoint = strings.Replace(hooks.url, "/hooks", path, 1)
		}
		h.patch("/config", object{"webhookEndpoint": endpoint}).wantStatus(200)
		if path == "" {
			continue
		}
		hooks.awaitDelivery("TEST at "+path, func(d delivery) bool { return d.event == "TEST" && d.path == path })
		quote := h.createQuote("")
		if received := hooks.awaitOutgoingEvent(quote.text("transactionId"), "PENDING"); received.path != path {
			t.Errorf("PENDING was sent to %s, want %s", received.path, path)
		}
	}
}

func TestWebhook_RetriesKeepOrder(t *testing.T) {
	t.Parallel()
	// An event that is not accepted is sent again, byte for byte, until it is; later events of
	// its transaction wait, other transactions do not. 409 means that it was received before,
	// and accepts it.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	quote, other := h.createQuote(""), h.createQuote("")
	hooks.awaitOutgoingEvent(quote.text("transactionId"), "PENDING")
	var mu sync.Mutex
	rejections := 2
	hooks.respondWith(func(d delivery) int {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case d.transactionID == quote.text("transactionId") && d.event == "OUTGOING_PAYMENT.PROCESSING" && rejections > 0:
			rejections--
			return http.StatusInternalServerError
		case d.transactionID == quote.text("transactionId") && d.event == "OUTGOING_PAYMENT.COMPLETED":
			return http.StatusConflict
		}
		return http.StatusNoContent
	})

	h.payQuote(quote, 0).wantStatus(200)
	h.payQuote(other, 0).wantStatus(200)

	hooks.checkEvents(other.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	processing := hooks.awaitOutgoingEvent(quote.text("transactionId"), "PROCESSING")
	attempts := hooks.attempts(processing.id)
	if len(attempts) != 3 {
		t.Fatalf("%d attempts, want 3", len(attempts))
	}
	for _, a := range attempts {
		if string(a.body) != string(attempts[0].body) {
			t.Errorf("another body:\n%s\n%s", attempts[0].body, a.body)
		}
	}
	completed := hooks.awaitOutgoingEvent(quote.text("transactionId"), "COMPLETED")
	eventually(t, "the list of deliveries", func() bool {
		return h.get("/webhook-deliveries/"+completed.id).wantStatus(200).text("status") == "DELIVERED"
	})
	found := h.get("/webhook-deliveries/" + processing.id).wantStatus(200)
	found.wantValues(map[string]any{"status": "DELIVERED", "event": "OUTGOING_PAYMENT.PROCESSING",
		"transactionId":      quote.text("transactionId"),
		"attempts.0.outcome": "REFUSED", "attempts.0.statusCode": 500, "attempts.1.outcome": "REFUSED", "attempts.2.outcome": "ACCEPTED",
		"attempts.2.statusCode": 204,
		"body.webhookId":        processing.id, "body.transaction.status": "PROCESSING"})
	h.get("/webhook-deliveries/" + completed.id).wantValues(map[string]any{"attempts.0.outcome": "DUPLICATE"})
	if n := len(hooks.attempts(completed.id)); n != 1 {
		t.Errorf("%d attempts of an event that was received before", n)
	}
}

func TestWebhook_UnreachableEndpointDelaysNoOtherPlatform(t *testing.T) {
	t.Parallel()
	// An endpoint that never responds, one that refuses connections and one that redirects
	// delay no payment and no other platform; no redirect is followed.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	released, followed := make(chan struct{}), make(chan struct{}, 100)
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released }))
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed <- struct{}{} }))
	redirecting := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	gone := httptest.NewServer(nil)
	gone.Close()
	t.Cleanup(func() { close(released); slow.Close(); elsewhere.Close(); redirecting.Close() })

	var paid []apiResponse
	for _, endpoint := range []string{slow.URL, gone.URL, redirecting.URL} {
		p := h.createPlatform("Dead", "SANDBOX", "--regulated")
		p.patch("/config", object{"webhookEndpoint": endpoint}).wantStatus(200)
		customer := p.createCustomer()
		wallet := p.createWallet(customer, "")
		for range 30 {
			quote := p.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10050)).wantStatus(201)
			p.payQuote(quote, 0).wantStatus(200)
			quote.t = t
			paid = append(paid, quote)
		}
	}
	const payments = 20
	began := time.Now()
	for range payments {
		quote := h.createQuote("")
		h.payQuote(quote, 0).wantStatus(200)
		hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	}

	// They would take more than twice that long if each waited for an endpoint that does not respond.
	if took := time.Since(began); took > payments*event.Timeout/2 {
		t.Errorf("%d payments and their webhooks took %s with unreachable endpoints", payments, took)
	}
	eventually(t, "the payments of the platforms with unreachable endpoints", func() bool {
		return h.queryInt("SELECT count(*) FROM transactions WHERE status = 'COMPLETED'") == int64(payments+len(paid))
	})
	if len(followed) > 0 {
		t.Error("a redirect was followed")
	}
}

func TestWebhook_Redelivery(t *testing.T) {
	t.Parallel()
	// Delivered events can be sent again, one or all of a time range, with the same ids;
	// deliveries are listed with filters, and each platform sees its own.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	quote := h.createQuote("")
	transaction := quote.text("transactionId")
	h.payQuote(quote, 0).wantStatus(200)
	completed := hooks.awaitOutgoingEvent(transaction, "COMPLETED")
	settled := func() bool {
		return len(h.get("/webhook-deliveries?status=DELIVERED&transactionId="+transaction).wantStatus(200).list("data")) == 3
	}
	eventually(t, "three deliveries", settled)

	if got := eventNames(h.get("/webhook-deliveries?sortOrder=asc&transactionId=" + transaction)); !slices.Equal(got,
		[]string{"PENDING", "PROCESSING", "COMPLETED"}) {
		t.Errorf("deliveries: %v", got)
	}
	if got := eventNames(h.get("/webhook-deliveries?event=OUTGOING_PAYMENT.COMPLETED&status=DELIVERED&type=OUTGOING_PAYMENT")); !slices.Equal(
		got, []string{"COMPLETED"}) {
		t.Errorf("deliveries by event: %v", got)
	}
	other := h.createPlatform("Other", "SANDBOX")
	other.get("/webhook-deliveries/"+completed.id).wantError(404, "NOT_FOUND")
	other.post("/webhook-deliveries/"+completed.id+"/redeliver", nil).wantError(404, "NOT_FOUND")
	if n := len(other.get("/webhook-deliveries").wantStatus(200).list("data")); n != 0 {
		t.Errorf("another platform's deliveries: %d", n)
	}

	h.post("/webhook-deliveries/"+completed.id+"/redeliver", nil).wantStatus(200).wantValues(map[string]any{"count": 1})
	hooks.awaitDelivery("the event again", func(d delivery) bool { return d.id == completed.id && d.repeated })
	eventually(t, "three deliveries", settled)
	h.get("/webhook-deliveries/" + completed.id).wantValues(map[string]any{"attempts.1.outcome": "ACCEPTED", "attempts.1.number": 2})

	span := object{"startDate": quote.text("createdAt"), "endDate": formatTimestamp(time.Now())}
	h.post("/webhook-deliveries/redeliver", span).wantStatus(200).wantValues(map[string]any{"count": 3})
	for _, name := range []string{"PENDING", "PROCESSING", "COMPLETED"} {
		hooks.awaitDelivery(name+" again", func(d delivery) bool {
			return d.transactionID == transaction && d.event == "OUTGOING_PAYMENT."+name && d.repeated && d.receivedAt.After(completed.receivedAt)
		})
	}
	h.post("/webhook-deliveries/redeliver", object{"startDate": "x"}).wantError(400, "INVALID_INPUT")
}

func eventNames(page apiResponse) []string {
	var all []string
	for i := range page.wantStatus(200).list("data") {
		all = append(all, strings.TrimPrefix(page.text(fmt.Sprintf("data.%d.event", i)), "OUTGOING_PAYMENT."))
	}
	return all
}

func TestWebhook_TwoServersKeepOrder(t *testing.T) {
	t.Parallel()
	// Two servers send the events of a transaction in order, one at a time, and, if nothing
	// fails, once; the receiver fails the test otherwise.
	h := newTestEnv(t)
	servers := []*process{h.server, startServer(t, h.databaseURL)}
	hooks := h.startReceiver()
	customer := h.createCustomer()
	wallet := h.createWallet(customer, "")
	var group sync.WaitGroup
	var mu sync.Mutex
	var transactions []string
	for i := range 6 {
		group.Go(func() {
			for n := range 15 {
				one, two := h.withServer(servers[(i+n)%2]), h.withServer(servers[(i+n+1)%2])
				quote := one.post("/quotes", kit.RampQuoteBody(customer, wallet, "SENDING", 10050))
				two.post("/sandbox/send", object{"reference": quote.text("paymentInstructions.0.accountOrWalletInfo.reference"), "currencyCode": "USD"})
				mu.Lock()
				transactions = append(transactions, quote.text("transactionId"))
				mu.Unlock()
			}
		})
	}
	group.Wait()

	for _, transaction := range transactions {
		hooks.checkEvents(transaction, "PENDING", "PROCESSING", "COMPLETED")
	}
	hooks.mu.Lock()
	defer hooks.mu.Unlock()
	for _, d := range hooks.deliveries {
		if d.repeated {
			t.Errorf("%s %s was sent again after it was accepted", d.event, d.id)
		}
	}
}

func TestWebhook_PrivateAddressesNeedSwitch(t *testing.T) {
	t.Parallel()
	// Without --allow-private-webhooks a private address is refused as the endpoint, and no request is made to a name that has one. With
	// it a test event shows the response.
	h := newTestEnv(t, "--allow-private-webhooks=false")
	requested := make(chan struct{}, 100)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requested <- struct{}{}
		fmt.Fprint(w, "internal")
	}))
	defer endpoint.Close()
	refused := h.patch("/config", object{"webhookEndpoint": endpoint.URL}).wantError(400, "INVALID_INPUT")
	if field := refused.text("details.errors.0.field"); field != "webhookEndpoint" {
		t.Errorf("the invalid field is %q: %s", field, refused.body)
	}
	h.patch("/config", object{"webhookEndpoint": strings.Replace(endpoint.URL, "127.0.0.1", "localhost", 1)}).wantStatus(200)

	h.post("/sandbox/webhooks/test", nil).wantError(400, "WEBHOOK_DELIVERY_ERROR")
	eventually(t, "the attempt of the queued TEST event", func() bool {
		return h.get("/webhook-deliveries?status=FAILED").text("data.1.attempts.0.outcome") == "FORBIDDEN"
	})
	if len(requested) > 0 {
		t.Error("the endpoint received a request")
	}

	allowed := h.withServer(startServer(t, h.databaseURL))
	allowed.post("/sandbox/webhooks/test", nil).wantStatus(200).wantValues(map[string]any{"response_status": 200, "response_body": "internal"})
}

func TestWebhook_PublishedKeys(t *testing.T) {
	t.Parallel()
	// Keys are published in both forms, all servers sign with the same ones, and a production
	// platform has others.
	h := newSharedEnv(t)
	second := secondServer(t)
	live := h.createPlatform("Live", "PRODUCTION")

	firstKeys, secondKeys := h.get("/webhook-keys").wantStatus(200), h.withServer(second).get("/webhook-keys").wantStatus(200)

	if string(firstKeys.body) != string(secondKeys.body) {
		t.Errorf("two processes publish different keys:\n%s\n%s", firstKeys.body, secondKeys.body)
	}
	algorithms := map[string]int{}
	for i := range firstKeys.list("data") {
		algorithms[firstKeys.text(fmt.Sprintf("data.%d.algorithm", i))]++
	}
	if algorithms["ECDSA_P256_SHA256"] != 1 || algorithms["ED25519"] != 1 {
		t.Errorf("algorithms %v", algorithms)
	}
	if production := live.get("/webhook-keys").wantStatus(200); production.text("data.0.id") == firstKeys.text("data.0.id") ||
		len(production.list("data")) != 2 {
		t.Errorf("production keys: %s", production.body)
	}
	if strings.Contains(string(firstKeys.body), "PRIVATE") {
		t.Error("a private key is published")
	}
}

func TestWebhook_EventsBeforeEndpointCanBeRedelivered(t *testing.T) {
	t.Parallel()
	// Without an endpoint payments continue, and their events can be sent once there is one.
	h := newSharedEnv(t)
	quote := h.createQuote("")
	h.payQuote(quote, 0).wantStatus(200)
	eventually(t, "completion", func() bool {
		return h.get("/transactions/"+quote.text("transactionId")).text("status") == "COMPLETED"
	})

	hooks := h.startReceiver()
	from, to := quote.text("createdAt"), formatTimestamp(time.Now())
	h.get("/webhook-deliveries?startDate=" + url.QueryEscape(from) + "&endDate=" + url.QueryEscape(to)).wantStatus(200)
	h.post("/webhook-deliveries/redeliver", object{"startDate": from, "endDate": to}).wantStatus(200)

	hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
}
