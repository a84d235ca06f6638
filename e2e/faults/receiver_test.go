package faults

import (
	"net/http"
	"strconv"
	"sync"

	"causeway/adapters/apiclient"
	"causeway/e2e/kit"
)

// The amounts, in cents, of incoming payments that the endpoint approves at once, rejects, and leaves
// to a later request.
const (
	approvedAmount = 1250
	rejectedAmount = 1251
	deferredAmount = 1252
)

// receiver is the webhook endpoint of the platform. It accepts every event.
type receiver struct {
	mu        sync.Mutex
	count     int                 // deliveries
	seen      map[string]bool     // webhooks, by id
	events    map[string][]string // of each transaction, each once, in the order of their first deliveries
	balances  map[string]string   // of each account, in its last event
	approvals map[string]int      // events that asked for the approval of an action of an agent
	pending   map[string]bool     // incoming payments whose approval was left to a later request
}

// startReceiver makes a receiver the endpoint of the platform.
func startReceiver(s *system) *receiver {
	s.t.Helper()
	r := &receiver{seen: map[string]bool{}, events: map[string][]string{}, balances: map[string]string{}, approvals: map[string]int{},
		pending: map[string]bool{}}
	verifier := apiclient.NewVerifier(s.client)
	if err := verifier.AddSecret(s.mustCall(http.MethodPost, "/webhook-secrets", nil, http.StatusCreated).text("secret")); err != nil {
		s.t.Fatal(err)
	}
	server, err := apiclient.Listen("/hooks", verifier, func(d apiclient.Delivery) (int, string) {
		document, err := apiclient.ParseJSON(d.Body)
		if d.Err != nil || err != nil {
			s.t.Errorf("an invalid webhook: %v, %v: %s", d.Err, err, d.Body)
		}
		return r.accept(response{document: document}), ""
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(server.Close)
	s.mustCall(http.MethodPatch, "/config", kit.Object{"webhookEndpoint": server.URL}, http.StatusOK)
	return r
}

// accept records a delivery, and returns the status of its response.
func (r *receiver) accept(d response) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	event, transaction := d.text("event"), d.text("transaction.id")
	if event == "INCOMING_PAYMENT.PENDING" { // a request for approval is sent at once, and not in order with the events
		switch d.text("transaction.receivedAmount.amount") {
		case strconv.Itoa(rejectedAmount):
			return http.StatusForbidden
		case strconv.Itoa(deferredAmount):
			r.pending[transaction] = true
			return http.StatusAccepted
		}
		return http.StatusOK
	}
	if id := d.text("webhookId"); !r.seen[id] {
		r.seen[id] = true
		if transaction != "" {
			r.events[transaction] = append(r.events[transaction], event)
		}
		if event == "AGENT_ACTION.PENDING_APPROVAL" {
			r.approvals[d.text("agentAction.id")]++
		}
		if account := d.text("internalAccount.id"); account != "" {
			r.balances[account] = d.text("internalAccount.balance.amount")
		}
	}
	return http.StatusOK
}

// isPending reports whether the approval of a payment was left to a later request.
func (r *receiver) isPending(transaction string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pending[transaction]
}
