package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// limitedTo makes n pieces of work due now.
func limitedTo(n int64) schedule {
	var next atomic.Int64
	return func() (time.Time, bool) { return time.Now(), next.Add(1) <= n }
}

func TestRunWorkers_EachKind(t *testing.T) {
	// Each piece of work ends with its webhook, whether that is received before or after the
	// response; every step is measured; the service receives exactly those requests, and the
	// balances are then what they must be.
	t.Parallel()
	for _, early := range []bool{false, true} {
		b, service := newFakeBench(t, 7, "", func(f *fakeService) { f.deliverBeforeResponse = early })
		b.idempotencyKeys = true
		for kind, n := range map[kind]int64{ramps: 40, unpaidQuotes: 30, payouts: 50, transfersOut: 60, transfersIn: 70, agentPayouts: 20,
			agentTransfersOut: 10, walletPayouts: 15} {
			all, err := b.runWorkers(t.Context(), phase{inFlight: 4, kind: kind}, limitedTo(n))
			if err != nil || len(all) != int(n) {
				t.Fatalf("%s: %d pieces of work, %v", kind, len(all), err)
			}
			quoted, paid := work[kind].source != nil, kind != unpaidQuotes
			for _, s := range all {
				if s.refused || s.quoted.IsZero() == quoted || s.paid.IsZero() == paid || !s.due.Before(s.completed) ||
					quoted && paid && !s.quoted.Before(s.paid) {
					t.Fatalf("%s: times %+v", kind, s)
				}
			}
		}
		service.sending.Wait()

		wantRequests := map[string]int{"/quotes": 135, "/sandbox/send": 40, "execute": 85, "/transfer-out": 60, "/transfer-in": 70,
			"/agents/me/quotes": 20, "/agents/me/transfer-out": 10, "/agents": 7, "redeem": 7, "/webhook-secrets": 1, "/config": 1, "/customers": 7,
			"/customers/external-accounts": 14, "/customers/internal-accounts": 14, "fund": 14}
		if !maps.Equal(service.requests, wantRequests) {
			t.Errorf("the service received %v; want %v", service.requests, wantRequests)
		}
		if len(service.keys) != 420+1 { // and none, of the customers
			t.Errorf("%d idempotency keys for 420 requests", len(service.keys)-1)
		}
		wantEvents := map[string]int64{"OUTGOING_PAYMENT.PENDING": 155, "OUTGOING_PAYMENT.PROCESSING": 125,
			"OUTGOING_PAYMENT.COMPLETED": 195, "INCOMING_PAYMENT.COMPLETED": 84, "INTERNAL_ACCOUNT.BALANCE_UPDATED": 239}
		if got := b.receiver.eventCounts(); !maps.Equal(got, wantEvents) {
			t.Errorf("webhooks %v; want %v", got, wantEvents)
		}
		if err := try(func() { b.checkAccountBalances(t.Context()) }); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckAccountBalances(t *testing.T) {
	// A difference of one cent on one account is an error that names the account.
	t.Parallel()
	b, service := newFakeBench(t, 4, "hot", nil)
	for _, difference := range []int64{-1, 1} {
		service.accounts[2].Balance.Amount = fundingAmount + difference
		err := try(func() { b.checkAccountBalances(t.Context()) })
		if err == nil || !strings.Contains(err.Error(), service.accounts[2].ID) {
			t.Errorf("a difference of %d cents: %v", difference, err)
		}
	}
}

func TestRunWorkers_FewCustomers(t *testing.T) {
	// Work limited to few customers uses no others.
	t.Parallel()
	b, _ := newFakeBench(t, 5, "hot", nil)
	if _, err := b.runWorkers(t.Context(), phase{inFlight: 3, kind: payouts, customers: b.customers[:1]}, limitedTo(20)); err != nil {
		t.Fatal(err)
	}
	for i := range b.customers {
		if got, want := b.customers[i].netMoved.Load(), map[bool]int64{true: -20 * rampAmount}[i == 0]; got != want {
			t.Errorf("customer %d paid %d; want %d", i, got, want)
		}
	}
}

func TestRunWorkers_FailureStopsRun(t *testing.T) {
	// A refused request, a failed payment and a cancelled run each end the workers, with the
	// reason.
	t.Parallel()
	for _, c := range []struct {
		kind                      kind
		refused, finalEvent, want string
	}{
		{ramps, "/quotes", "", "POST /quotes was refused: 500"},
		{ramps, "/sandbox/send", "", "POST /sandbox/send was refused: 500"},
		{payouts, "/quotes", "", "POST /quotes was refused: 500"},
		{transfersOut, "/transfer-out", "", "POST /transfer-out was refused: 500"},
		{transfersIn, "/transfer-in", "", "POST /transfer-in was refused: 500"},
		{agentPayouts, "/agents/me/quotes", "", "POST /agents/me/quotes was refused: 500"},
		{agentTransfersOut, "/agents/me/transfer-out", "", "POST /agents/me/transfer-out was refused: 500"},
		{ramps, "", "OUTGOING_PAYMENT.FAILED", "a payment failed"},
		{ramps, "", "OUTGOING_PAYMENT.OTHER", "cancelled by the test"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		b, _ := newFakeBench(t, 1, "", func(f *fakeService) {
			f.refused, f.finalEvent = c.refused, c.finalEvent
			if c.finalEvent == "OUTGOING_PAYMENT.OTHER" {
				f.onPayment = func() { cancel(errors.New(c.want)) }
			}
		})
		_, err := b.runWorkers(ctx, phase{inFlight: 4, kind: c.kind}, newSchedule(0, nil))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v; want %q", c.kind, err, c.want)
		}
		cancel(nil)
	}
}

func TestPost_InvalidResponse(t *testing.T) {
	// A response with another status, a status that does not exist, or one that is cut is an error.
	t.Parallel()
	for response, want := range map[string]string{
		"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n":                    "unexpected status 202",
		"HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n":                          "POST /quotes was refused: 99",
		"HTTP/1.1 600 No\r\nContent-Length: 0\r\n\r\n":                          "POST /quotes was refused: 600",
		"HTTP/1.1 20 No\r\nContent-Length: 0\r\n\r\n":                           "a response has no status",
		"HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\n{}":                   "unexpected EOF",
		"HTTP/1.1 201 Created\r\nContent-Le":                                    "EOF",
		"HTTP/1.1 201 Created\r\nContent-Length: x\r\n\r\n":                     "invalid syntax",
		"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0": "no Content-Length",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			defer conn.Close()
			_, _ = conn.Write([]byte(response))
		}))
		client := newClient(server.Listener.Addr().String(), "", "")
		err := try(func() { connect(t.Context(), client, false).post("/quotes", 201, "") })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", response, err, want)
		}
		server.Close()
	}
}

