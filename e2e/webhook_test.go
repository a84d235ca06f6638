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
)

func TestWebhookTest(t *testing.T) {
	t.Parallel()
	// Setting another URL sends one TEST there, setting the same again sends none, and
	// one that is refused is not tried again.
	h := newHouse(t)
	hooks := h.listen()
	tests := func() (n int) {
		hooks.mu.Lock()
		defer hooks.mu.Unlock()
		for _, d := range hooks.all {
			if d.event == "TEST" {
				n++
			}
		}
		return n
	}
	hooks.await("TEST", func(d delivery) bool { return d.event == "TEST" }).each(map[string]any{"type": "TEST"})

	h.patch("/config", object{"webhookEndpoint": hooks.server.URL + "/hooks"}).want(200)
	h.patch("/config", object{"umaDomain": "uma.example.org"}).want(200)
	hooks.answerWith(func(d delivery) int { return http.StatusInternalServerError })
	h.patch("/config", object{"webhookEndpoint": hooks.server.URL + "/elsewhere"}).want(200)

	refused := hooks.await("the second TEST", func(d delivery) bool { return d.event == "TEST" && d.status == 500 })
	until(t, "the end of the refused TEST", func() bool {
		return h.get("/webhook-deliveries/"+refused.id).str("status") == "FAILED"
	})
	hooks.answerWith(nil)
	// What comes after it is not held up, and shows that no third one came before.
	quote := h.quote("")
	hooks.end(quote.str("transactionId"), "PENDING")
	if n := tests(); n != 2 {
		t.Errorf("%d TEST events, want 2", n)
	}
}

func TestChangedEndpoint(t *testing.T) {
	t.Parallel()
	// From the moment a change of the endpoint is answered, everything goes to the new
	// one, its TEST before all.
	h := newHouse(t)
	hooks := h.listen()
	for _, path := range []string{"/second", "", "/third"} {
		endpoint := ""
		if path != "" {
			endpoint = hooks.server.URL + path
		}
		h.patch("/config", object{"webhookEndpoint": endpoint}).want(200)
		if path == "" {
			continue
		}
		hooks.await("TEST at "+path, func(d delivery) bool { return d.event == "TEST" && d.path == path })
		quote := h.quote("")
		if told := hooks.end(quote.str("transactionId"), "PENDING"); told.path != path {
			t.Errorf("PENDING came to %s, want %s", told.path, path)
		}
	}
}

