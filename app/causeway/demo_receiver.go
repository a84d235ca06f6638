package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
)

// demoPathPrefix begins the path of every play's webhook endpoint.
const demoPathPrefix = "/causeway-demo/"

// webhookReceiver takes in webhooks on this machine, as a platform's program would.
type webhookReceiver struct {
	url      string
	webhooks chan receivedWebhook

	keys   map[string]*ecdsa.PublicKey // by id
	server *http.Server

	mu          sync.Mutex
	customerID  string
	acceptedIDs map[string]bool // webhooks, by id
}

// receivedWebhook is one that came. err says what is wrong with it.
type receivedWebhook struct {
	apiResponse // its body
	event       string
	keyID       string // the id of the key that signed it
	err         error
}

// newWebhookReceiver listens on a free port of the loopback address. keys is what the service
// publishes.
func newWebhookReceiver(keys apiResponse) (*webhookReceiver, error) {
	r := &webhookReceiver{webhooks: make(chan receivedWebhook, 64), keys: map[string]*ecdsa.PublicKey{}, acceptedIDs: map[string]bool{}}
	if err := r.loadKeys(keys); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen for webhooks: %w", err)
	}
	path := demoPathPrefix + uuid.NewString()[:8]
	r.url = "http://" + listener.Addr().String() + path
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+path, r.handle)
	r.server = &http.Server{Handler: mux, ReadTimeout: 10 * time.Second}
	go func() { _ = r.server.Serve(listener) }() // ends with close
	return r, nil
}

// close answers what has come and listens no more.
func (r *webhookReceiver) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if r.server.Shutdown(ctx) != nil {
		_ = r.server.Close()
	}
}

// loadKeys reads the ECDSA keys; there are others, for the other signature.
func (r *webhookReceiver) loadKeys(keys apiResponse) error {
	list, _ := keys.value("data").([]any)
	for i := range list {
		key := apiResponse{body: list[i]}
		if key.text("algorithm") != "ECDSA_P256_SHA256" {
			continue
		}
		block, _ := pem.Decode([]byte(key.text("publicKey")))
		if block == nil {
			return fmt.Errorf("the webhook key %s is not PEM", key.text("id"))
		}
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return fmt.Errorf("the webhook key %s: %w", key.text("id"), err)
		}
		curve, ok := public.(*ecdsa.PublicKey)
		if !ok {
			return fmt.Errorf("the webhook key %s is a %T", key.text("id"), public)
		}
		r.keys[key.text("id")] = curve
	}
	if len(r.keys) == 0 {
		return errors.New("the service publishes no ECDSA key for webhooks")
	}
	return nil
}

// setCustomer says whose payments the play is about.
func (r *webhookReceiver) setCustomer(customer string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.customerID = customer
}

// handle answers one delivery: 200 for the play's own, 409 for one it had, and 503 for
// what is not the play's, so that it is sent again when the platform's endpoint is
// the old one.
func (r *webhookReceiver) handle(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(io.LimitReader(request.Body, 1<<20))
	if err != nil {
		http.Error(w, "the body broke off", http.StatusBadRequest)
		return
	}
	came := receivedWebhook{}
	if came.keyID, err = r.verify(request.Header.Get("Service-Webhook-Signature"), body); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		r.forward(receivedWebhook{err: err})
		return
	}
	if came.body, err = parseJSON(body); err != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	came.event = came.text("event")
	r.mu.Lock()
	mine := came.event == "TEST" || r.customerID != "" && came.text("transaction.customerId") == r.customerID
	again := r.acceptedIDs[came.text("webhookId")]
	r.acceptedIDs[came.text("webhookId")] = mine
	r.mu.Unlock()
	switch {
	case !mine:
		http.Error(w, "not for this program", http.StatusServiceUnavailable)
	case again:
		w.WriteHeader(http.StatusConflict)
	default:
		w.WriteHeader(http.StatusOK)
		r.forward(came)
	}
}

// forward hands a webhook to the play, which reads faster than they can come.
func (r *webhookReceiver) forward(w receivedWebhook) {
	select {
	case r.webhooks <- w:
	default:
	}
}

// verify checks the signature over the body as it came, and names the key.
func (r *webhookReceiver) verify(header string, body []byte) (string, error) {
	var signature struct {
		Version string `json:"v"`
		Value   string `json:"s"`
	}
	if err := json.Unmarshal([]byte(header), &signature); err != nil || signature.Version != "1" {
		return "", fmt.Errorf("a webhook came with the Service-Webhook-Signature %.80q, which is none", header)
	}
	der, err := base64.StdEncoding.DecodeString(signature.Value)
	if err != nil {
		return "", fmt.Errorf("a webhook's signature is not base64: %w", err)
	}
	digest := sha256.Sum256(body)
	for id, key := range r.keys {
		if ecdsa.VerifyASN1(key, digest[:], der) {
			return id, nil
		}
	}
	return "", errors.New("a webhook came with a signature that none of the published keys made")
}