func TestReceiver_SplitRequestsAndSamples(t *testing.T) {
	// Requests are read wherever their bytes are split; some are kept as they were received.
	t.Parallel()
	r := startReceiver()
	defer r.listener.Close()
	conn, err := net.Dial("tcp", r.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const body = `{"event":"OUTGOING_PAYMENT.COMPLETED","transaction":{"id":"Transaction:1"}}`
	request := fmt.Sprintf("POST /webhooks HTTP/1.1\r\nHost: x\r\nwebhook-id: w\r\nContent-Length: %d\r\n\r\n%s", len(body), body)

	responses := bufio.NewReader(conn)
	for i := range sampleEvery {
		for _, part := range []string{request[:i], request[i:]} {
			if _, err := conn.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		if response, err := http.ReadResponse(responses, nil); err != nil || response.StatusCode != 200 {
			t.Fatalf("%+v, %v", response, err)
		}
	}

	if end := <-r.end("1"); end.IsZero() || r.eventCounts()["OUTGOING_PAYMENT.COMPLETED"] != sampleEvery {
		t.Errorf("completed %s, webhooks %v", end, r.eventCounts())
	}
	if s := r.samples; len(s) != 1 || s[0].Request.Header.Get("Webhook-Id") != "w" || string(s[0].Body) != body {
		t.Errorf("%d samples", len(s))
	}
}

func TestTextAfter(t *testing.T) {
	// A text is found by the opening of its member; without one it is not found.
	t.Parallel()
	body := []byte(`{"id":"Quote:1","info":{"reference":"4T9K"},"open":"`)
	for opening, want := range map[string]string{`"id":"`: "Quote:1", `"reference":"`: "4T9K", `"none":"`: "", `"open":"`: ""} {
		if got, found := textAfter(body, opening); got != want || found != (want != "") {
			t.Errorf("%s: got %q %v; want %q", opening, got, found, want)
		}
	}
}

func TestNewSchedule_FixedRate(t *testing.T) {
	// Work at a fixed rate is due at equal intervals, however late a worker is, and ends when
	// it is stopped.
	t.Parallel()
	stop := make(chan struct{})
	next := newSchedule(0.5, stop)
	first, _ := next()
	for i := 1; i <= 3; i++ {
		if due, more := next(); !more || due.Sub(first) != time.Duration(i)*2*time.Second {
			t.Errorf("piece %d is due %s after the first", i, due.Sub(first))
		}
	}
	close(stop)
	if _, more := next(); more {
		t.Error("there is more work after the stop")
	}
}

func TestNewMeasurement(t *testing.T) {
	// Only work that ended in the measured time counts; its time starts when it was due; a
	// webhook received before the response took no time.
	t.Parallel()
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	all := []stepTimes{
		{due: at(-50), quoted: at(-40), paid: at(-30), completed: at(-1)}, // before
		{due: at(-5), quoted: at(5), paid: at(15), completed: at(12)},
		{due: at(100), quoted: at(130), paid: at(140), completed: at(190)},
		{due: at(1990), quoted: at(1992), paid: at(1995), completed: at(2000)}, // after
	}
	from, to := reading{at: at(0)}, reading{at: at(2000), figures: [figureCount]float64{commits: 8}}

	m := newMeasurement(phase{}, all, from, to)

	const ms = time.Millisecond
	want := measurement{perSecond: 1, completed: 2, cost: cost{each: [figureCount]float64{commits: 4}},
		total: latency{17 * ms, 90 * ms, 90 * ms, 90 * ms}, quote: latency{10 * ms, 30 * ms, 30 * ms, 30 * ms},
		send: latency{10 * ms, 10 * ms, 10 * ms, 10 * ms}, webhook: latency{0, 50 * ms, 50 * ms, 50 * ms}}
	if m != want {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
	if try(func() { newMeasurement(phase{}, all[:1], from, to) }) == nil {
		t.Error("a phase in which nothing was finished has a result")
	}
}