func TestWebhookRetries(t *testing.T) {
	t.Parallel()
	// An event that is not accepted is sent again, the same byte for byte, until it is;
	// what comes after it in its transaction waits, other transactions do not. 409 says
	// that it was there already, and is enough.
	h := newHouse(t)
	hooks := h.listen()
	quote, other := h.quote(""), h.quote("")
	hooks.end(quote.str("transactionId"), "PENDING")
	var mu sync.Mutex
	refusals := 2
	hooks.answerWith(func(d delivery) int {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case d.about == quote.str("transactionId") && d.event == "OUTGOING_PAYMENT.PROCESSING" && refusals > 0:
			refusals--
			return http.StatusInternalServerError
		case d.about == quote.str("transactionId") && d.event == "OUTGOING_PAYMENT.COMPLETED":
			return http.StatusConflict
		}
		return http.StatusNoContent
	})

	h.pay(quote, 0).want(200)
	h.pay(other, 0).want(200)

	hooks.story(other.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	hooks.story(quote.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	processing := hooks.end(quote.str("transactionId"), "PROCESSING")
	attempts := hooks.attempts(processing.id)
	if len(attempts) != 3 {
		t.Fatalf("%d attempts, want 3", len(attempts))
	}
	for _, a := range attempts {
		if string(a.text) != string(attempts[0].text) {
			t.Errorf("another body:\n%s\n%s", attempts[0].text, a.text)
		}
	}
	completed := hooks.end(quote.str("transactionId"), "COMPLETED")
	until(t, "the log of the deliveries", func() bool {
		return h.get("/webhook-deliveries/"+completed.id).want(200).str("status") == "DELIVERED"
	})
	found := h.get("/webhook-deliveries/" + processing.id).want(200)
	found.each(map[string]any{"status": "DELIVERED", "event": "OUTGOING_PAYMENT.PROCESSING", "transactionId": quote.str("transactionId"),
		"attempts.0.outcome": "REFUSED", "attempts.0.statusCode": 500, "attempts.1.outcome": "REFUSED", "attempts.2.outcome": "ACCEPTED", "attempts.2.statusCode": 204,
		"body.webhookId": processing.id, "body.transaction.status": "PROCESSING"})
	h.get("/webhook-deliveries/" + completed.id).each(map[string]any{"attempts.0.outcome": "DUPLICATE"})
	if n := len(hooks.attempts(completed.id)); n != 1 {
		t.Errorf("%d attempts of an event that was there already", n)
	}
}

func TestDeadEndpoint(t *testing.T) {
	t.Parallel()
	// An endpoint that never answers, one that nobody listens at and one that redirects
	// delay no payment and no other platform; no redirect is followed.
	h := newHouse(t)
	hooks := h.listen()
	released, followed := make(chan struct{}), make(chan struct{}, 100)
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released }))
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed <- struct{}{} }))
	redirecting := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	gone := httptest.NewServer(nil)
	gone.Close()
	t.Cleanup(func() { close(released); slow.Close(); elsewhere.Close(); redirecting.Close() })

	var paid []answer
	for _, endpoint := range []string{slow.URL, gone.URL, redirecting.URL} {
		p := h.found("Dead", "SANDBOX", "--regulated")
		p.patch("/config", object{"webhookEndpoint": endpoint}).want(200)
		customer := p.customer()
		wallet := p.wallet(customer, "")
		for range 30 {
			quote := p.post("/quotes", ramp(customer, wallet, "SENDING", 10050)).want(201)
			p.pay(quote, 0).want(200)
			quote.t = t
			paid = append(paid, quote)
		}
	}
	began := time.Now()
	for range 20 {
		quote := h.quote("")
		h.pay(quote, 0).want(200)
		hooks.story(quote.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	}

	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("20 payments and their webhooks took %s beside dead endpoints", took)
	}
	until(t, "the payments of the platforms with dead endpoints", func() bool {
		return h.count("SELECT count(*) FROM transactions WHERE status = 'COMPLETED'") == int64(20+len(paid))
	})
	if len(followed) > 0 {
		t.Error("a redirect was followed")
	}
}

func TestRedelivery(t *testing.T) {
	t.Parallel()
	// What was delivered can be had again, one event or all of a span, with the same
	// ids; deliveries are listed with their filters, and each platform sees its own.
	h := newHouse(t)
	hooks := h.listen()
	quote := h.quote("")
	transaction := quote.str("transactionId")
	h.pay(quote, 0).want(200)
	completed := hooks.end(transaction, "COMPLETED")
	settled := func() bool {
		return len(h.get("/webhook-deliveries?status=DELIVERED&transactionId="+transaction).want(200).list("data")) == 3
	}
	until(t, "three deliveries", settled)

	if got := names(h.get("/webhook-deliveries?sortOrder=asc&transactionId=" + transaction)); !slices.Equal(got, []string{"PENDING", "PROCESSING", "COMPLETED"}) {
		t.Errorf("deliveries: %v", got)
	}
	if got := names(h.get("/webhook-deliveries?event=OUTGOING_PAYMENT.COMPLETED&status=DELIVERED&type=OUTGOING_PAYMENT")); !slices.Equal(got, []string{"COMPLETED"}) {
		t.Errorf("deliveries by event: %v", got)
	}
	other := h.found("Other", "SANDBOX")
	other.get("/webhook-deliveries/"+completed.id).refused(404, "NOT_FOUND")
	other.post("/webhook-deliveries/"+completed.id+"/redeliver", nil).refused(404, "NOT_FOUND")
	if n := len(other.get("/webhook-deliveries").want(200).list("data")); n != 0 {
		t.Errorf("another platform's deliveries: %d", n)
	}

	h.post("/webhook-deliveries/"+completed.id+"/redeliver", nil).want(200).each(map[string]any{"count": 1})
	hooks.await("the event again", func(d delivery) bool { return d.id == completed.id && d.again })
	until(t, "three deliveries", settled)
	h.get("/webhook-deliveries/" + completed.id).each(map[string]any{"attempts.1.outcome": "ACCEPTED", "attempts.1.number": 2})

	span := object{"startDate": quote.str("createdAt"), "endDate": stamp(time.Now())}
	h.post("/webhook-deliveries/redeliver", span).want(200).each(map[string]any{"count": 3})
	for _, name := range []string{"PENDING", "PROCESSING", "COMPLETED"} {
		hooks.await(name+" again", func(d delivery) bool {
			return d.about == transaction && d.event == "OUTGOING_PAYMENT."+name && d.again && d.at.After(completed.at)
		})
	}
	h.post("/webhook-deliveries/redeliver", object{"startDate": "x"}).refused(400, "INVALID_INPUT")
}

