package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/identity/provider"
	"causeway/app/customers"
)

// message is a message that the provider sent.
type message struct {
	number      int // in the order of arrival
	id          string
	body        []byte
	application uuid.UUID // zero if the body does not say
	status      string
	decision    customers.ReportedDecision
	// refused is why the service would not accept the signature, and invalid why not the body.
	refused, invalid error
}

// maxMessages is how many messages are kept; further ones are refused.
const maxMessages = 10_000

// inbox are the messages so far.
type inbox struct {
	mu       sync.Mutex
	messages []message
	changed  chan struct{}      // closed and replaced with each message
	failing  map[uuid.UUID]bool // applications of which the next message gets 503
}

func newInbox() *inbox {
	return &inbox{changed: make(chan struct{}), failing: map[uuid.UUID]bool{}}
}

// failOnce lets the first message about an application get 503.
func (i *inbox) failOnce(application uuid.UUID) { i.failing[application] = true }

// ServeHTTP receives a message of the provider.
func (s *Suite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const maxBody = 64 << 10
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the body is too large or incomplete", http.StatusRequestEntityTooLarge)
		return
	}
	m := message{id: r.Header.Get("webhook-id"), body: body}
	_, m.refused = s.Secrets.Verify(r.Header, body, s.Clock.Now())
	var state struct{ ID, Status string }
	if json.Unmarshal(body, &state) == nil {
		m.application, _ = uuid.Parse(state.ID)
		m.status = state.Status
	}
	m.decision, m.invalid = provider.ParseDecision(provider.Message{ID: m.id, Body: body})
	w.WriteHeader(s.received.add(m))
}

// add keeps a message, and returns the status of the response.
func (i *inbox) add(m message) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.messages) == maxMessages {
		return http.StatusServiceUnavailable
	}
	m.number = len(i.messages)
	i.messages = append(i.messages, m)
	close(i.changed)
	i.changed = make(chan struct{})
	switch {
	case i.failing[m.application]:
		delete(i.failing, m.application)
		return http.StatusServiceUnavailable
	case m.refused != nil:
		return http.StatusUnauthorized
	case m.invalid != nil:
		return http.StatusBadRequest
	}
	return http.StatusNoContent
}

func (i *inbox) all() []message {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.messages)
}

// await returns the first message about an application that matches; matches may be nil.
func (i *inbox) await(ctx context.Context, timeout time.Duration, application uuid.UUID, matches func(message) bool) (message, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		i.mu.Lock()
		changed := i.changed
		i.mu.Unlock()
		for _, m := range i.all() {
			if m.application == application && (matches == nil || matches(m)) {
				return m, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return message{}, fmt.Errorf("no such message about the application %s arrived within %s", application, timeout)
		}
	}
}
