package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/apiclient"
)

// tokenEnv names the service and the token of a platform to a command.
func (p *tenant) tokenEnv() []string {
	return []string{"CAUSEWAY_BASE_URL=" + p.BaseURL, "CAUSEWAY_CLIENT_ID=" + p.ClientID, "CAUSEWAY_CLIENT_SECRET=" + p.ClientSecret}
}

func TestListen_ForwardsSignedOnceAcrossRestart(t *testing.T) {
	t.Parallel()
	// A platform without an endpoint: each event is forwarded once, with exact body and valid signatures, also those that
	// happen while the service restarts; other events are not. Ctrl-C ends the command, and the answers are printed.
	h := newTestEnv(t)
	verifier := apiclient.NewVerifier(&h.Client)
	var mu sync.Mutex
	var events, ids []string
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = verifier.Verify(r.Context(), r.Header, body, time.Now())
		}
		if err != nil {
			t.Errorf("%v: %s", err, body)
		}
		mu.Lock()
		defer mu.Unlock()
		document, _ := apiclient.ParseJSON(body)
		if id := apiclient.Text(document, "webhookId"); slices.Contains(ids, id) {
			t.Errorf("%s was forwarded twice", id)
		} else {
			ids = append(ids, id)
		}
		events = append(events, apiclient.Text(document, "transaction.id")+" "+apiclient.Text(document, "event"))
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(local.Close)
	before := h.createQuote("")
	listen := startProcess(t, h.tokenEnv(), "listen", "--forward-to", local.URL, "--events",
		"OUTGOING_PAYMENT.PENDING,OUTGOING_PAYMENT.COMPLETED")
	listen.awaitLine("Listening to webhooks")
	forwarded := func(transaction string) []string {
		mu.Lock()
		defer mu.Unlock()
		var found []string
		for _, e := range events {
			if name, ok := strings.CutPrefix(e, transaction+" OUTGOING_PAYMENT."); ok {
				found = append(found, name)
			}
		}
		return found
	}

	first := h.createQuote("").text("transactionId")
	eventually(t, "the first event", func() bool { return slices.Equal(forwarded(first), []string{"PENDING"}) })
	second := h.createQuote("")
	h.payQuote(second, 0).wantStatus(200)
	address := strings.TrimPrefix(h.server.rootURL(), "http://")
	h.server.terminate()
	h.server = startServer(t, h.databaseURL, "--listen", address)
	third := h.createQuote("")
	h.payQuote(third, 0).wantStatus(200)

	for _, quote := range []apiResponse{second, third} {
		eventually(t, "events around the restart", func() bool {
			return slices.Equal(forwarded(quote.text("transactionId")), []string{"PENDING", "COMPLETED"})
		})
	}
	if got := forwarded(before.text("transactionId")); len(got) > 0 {
		t.Errorf("forwarded %v from before the start", got)
	}
	line := listen.awaitLine(first)
	for _, part := range []string{"OUTGOING_PAYMENT.PENDING", "[Webhook:", "418 in "} {
		if !strings.Contains(line, part) {
			t.Errorf("printed %q, without %q", line, part)
		}
	}
	listen.terminate()
}

func TestListen_Refusals(t *testing.T) {
	t.Parallel()
	// A wrong argument, a platform of production and a token without MANAGE end the command, and say why.
	h := newSharedEnv(t)
	production := h.createPlatform("Production", "PRODUCTION")
	reader := h.post("/tokens", object{"name": "Reports", "permissions": []any{"VIEW"}}).wantStatus(201)
	weak := []string{"CAUSEWAY_BASE_URL=" + h.BaseURL, "CAUSEWAY_CLIENT_ID=" + reader.text("clientId"),
		"CAUSEWAY_CLIENT_SECRET=" + reader.text("clientSecret")}
	for _, c := range []struct {
		env  []string
		args []string
		want string
	}{
		{h.tokenEnv(), []string{"--events", "OUTGOING_PAYMENT.LOST"}, "there is no event OUTGOING_PAYMENT.LOST; the events are OUTGOING_PAYMENT.PENDING,"},
		{h.tokenEnv(), []string{"--forward-to", "localhost:3000"}, "--forward-to must be a URL such as"},
		{production.tokenEnv(), nil, "403"},
		{weak, nil, "MANAGE"},
		{append(h.tokenEnv(), "CAUSEWAY_CLIENT_SECRET=wrong"), nil, "401"},
		{nil, nil, "credentials.json does not exist"},
	} {
		_, errOut, status := runCommand(t, c.env, append([]string{"listen"}, c.args...)...)
		if status != 1 || !strings.Contains(errOut, c.want) {
			t.Errorf("listen %v: status %d, %s", c.args, status, errOut)
		}
	}
}

func TestListen_AnswersRequestsForApproval(t *testing.T) {
	t.Parallel()
	// While webhooks are forwarded, the local program decides about incoming payments with its response, on a platform with and without
	// an endpoint, which is not asked; so do other answers than yes. A program that does not respond, and a command that was killed,
	// leave the payment to end as one whose endpoint does not respond. After the listener's time the endpoint is asked again.
	h := newTestEnv(t)
	ana := h.createCustomer(object{"umaAddress": "$ana@uma.sandbox.test"})
	h.post("/sandbox/uma/receive", umaPaymentBody(ana)).wantError(400, "WEBHOOK_ENDPOINT_NOT_SET")
	var mu sync.Mutex
	status, reply := http.StatusOK, ""
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		document, _ := apiclient.ParseJSON(body)
		mu.Lock()
		defer mu.Unlock()
		if apiclient.Text(document, "type") == "INCOMING_PAYMENT.PENDING" || apiclient.Text(document, "event") == "INCOMING_PAYMENT.PENDING" {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, reply)
		}
	}))
	t.Cleanup(local.Close)
	listen := startProcess(t, h.tokenEnv(), "listen", "--forward-to", local.URL)
	listen.awaitLine("Listening to webhooks")
	attached := func() bool {
		return h.query("SELECT count(*) FROM platforms WHERE listener_until > now()") == 1
	}
	eventually(t, "the listener", attached)
	receive := func(respond int, body, want, reason string) {
		t.Helper()
		mu.Lock()
		status, reply = respond, body
		mu.Unlock()
		id := h.post("/sandbox/uma/receive", umaPaymentBody(ana)).wantStatus(200).text("id")
		eventually(t, "the end of the payment", func() bool { return h.get("/transactions/"+id).text("status") != "PENDING" })
		ended := h.get("/transactions/" + id).wantStatus(200)
		if ended.text("status") != want || ended.text("failureReason") != reason {
			t.Errorf("%d: %s", respond, ended.body)
		}
	}

	receive(200, "", "COMPLETED", "")
	if line := listen.awaitLine("the payment is COMPLETED"); !strings.Contains(line, "200 in ") {
		t.Errorf("printed %q", line)
	}
	hooks := h.startReceiver()
	receive(403, `{"reason": "not her"}`, "FAILED", "PAY_REQUEST_FAILED")
	receive(500, "", "FAILED", "PAYMENT_APPROVAL_WEBHOOK_ERROR")
	if got := hooks.recentDeliveries(); strings.Contains(got, "INCOMING_PAYMENT.PENDING") {
		t.Errorf("the endpoint was asked too:\n%s", got)
	}

	listen.kill()
	receive(200, "", "FAILED", "PAYMENT_APPROVAL_WEBHOOK_ERROR")
	h.exec("UPDATE platforms SET listener_until = now()")
	hooks.setApprovalResponse(200, "")
	receive(500, "", "COMPLETED", "")
}
