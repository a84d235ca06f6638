package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// webhookReceiver receives the webhooks of a platform. It refuses what is not signed as the
// service promises, and notes whatever breaks the promises of order.
type webhookReceiver struct {
	t      testing.TB
	server *httptest.Server
	keys   *webhookVerifier

	mu          sync.Mutex
	changed     chan struct{} // closed and replaced with each delivery
	deliveries  []delivery
	acceptedIDs map[string]bool   // webhooks, by id
	rejectedIDs map[string]string // by transaction, the event that was refused and not accepted since
	inFlight    map[string]int    // by transaction
	// respond says how to answer; nil accepts.
	respond func(d delivery) int
	// approvalBody is the body of the answer to the question whether a payment is taken.
	approvalBody string
}

// delivery is one attempt that came.
type delivery struct {
	apiResponse              // the body
	id, event, transactionID string
	path                     string // of the endpoint
	header                   http.Header
	responseStatus           int // that it was answered with
	repeated                 bool
	receivedAt               time.Time
}

// startReceiver starts a receiver and makes it the platform's endpoint; it returns when the
// TEST event has come.
func (p *tenant) startReceiver() *webhookReceiver {
	p.t.Helper()
	h := p.startReceiverNoWait()
	h.awaitDelivery("the TEST event", func(d delivery) bool { return d.event == "TEST" })
	return h
}

// startReceiverNoWait is listen without waiting for anything.
func (p *tenant) startReceiverNoWait() *webhookReceiver {
	p.t.Helper()
	h := &webhookReceiver{t: p.t, keys: &webhookVerifier{client: p.client}, changed: make(chan struct{}), acceptedIDs: map[string]bool{},
		rejectedIDs: map[string]string{}, inFlight: map[string]int{}}
	h.server = httptest.NewServer(http.HandlerFunc(h.handle))
	p.t.Cleanup(h.server.Close)
	p.receiver = h
	p.patch("/config", object{"webhookEndpoint": h.server.URL + "/hooks"}).wantStatus(200)
	return h
}

func (h *webhookReceiver) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender died
	}
	d := delivery{apiResponse: apiResponse{t: h.t, request: "webhook", body: body}, receivedAt: time.Now(), header: r.Header, path: r.URL.Path}
	d.id, d.event, d.transactionID = d.text("webhookId"), d.text("event"), d.text("transaction.id")
	if err := h.keys.verify(r.Header, body); err != nil {
		h.t.Errorf("webhook %s %s: %v", d.event, d.id, err)
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if !json.Valid(body) || !strings.HasPrefix(d.id, "Webhook:") || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		h.t.Errorf("a webhook that is none: %s %q %s", r.Method, r.Header.Get("Content-Type"), body)
	}
	// A question goes out at once, beside the events of its transaction.
	question := d.event == "INCOMING_PAYMENT.PENDING"
	h.mu.Lock()
	ordered := d.transactionID != "" && !question
	if ordered {
		if h.inFlight[d.transactionID]++; h.inFlight[d.transactionID] > 1 {
			h.t.Errorf("two events of %s are sent at once; one is %s", d.transactionID, d.event)
		}
		if before := h.rejectedIDs[d.transactionID]; before != "" && before != d.id {
			h.t.Errorf("%s of %s was sent before %s was accepted", d.event, d.transactionID, before)
		}
	}
	d.repeated = h.acceptedIDs[d.id]
	respond, reply := h.respond, h.approvalBody
	h.mu.Unlock()

	d.responseStatus = http.StatusOK
	if respond != nil {
		d.responseStatus = respond(d)
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	if ordered {
		h.inFlight[d.transactionID]--
	}
	if d.responseStatus < 300 || d.responseStatus == http.StatusConflict {
		h.acceptedIDs[d.id] = true
		delete(h.rejectedIDs, d.transactionID)
	} else if ordered {
		h.rejectedIDs[d.transactionID] = d.id
	}
	h.deliveries = append(h.deliveries, d)
	close(h.changed)
	h.changed = make(chan struct{})
	w.WriteHeader(d.responseStatus)
	if question {
		_, _ = io.WriteString(w, reply)
	}
}

// respondWith changes how events are answered from now on.
func (h *webhookReceiver) respondWith(respond func(d delivery) int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.respond = respond
}

// setApprovalResponse makes the platform answer this to the question whether a payment is taken; other
// events are accepted.
func (h *webhookReceiver) setApprovalResponse(status int, reply string) {
	h.respondWith(func(d delivery) int {
		if d.event == "INCOMING_PAYMENT.PENDING" {
			return status
		}
		return http.StatusOK
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.approvalBody = reply
}

// awaitDelivery returns the first delivery that matches, past or future.
func (h *webhookReceiver) awaitDelivery(what string, match func(delivery) bool) delivery {
	h.t.Helper()
	return h.awaitDeliveryWithin(waitTimeout, what, match)
}

func (h *webhookReceiver) awaitDeliveryWithin(limit time.Duration, what string, match func(delivery) bool) delivery {
	h.t.Helper()
	tooLong := time.After(limit)
	for i := 0; ; {
		h.mu.Lock()
		fresh, more := h.deliveries[i:], h.changed
		h.mu.Unlock()
		for _, d := range fresh {
			if match(d) {
				return d
			}
		}
		i += len(fresh)
		select {
		case <-more:
		case <-tooLong:
			h.t.Fatalf("%s did not come within %s; what came:\n%s", what, limit, h.recentDeliveries())
		}
	}
}

// awaitOutgoingEvent awaits the acceptance of an event of a transaction.
func (h *webhookReceiver) awaitOutgoingEvent(transaction, event string) delivery {
	h.t.Helper()
	return h.awaitDelivery(event+" of "+transaction, func(d delivery) bool {
		return d.transactionID == transaction && d.event == "OUTGOING_PAYMENT."+event && (d.responseStatus < 300 || d.responseStatus == http.StatusConflict)
	})
}

// acceptedEvents are the events of a transaction that were accepted, each once, in the
// order in which they were, without "OUTGOING_PAYMENT.".
func (h *webhookReceiver) acceptedEvents(transaction string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	seen := map[string]bool{}
	for _, d := range h.deliveries {
		if d.transactionID == transaction && (d.responseStatus < 300 || d.responseStatus == http.StatusConflict) && !seen[d.id] {
			seen[d.id] = true
			names = append(names, strings.TrimPrefix(d.event, "OUTGOING_PAYMENT."))
		}
	}
	return names
}

// checkEvents checks all the events of a transaction, in order.
func (h *webhookReceiver) checkEvents(transaction string, want ...string) {
	h.t.Helper()
	h.awaitOutgoingEvent(transaction, want[len(want)-1])
	if got := h.acceptedEvents(transaction); !slices.Equal(got, want) {
		h.t.Errorf("events of %s: %v, want %v", transaction, got, want)
	}
}

// attempts are all deliveries of one event.
func (h *webhookReceiver) attempts(id string) []delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []delivery
	for _, d := range h.deliveries {
		if d.id == id {
			found = append(found, d)
		}
	}
	return found
}

func (h *webhookReceiver) recentDeliveries() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var text strings.Builder
	for _, d := range h.deliveries[max(0, len(h.deliveries)-30):] {
		fmt.Fprintf(&text, "  %s %s %s answered %d\n", d.event, d.transactionID, d.id, d.responseStatus)
	}
	return text.String()
}