func names(page answer) []string {
	var all []string
	for i := range page.want(200).list("data") {
		all = append(all, strings.TrimPrefix(page.str(fmt.Sprintf("data.%d.event", i)), "OUTGOING_PAYMENT."))
	}
	return all
}

func TestWebhooksOfTwoProcesses(t *testing.T) {
	t.Parallel()
	// Two processes side by side tell each event of a transaction in order, one at a
	// time, and, as long as nothing fails, once; the receiver notes every breach.
	h := newHouse(t)
	servers := []*process{h.server, serve(t, h.database)}
	hooks := h.listen()
	customer := h.customer()
	wallet := h.wallet(customer, "")
	var group sync.WaitGroup
	var mu sync.Mutex
	var made []string
	for i := range 6 {
		group.Go(func() {
			for n := range 15 {
				one, two := h.at(servers[(i+n)%2]), h.at(servers[(i+n+1)%2])
				quote := one.post("/quotes", ramp(customer, wallet, "SENDING", 10050))
				two.post("/sandbox/send", object{"reference": quote.str("paymentInstructions.0.accountOrWalletInfo.reference"), "currencyCode": "USD"})
				mu.Lock()
				made = append(made, quote.str("transactionId"))
				mu.Unlock()
			}
		})
	}
	group.Wait()

	for _, transaction := range made {
		hooks.story(transaction, "PENDING", "PROCESSING", "COMPLETED")
	}
	hooks.mu.Lock()
	defer hooks.mu.Unlock()
	for _, d := range hooks.all {
		if d.again {
			t.Errorf("%s %s was sent again though it was accepted", d.event, d.id)
		}
	}
}

func TestWebhookKeys(t *testing.T) {
	t.Parallel()
	// Keys are published in both forms, every process signs with the same ones, and a
	// production platform has others.
	h := newHouse(t)
	second := serve(t, h.database)
	live := h.found("Live", "PRODUCTION")

	here, there := h.get("/webhook-keys").want(200), h.at(second).get("/webhook-keys").want(200)

	if string(here.text) != string(there.text) {
		t.Errorf("two processes publish different keys:\n%s\n%s", here.text, there.text)
	}
	algorithms := map[string]int{}
	for i := range here.list("data") {
		algorithms[here.str(fmt.Sprintf("data.%d.algorithm", i))]++
	}
	if algorithms["ECDSA_P256_SHA256"] != 1 || algorithms["ED25519"] != 1 {
		t.Errorf("algorithms %v", algorithms)
	}
	if production := live.get("/webhook-keys").want(200); production.str("data.0.id") == here.str("data.0.id") || len(production.list("data")) != 2 {
		t.Errorf("production keys: %s", production.text)
	}
	if strings.Contains(string(here.text), "PRIVATE") {
		t.Error("a private key is published")
	}
}

func TestNoEndpoint(t *testing.T) {
	t.Parallel()
	// Without an endpoint payments go on, and what happened meanwhile can be asked for
	// once there is one.
	h := newHouse(t)
	quote := h.quote("")
	h.pay(quote, 0).want(200)
	until(t, "completion", func() bool {
		return h.get("/transactions/"+quote.str("transactionId")).str("status") == "COMPLETED"
	})

	hooks := h.listen()
	from, to := quote.str("createdAt"), stamp(time.Now())
	h.get("/webhook-deliveries?startDate=" + url.QueryEscape(from) + "&endDate=" + url.QueryEscape(to)).want(200)
	h.post("/webhook-deliveries/redeliver", object{"startDate": from, "endDate": to}).want(200)

	hooks.story(quote.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
}
