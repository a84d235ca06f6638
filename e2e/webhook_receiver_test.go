package e2e

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/apiclient"
)

// webhookReceiver receives the webhooks of a platform. A wrong signature or a wrong order
// of deliveries fails the test.
type webhookReceiver struct {
	t       testing.TB
	url     string
	pathEnd string // of no other receiver: the service goes on to send to one that has ended, whose port may be used again

	mu          sync.Mutex
	changed     chan struct{} // closed and replaced with each delivery
	deliveries  []delivery
	acceptedIDs map[string]bool   // webhooks, by id
	rejectedIDs map[string]string // by transaction, the event that was rejected and not accepted since
	inFlight    map[string]int    // by transaction
	// respond returns the status to respond with; nil accepts.
	respond func(d delivery) int
	// approvalBody is the response body to an approval request for an incoming payment.
	approvalBody string
}

// delivery is one attempt to deliver a webhook.
type delivery struct {
	apiResponse              // the body
	id, event, transactionID string
	path                     string // of the endpoint
	header                   http.Header
	responseStatus           int // that it was responded to with
	repeated                 bool
	receivedAt               time.Time
}

// startReceiver starts a receiver and makes it the platform's endpoint; it returns when the
// TEST event has been received.
func (p *tenant) startReceiver() *webhookReceiver {
	p.t.Helper()
	h := p.startReceiverNoWait()
	h.awaitDelivery("the TEST event", func(d delivery) bool { return d.event == "TEST" })
	return h
}

// startReceiverNoWait is startReceiver without waiting.
func (p *tenant) startReceiverNoWait() *webhookReceiver {
	p.t.Helper()
	h := &webhookReceiver{t: p.t, changed: make(chan struct{}), acceptedIDs: map[string]bool{}, rejectedIDs: map[string]string{},
		inFlight: map[string]int{}}
	verifier := apiclient.NewVerifier(&p.Client)
	if p.webhookSecret == "" {
		p.webhookSecret = p.post("/webhook-secrets", nil).wantStatus(201).text("secret")
	}
	if err := verifier.AddSecret(p.webhookSecret); err != nil {
		p.t.Fatal(err)
	}
	if p.endpointFor == nil {
		h.pathEnd = "/" + rand.Text()
	}
	server, err := apiclient.Listen("/hooks"+h.pathEnd, verifier, h.handle)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(server.Close)
	p.receiver, h.url = h, server.URL
	if p.endpointFor != nil {
		h.url = p.endpointFor(h.url)
	}
	p.patch("/config", object{"webhookEndpoint": h.url}).wantStatus(200)
	return h
}

// handle checks one delivery, records it, and returns what to respond with.
func (h *webhookReceiver) handle(received apiclient.Delivery) (status int, body string) {
	request := received.Request
	path, ofPlatform := strings.CutSuffix(request.URL.Path, h.pathEnd)
	if !ofPlatform {
		return http.StatusNotFound, ""
	}
	d := delivery{apiResponse: apiResponse{t: h.t, request: "webhook", body: received.Body}, receivedAt: received.ReceivedAt,
		header: request.Header, path: path}
	d.id, d.event, d.transactionID = d.text("webhookId"), d.text("event"), d.text("transaction.id")
	if received.Err != nil {
		h.t.Errorf("webhook %s %s: %v", d.event, d.id, received.Err)
		return http.StatusUnauthorized, ""
	}
	if !json.Valid(d.body) || !strings.HasPrefix(d.id, "Webhook:") || request.Method != http.MethodPost ||
		request.Header.Get("Content-Type") != "application/json" {
		h.t.Errorf("an invalid webhook: %s %q %s", request.Method, request.Header.Get("Content-Type"), d.body)
	}
	// An approval request is sent at once, not in order with the events of its transaction.
	approvalRequest := d.event == "INCOMING_PAYMENT.PENDING"
	h.mu.Lock()
	ordered := d.transactionID != "" && !approvalRequest
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
	if !approvalRequest {
		reply = ""
	}
	return d.responseStatus, reply
}

// respondWith changes how later events are responded to.
func (h *webhookReceiver) respondWith(respond func(d delivery) int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.respond = respond
}

// setApprovalResponse sets the response to approval requests for incoming payments; other
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
	timeout := time.After(waitTimeout)
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
		case <-timeout:
			h.t.Fatalf("%s was not received within %s; received were:\n%s", what, waitTimeout, h.recentDeliveries())
		}
	}
}

// awaitOutgoingEvent returns the accepted delivery of an event of a transaction.
func (h *webhookReceiver) awaitOutgoingEvent(transaction, event string) delivery {
	h.t.Helper()
	return h.awaitDelivery(event+" of "+transaction, func(d delivery) bool {
		return d.transactionID == transaction && d.event == "OUTGOING_PAYMENT."+event &&
			(d.responseStatus < 300 || d.responseStatus == http.StatusConflict)
	})
}

// acceptedEvents returns the events of a transaction that were accepted, each once, in
// order, without "OUTGOING_PAYMENT.".
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

// attempts returns all deliveries of one event.
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
		fmt.Fprintf(&text, "  %s %s %s: status %d\n", d.event, d.transactionID, d.id, d.responseStatus)
	}
	return text.String()
}
