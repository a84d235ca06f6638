package main

import (
	"net/http"
	"sync"

	"github.com/google/uuid"

	"causeway/adapters/apiclient"
)

// demoPathPrefix begins the path of every demo's webhook endpoint.
const demoPathPrefix = "/causeway-demo/"

// webhookReceiver receives the webhooks of one demo on this machine.
type webhookReceiver struct {
	*apiclient.Receiver
	webhooks chan receivedWebhook

	mu          sync.Mutex
	customerID  string
	acceptedIDs map[string]bool // webhooks, by id
}

// receivedWebhook is a webhook of the demo. err is set if its signature is wrong.
type receivedWebhook struct {
	apiResponse
	event string
	err   error
}

func newWebhookReceiver(verifier *apiclient.Verifier) (_ *webhookReceiver, err error) {
	r := &webhookReceiver{webhooks: make(chan receivedWebhook, 64), acceptedIDs: map[string]bool{}}
	r.Receiver, err = apiclient.Listen(demoPathPrefix+uuid.NewString()[:8], verifier, r.handle)
	return r, err
}

// setCustomer sets whose payments the demo is about.
func (r *webhookReceiver) setCustomer(customer string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.customerID = customer
}

// handle responds with 200 to a webhook of the demo, 409 to a repeated one, and 503 to one
// of another customer, so that the service sends that again after the demo, to the
// platform's own endpoint.
func (r *webhookReceiver) handle(d apiclient.Delivery) (status int, body string) {
	if d.Err != nil {
		r.forward(receivedWebhook{err: d.Err})
		return http.StatusUnauthorized, ""
	}
	document, err := apiclient.ParseJSON(d.Body)
	if err != nil {
		return http.StatusBadRequest, "not JSON"
	}
	w := receivedWebhook{apiResponse: apiResponse{document}}
	w.event = w.text("event")
	r.mu.Lock()
	wanted := w.event == "TEST" || r.customerID != "" && w.text("transaction.customerId") == r.customerID
	repeated := r.acceptedIDs[w.text("webhookId")]
	r.acceptedIDs[w.text("webhookId")] = wanted
	r.mu.Unlock()
	switch {
	case !wanted:
		return http.StatusServiceUnavailable, "not for this program"
	case repeated:
		return http.StatusConflict, ""
	default:
		r.forward(w)
		return http.StatusOK, ""
	}
}

// forward gives a webhook to the demo, which reads faster than webhooks can be received.
func (r *webhookReceiver) forward(w receivedWebhook) {
	select {
	case r.webhooks <- w:
	default:
	}
}
