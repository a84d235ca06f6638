package partner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/partner"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
	"causeway/ports/railtest"
)

// newRail returns a connection whose partner is handler, and what it logs.
func newRail(t *testing.T, handler http.HandlerFunc, settings ...string) (*partner.Rail, *safeBuffer) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	connection := bankRail(server.URL + "/v1/")
	for i := 0; i < len(settings); i += 2 {
		connection.Settings[settings[i]] = settings[i+1]
	}
	log, logged := newLog()
	r, err := partner.Open(partner.Config{Connection: connection, Secrets: portstest.Secrets{"file:/secret": secret}, Events: &memoryEvents{},
		Departures: &portstest.RailDepartures{}, Clock: &worldClock{now: now}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, logged
}

// answerJSON writes a body.
func answerJSON(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// thePayout is a payout of 11.00 US dollars.
func thePayout() ports.Payout { return (&world{}).Payout(1, railtest.Settles) }

// settledState returns the state of a request that was done.
func settledState(r *http.Request) partner.State {
	var p partner.Payment
	text, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(text, &p)
	return partner.State{ID: p.ID, Amount: p.Amount, Status: partner.Settled, SettledAt: now, PartnerID: "B1"}
}

func TestRail_OnlyAClearAnswerIsAnOutcome(t *testing.T) {
	t.Parallel()
	// Anything but a complete state of the same payment is unknown, and never a refusal; 429 and 503 with a time are waited for.
	p := thePayout()
	id := p.Transaction.ID.UUID().String()
	body := func(change func(map[string]any)) string {
		state := map[string]any{"id": id, "status": "REJECTED", "code": "AC04", "text": "Closed.", "partnerId": "B1",
			"amount": map[string]any{"minor": "1100", "currency": "USD", "decimals": 2}}
		change(state)
		text, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	with := func(name string, value any) string {
		return body(func(s map[string]any) { s[name] = value })
	}
	unknown := ports.Outcome{Verdict: ports.Unknown}
	refused := ports.Outcome{Verdict: ports.Refused, Reason: transaction.AccountInvalid, Code: "AC04",
		Text: "Closed.", PartnerID: "B1"}
	later := refused
	later.Accepted = true
	for name, c := range map[string]struct {
		status  int
		header  string
		body    string
		outcome ports.Outcome
	}{
		"rejected":          {200, "", body(func(map[string]any) {}), refused},
		"number":            {201, "", with("amount", map[string]any{"minor": 1100, "currency": "USD", "decimals": 2}), refused},
		"accepted before":   {202, "", with("acceptedAt", "2026-03-14T11:00:00Z"), later},
		"unknown field":     {200, "", with("more", []int{1}), refused},
		"other id":          {200, "", with("id", uuid.New().String()), unknown},
		"no id":             {200, "", body(func(s map[string]any) { delete(s, "id") }), unknown},
		"other amount":      {200, "", with("amount", map[string]any{"minor": "1101", "currency": "USD", "decimals": 2}), unknown},
		"fraction":          {200, "", with("amount", map[string]any{"minor": 1100.0000001, "currency": "USD", "decimals": 2}), unknown},
		"exponent":          {200, "", strings.Replace(body(func(map[string]any) {}), `"1100"`, `11e2`, 1), unknown},
		"more than 64 bits": {200, "", strings.Replace(body(func(map[string]any) {}), `"1100"`, `"18446744073709552716"`, 1), unknown},
		"settled long ago": {200, "", body(func(s map[string]any) { s["status"], s["settledAt"] = "SETTLED", "1999-12-31T23:59:59Z" }),
			unknown},
		"other currency":       {200, "", with("amount", map[string]any{"minor": "1100", "currency": "EUR", "decimals": 2}), unknown},
		"other decimals":       {200, "", with("amount", map[string]any{"minor": "1100", "currency": "USD", "decimals": 3}), unknown},
		"no code":              {200, "", with("code", ""), unknown},
		"unknown status":       {200, "", with("status", "FAILED"), unknown},
		"settled without time": {200, "", with("status", "SETTLED"), unknown},
		"returned without time": {200, "", body(func(s map[string]any) { s["status"], s["settledAt"] = "RETURNED", "2026-03-14T11:00:00Z" }),
			unknown},
		"settled in the future": {200, "", body(func(s map[string]any) { s["status"], s["settledAt"] = "SETTLED", "2026-03-16T11:00:00Z" }),
			unknown},
		"long code":       {200, "", with("code", strings.Repeat("x", 41)), unknown},
		"large":           {200, "", with("more", strings.Repeat("x", 70_000)), unknown},
		"array":           {200, "", "[" + body(func(map[string]any) {}) + "]", unknown},
		"cut off":         {200, "", body(func(map[string]any) {})[:40], unknown},
		"two bodies":      {200, "", body(func(map[string]any) {}) + "{}", unknown},
		"empty":           {200, "", "", unknown},
		"404":             {404, "", body(func(map[string]any) {}), unknown},
		"409":             {409, "", body(func(map[string]any) {}), unknown},
		"422":             {422, "", body(func(map[string]any) {}), unknown},
		"redirect":        {308, "", body(func(map[string]any) {}), unknown},
		"500 with a time": {500, "5", "", unknown},
		"503":             {503, "", "", unknown},
		"503 with a time": {503, "5", "", ports.Outcome{Verdict: ports.Waiting, RetryAt: now.Add(5 * time.Second),
			Text: "The partner refuses for now."}},
		"429 with a long time": {429, "999999", "", ports.Outcome{Verdict: ports.Waiting, RetryAt: now.Add(time.Hour),
			Text: "The partner refuses for now."}},
		"429 with a bad time": {429, "soon", "", unknown},
	} {
		r, logged := newRail(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.Header().Set("Location", "/v1/payouts/moved")
			if c.header != "" {
				w.Header().Set("Retry-After", c.header)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})

		sent, status := r.Send(t.Context(), []ports.Payout{p}), r.Status(t.Context(), []ports.Payout{p})

		if len(sent) != 1 || sent[0] != c.outcome || len(status) != 1 || status[0] != c.outcome {
			t.Errorf("%s: %+v, %+v; want %+v", name, sent, status, c.outcome)
		}
		text := logged.String()
		if (c.outcome.Verdict == ports.Unknown) != strings.Contains(text, "level=warning") || strings.Contains(text, "Ana") ||
			strings.Contains(text, "123456789") || strings.Contains(text, "whsec") {
			t.Errorf("%s: logged %s", name, text)
		}
	}
}

func TestRail_TextIsNotJSON(t *testing.T) {
	t.Parallel()
	// A page of a proxy is no answer, even if it could be read as one.
	r, _ := newRail(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_ = json.NewEncoder(w).Encode(settledState(req))
	})
	if got := r.Send(t.Context(), []ports.Payout{thePayout()})[0]; got.Verdict != ports.Unknown {
		t.Errorf("%+v", got)
	}
}

func TestRail_OutcomesOfStates(t *testing.T) {
	t.Parallel()
	// Each status has its outcome. What is not final is asked about again, less and less often; what may be returned once a day.
	p := thePayout()
	amount := partner.Amount{Minor: 1100, Currency: "USD", Decimals: 2}
	state := func(s partner.State) partner.State {
		s.ID, s.Amount, s.PartnerID = p.Transaction.ID.UUID().String(), amount, "B1"
		return s
	}
	for name, c := range map[string]struct {
		state partner.State
		age   time.Duration
		want  ports.Outcome
	}{
		"pending": {partner.State{Status: partner.Pending, Code: "CLOSED", Text: "Closed until Monday."}, 0,
			ports.Outcome{Verdict: ports.Waiting, Code: "CLOSED", Text: "Closed until Monday.", RetryAt: now.Add(time.Minute)}},
		"rejected as a duplicate": {partner.State{Status: partner.Rejected, Code: "AM05"}, 0, ports.Outcome{Verdict: ports.Waiting, Code: "AM05",
			RetryAt: now.Add(time.Minute)}},
		"accepted": {partner.State{Status: partner.Accepted, ExpectedSettlementAt: now.Add(time.Hour)}, 40 * time.Minute,
			ports.Outcome{Verdict: ports.Waiting, Accepted: true, ExpectedAt: now.Add(time.Hour), RetryAt: now.Add(10 * time.Minute)}},
		"accepted days ago": {partner.State{Status: partner.Accepted}, 72 * time.Hour, ports.Outcome{Verdict: ports.Waiting, Accepted: true,
			RetryAt: now.Add(time.Hour)}},
		"settled": {partner.State{Status: partner.Settled, SettledAt: now}, 0, ports.Outcome{Verdict: ports.Done, Accepted: true}},
		"may be returned": {partner.State{Status: partner.Settled, SettledAt: now, ReturnableUntil: now.AddDate(0, 0, 60)}, 0,
			ports.Outcome{Verdict: ports.Done, Accepted: true, RetryAt: now.Add(24 * time.Hour)}},
		"soon final": {partner.State{Status: partner.Settled, SettledAt: now, ReturnableUntil: now.Add(time.Hour)}, 0,
			ports.Outcome{Verdict: ports.Done, Accepted: true, RetryAt: now.Add(time.Hour)}},
		"final": {partner.State{Status: partner.Settled, SettledAt: now, ReturnableUntil: now}, 0,
			ports.Outcome{Verdict: ports.Done, Accepted: true}},
		"returned": {partner.State{Status: partner.Returned, SettledAt: now, ReturnedAt: now, Code: "R03", Text: "No account."}, 0,
			ports.Outcome{Verdict: ports.Returned, Accepted: true, Code: "R03", Text: "No account.", ReturnedAt: now}},
	} {
		r, _ := newRail(t, func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, state(c.state)) })
		sent := p
		sent.Transaction.UpdatedAt = now.Add(-c.age)
		c.want.PartnerID = "B1"
		if got := r.Send(t.Context(), []ports.Payout{sent})[0]; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestRail_RefundHasTheIDOfItsPayout(t *testing.T) {
	t.Parallel()
	// A payout is returned, and its refund has the same id and another amount: it is a payment of its own, which settles.
	w := newWorld(t)
	t.Cleanup(func() { _ = w.Close() })
	r, err := w.open(w.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	payout, refund := thePayout(), w.Refund(1, railtest.Settles)
	refund.ID = payout.Transaction.ID.UUID()
	payout.Transaction.UpdatedAt = w.Now()
	r.Send(t.Context(), []ports.Payout{payout})
	w.sidecar.Step()
	w.sidecar.Step()
	if o := r.Refund(t.Context(), []ports.Refund{refund})[0]; o.Verdict != ports.Waiting || !o.Accepted {
		t.Errorf("refund: %+v", o)
	}
	w.sidecar.Step()
	w.sidecar.Step()
	sent, returned := r.Status(t.Context(), []ports.Payout{payout})[0], r.Refund(t.Context(), []ports.Refund{refund})[0]
	if sent.Verdict != ports.Done || returned.Verdict != ports.Done || sent.PartnerID == returned.PartnerID {
		t.Errorf("payout %+v, refund %+v", sent, returned)
	}
}

func TestRail_RefundStatusSendsNothing(t *testing.T) {
	t.Parallel()
	// A refund that was never submitted is not when it is asked about; one that was is as it stands.
	w := newWorld(t)
	t.Cleanup(func() { _ = w.Close() })
	r, err := w.open(w.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	submitted, other := w.Refund(1, railtest.Settles), w.Refund(2, railtest.Settles)
	r.Refund(t.Context(), []ports.Refund{submitted})
	for range 4 {
		w.sidecar.Step()
		asked := r.RefundStatus(t.Context(), []ports.Refund{other, submitted})
		if asked[0].Verdict != ports.Unknown {
			t.Fatalf("one that was not submitted: %+v", asked[0])
		}
		if asked[1].Verdict == ports.Done {
			return
		}
	}
	t.Error("the submitted one is not done")
}

func TestRail_ManyPayoutsAreSentSideBySide(t *testing.T) {
	t.Parallel()
	// A hundred payouts are sent by as many requests at a time as the connection allows, and outcomes stay in order.
	var running, most atomic.Int32
	full := make(chan struct{})
	r, _ := newRail(t, func(w http.ResponseWriter, req *http.Request) {
		n := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		if n == 8 {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		<-full // until eight run at the same time
		state := settledState(req)
		state.PartnerID = "B-" + state.ID
		answerJSON(w, state)
	}, "concurrency", "8", "timeout", "30s")
	var payouts []ports.Payout
	for n := range 100 {
		payouts = append(payouts, (&world{}).Payout(n, railtest.Settles))
	}
	for i, o := range r.Send(t.Context(), payouts) {
		if o.Verdict != ports.Done || o.PartnerID != "B-"+payouts[i].Transaction.ID.UUID().String() {
			t.Errorf("payout %d: %+v", i, o)
		}
	}
	if most.Load() != 8 {
		t.Errorf("%d at the same time, want 8", most.Load())
	}
}

func TestRail_StopsWithItsContext(t *testing.T) {
	t.Parallel()
	// When the context of a call ends, requests that run are given up, and none begins: those are unknown, and the others wait.
	var begun atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	r, _ := newRail(t, func(_ http.ResponseWriter, req *http.Request) {
		if begun.Add(1) == 2 {
			cancel()
		}
		_, _ = io.Copy(io.Discard, req.Body) // only then the server notices that the client has gone
		<-req.Context().Done()
	}, "concurrency", "2", "timeout", "1m")
	for i, o := range r.Send(ctx, []ports.Payout{thePayout(), thePayout(), thePayout(), thePayout()}) {
		want := ports.Outcome{Verdict: ports.Unknown}
		if i >= 2 {
			want = ports.Outcome{Verdict: ports.Waiting, RetryAt: now.Add(5 * time.Second)}
		}
		if o != want {
			t.Errorf("payout %d: %+v, want %+v", i, o, want)
		}
	}
	if begun.Load() > 2 {
		t.Errorf("%d requests", begun.Load())
	}
}

func TestRail_RequestHasWhatThePartnerNeeds(t *testing.T) {
	t.Parallel()
	// A payout names the account and its holder, a refund the payment that it sends back; nothing of it is in the address.
	type received struct {
		target string
		body   partner.Payment
	}
	var got []received
	r, _ := newRail(t, func(w http.ResponseWriter, req *http.Request) {
		text, _ := io.ReadAll(req.Body)
		var p partner.Payment
		if err := json.Unmarshal(text, &p); err != nil {
			t.Error(err)
		}
		got = append(got, received{req.Method + " " + req.RequestURI, p})
		answerJSON(w, partner.State{ID: p.ID, Amount: p.Amount, Status: partner.Settled, SettledAt: now})
	})
	w := &world{}
	payout, collection, refund := w.Payout(1, railtest.Settles), w.Collection(1, railtest.Settles), w.Refund(1, railtest.Settles)
	refund.Original.Collection = collection.Transaction.ID
	internal := refund
	internal.Internal = true
	r.Send(t.Context(), []ports.Payout{payout})
	r.Collect(t.Context(), []ports.Collection{collection})
	outcomes := r.Refund(t.Context(), []ports.Refund{internal, refund})

	if len(got) != 3 || len(outcomes) != 2 || outcomes[0] != (ports.Outcome{Verdict: ports.Done}) || outcomes[1].Verdict != ports.Done {
		t.Fatalf("%d requests, refunds %+v", len(got), outcomes)
	}
	if p := got[0].body; got[0].target != "POST /v1/payouts" || p.Kind != partner.Payout || p.Rail != "RTP" ||
		p.Account.Fields["accountNumber"] != "123456789" ||
		p.Account.Country != "US" || p.Account.Holder.Name != "Ana Silva" || p.Reference != "REF" || p.PlatformID != platformID.String() ||
		len(p.EndToEndID) != 32 || p.Original != nil {
		t.Errorf("payout: %+v", got[0])
	}
	if p := got[1].body; got[1].target != "POST /v1/collections" || p.Kind != partner.Collection || p.Rail != "ACH" || p.Amount.Minor != 2100 {
		t.Errorf("collection: %+v", got[1])
	}
	if p := got[2].body; got[2].target != "POST /v1/refunds" || p.Kind != partner.Refund || p.Original.PartnerID != "R-1" ||
		p.Original.EndToEndID != got[1].body.EndToEndID ||
		p.Original.Payer.Fields["accountNumber"] != "123456789" || p.Account == nil {
		t.Errorf("refund: %+v", got[2])
	}
}

func TestRail_TestSaysWhatItHasChecked(t *testing.T) {
	t.Parallel()
	// The test of a connection names the provider and its balances, or the first request that fails.
	w := newWorld(t)
	t.Cleanup(func() { _ = w.Close() })
	good, err := w.open(w.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := good.Test(t.Context())
	if text := strings.Join(checked, "\n"); err != nil || !strings.Contains(text, "Test Bank") || !strings.Contains(text, "USD") {
		t.Errorf("%v, %v", checked, err)
	}
	balances, err := good.Balances(t.Context())
	if err != nil || len(balances) != 1 || balances[0].Amount != (money.Amount{Minor: 4_000_000_000_000_000_000, Currency: "USD"}) ||
		!balances[0].At.Equal(now) {
		t.Errorf("balances %+v, %v", balances, err)
	}

	w.sidecar.Fault = "has no balances"
	if checked, err := good.Test(t.Context()); len(checked) != 1 || err == nil ||
		err.Error() != "GET /balances: the answer has the status 404" {
		t.Errorf("%v, %v", checked, err)
	}
}

func TestRail_InstructionsLeadToThePageOfAPayment(t *testing.T) {
	t.Parallel()
	// Where the partner has a page on which payers pay, the instructions lead to that of the reference.
	connection := bankRail("https://partner.example.com")
	connection.Currencies = append(connection.Currencies, "COP")
	connection.Settings["receive.COP"] = `{"accountType":"COP_ACCOUNT","paymentUrl":"https://pay.example.com/?reference={reference}"}`
	log, _ := newLog()
	opened, err := partner.Open(partner.Config{Connection: connection, Secrets: portstest.Secrets{}, Events: &memoryEvents{},
		Departures: &portstest.RailDepartures{}, Clock: &worldClock{now: now}, Log: log})
	if err != nil {
		t.Fatal(err)
	}

	quoted, err := opened.Instructions(ident.Platform{}, "4T9K 2M7P", "COP", "")
	funding, fundingErr := opened.Funding(ident.Platform{}, "Ana Silva", "FUND-1", "COP")

	if err != nil || len(quoted) != 1 || quoted[0].Info["paymentUrl"] != "https://pay.example.com/?reference=4T9K+2M7P" {
		t.Errorf("of a quote: %+v, %v", quoted, err)
	}
	if fundingErr != nil || len(funding) != 1 || funding[0].Info["paymentUrl"] != "https://pay.example.com/?reference=FUND-1" {
		t.Errorf("of an account: %+v, %v", funding, fundingErr)
	}
}

func TestOpen_ChecksSettings(t *testing.T) {
	t.Parallel()
	// Settings are checked when a connection is set. Money goes over https, and over http to this machine unless it is allowed.
	for _, c := range []struct{ name, value, want string }{
		{"url", "https://partner.example.com/v1", ""},
		{"url", "http://127.0.0.1:9000", ""},
		{"url", "http://[::1]:9000/", ""},
		{"url", "http://partner.example.com", "http is for loopback addresses"},
		{"url", "http://127.0.0.1.example.com", "http is for loopback addresses"},
		{"url", "https://u:p@partner.example.com", "without a user"},
		{"url", "https://partner.example.com?key=1", "without a user, query"},
		{"url", "", "settings.url: must be given"},
		{"secret", "", "settings.secret: must be given"},
		{"secret", secret, "never the secret itself"},
		{"timeout", "2m", "from 1s to 1m0s"},
		{"poll", "1ms", "from 1s to 1h0m0s"},
		{"concurrency", "0", "from 1 to 256"},
		{"plainHttp", "yes", "must be allow"},
		{"caFile", "/nowhere", "cannot be read"},
		{"receive.XXX", "{}", "known currency"},
		{"receive.EUR", "DE89", "JSON object"},
		{"receive.EUR", `{"iban":"DE89"}`, "accountType"},
		{"receive.COP", `{"accountType":"COP_ACCOUNT","paymentUrl":"https://pay.example.com/{reference}"}`, ""},
		{"receive.COP", `{"accountType":"COP_ACCOUNT","paymentUrl":"https://pay.example.com/"}`, "https and {reference}"},
		{"receive.COP", `{"accountType":"COP_ACCOUNT","paymentUrl":"http://pay.example.com/{reference}"}`, "https and {reference}"},
		{"accountHolder", "", "settings.accountHolder: must be given"},
		{"colour", "red", "is no setting of PARTNER"},
	} {
		connection := bankRail("https://partner.example.com")
		connection.Settings[c.name] = c.value
		log, _ := newLog()
		_, err := partner.Open(partner.Config{Connection: connection, Secrets: portstest.Secrets{}, Events: &memoryEvents{},
			Departures: &portstest.RailDepartures{}, Clock: &worldClock{now: now}, Log: log})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s=%q: %v, want %q", c.name, c.value, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error has the secret: %v", err)
		}
	}
	plain := bankRail("http://sidecar:9000")
	plain.Settings["plainHttp"] = "allow"
	log, _ := newLog()
	if _, err := partner.Open(partner.Config{Connection: plain, Secrets: portstest.Secrets{}, Events: &memoryEvents{},
		Departures: &portstest.RailDepartures{}, Clock: &worldClock{now: now}, Log: log}); err != nil {
		t.Error(err)
	}
}

func TestRail_SecretThatCannotBeReadIsNoOutcome(t *testing.T) {
	t.Parallel()
	// Without its secret nothing is sent, and the log says which one is missing.
	var requests atomic.Int32
	r, logged := newRail(t, func(http.ResponseWriter, *http.Request) { requests.Add(1) }, "secret", "file:/gone")
	if o := r.Send(t.Context(), []ports.Payout{thePayout()})[0]; o.Verdict != ports.Unknown || requests.Load() != 0 ||
		!strings.Contains(logged.String(), "file:/gone") {
		t.Errorf("%+v, %d requests; logged %s", o, requests.Load(), fmt.Sprint(logged))
	}
}

func TestRail_TraceIsSent(t *testing.T) {
	t.Parallel()
	// The place in a trace of each payment is sent with the requests about it, also with its refund. Without one there is no header.
	sent := make(chan []string, 1)
	r, _ := newRail(t, func(w http.ResponseWriter, req *http.Request) {
		sent <- req.Header.Values("traceparent")
		w.WriteHeader(http.StatusNotFound)
	})
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	payout := thePayout()
	r.Send(t.Context(), []ports.Payout{payout})
	if got := <-sent; len(got) > 0 {
		t.Errorf("sent %q", got)
	}
	payout.Transaction.Trace = trace
	for name, call := range map[string]func(){
		"send":   func() { r.Send(t.Context(), []ports.Payout{payout}) },
		"status": func() { r.Status(t.Context(), []ports.Payout{payout}) },
		"refund": func() {
			r.Refund(t.Context(), []ports.Refund{{ID: payout.Transaction.ID.UUID(), Platform: payout.Transaction.Platform,
				Rail: payout.Transaction.DestinationRail, Amount: payout.Transaction.Pricing.Received, Payout: &payout}})
		},
	} {
		call()
		if got := <-sent; len(got) != 1 || got[0] != trace {
			t.Errorf("%s: sent %q", name, got)
		}
	}
}
