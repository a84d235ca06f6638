package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"causeway/adapters/rails/partner"
	"causeway/core/signedmessage"
)

// message is a message that the sidecar sent.
type message struct {
	number int // in the order of arrival
	event  partner.Event
	// refused is why the service would not accept the signature, and invalid why not the body.
	refused, invalid error
}

// maxMessages is how many messages are kept; further ones are refused.
const maxMessages = 10_000

// inbox are the messages so far.
type inbox struct {
	mu       sync.Mutex
	messages []message
	failing  partner.Payment // the first message about it gets 503
	failed   bool
}

func newInbox() *inbox { return &inbox{} }

// failOnce lets the first message about a payment get 503.
func (i *inbox) failOnce(payment partner.Payment) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.failing = payment
}

// maxBody is the largest message that the service takes.
const maxBody = 64 << 10

// ServeHTTP receives a message of the sidecar, and answers as the service does.
func (s *Suite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the body is too large or incomplete", http.StatusRequestEntityTooLarge)
		return
	}
	var m message
	now := s.Clock.Now()
	_, m.refused = s.secrets.Verify(signedmessage.Headers{ID: r.Header.Get(signedmessage.IDHeader),
		Timestamp: r.Header.Get(signedmessage.TimestampHeader),
		Signature: r.Header.Get(signedmessage.SignatureHeader)}, body, now)
	m.event, m.invalid = partner.ParseEvent(body, now)
	w.WriteHeader(s.received.add(m))
}

// add keeps a message, and returns the status of the answer.
func (i *inbox) add(m message) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.messages) == maxMessages {
		return http.StatusServiceUnavailable
	}
	m.number = len(i.messages)
	i.messages = append(i.messages, m)
	switch {
	case m.refused != nil:
		return http.StatusUnauthorized
	case m.invalid != nil:
		return http.StatusBadRequest
	case !i.failed && m.event.Payment != nil && m.event.Payment.ID == i.failing.ID && m.event.Payment.Kind == i.failing.Kind:
		i.failed = true
		return http.StatusServiceUnavailable
	}
	return http.StatusNoContent
}

func (i *inbox) all() []message {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.messages)
}

// awaitMessage waits for a message.
func (s *Suite) awaitMessage(ctx context.Context, what string, matches func(message) bool) (message, error) {
	var found message
	arrived, err := s.await(ctx, func(context.Context) (bool, error) {
		all := s.received.all()
		n := slices.IndexFunc(all, matches)
		if n >= 0 {
			found = all[n]
		}
		return n >= 0, nil
	})
	if err == nil && !arrived {
		err = fmt.Errorf("no message %s arrived within %s", what, s.Timeout)
	}
	return found, err
}

func (s *Suite) checkSent(ctx context.Context) error {
	_, err := s.awaitMessage(ctx, "with an event", func(message) bool { return true })
	return err
}

func (s *Suite) checkSentSigned(ctx context.Context) error {
	if err := s.checkSent(ctx); err != nil {
		return err
	}
	for _, m := range s.received.all() {
		if m.refused != nil {
			return m.refused
		}
	}
	return nil
}

// aboutSettled reports whether a message is about the payment whose first message gets 503.
func (s *Suite) aboutSettled(ctx context.Context) (func(message) bool, error) {
	t, err := s.submit(ctx, settles)
	return func(m message) bool {
		return m.invalid == nil && m.event.Payment != nil && m.event.Payment.ID == t.ID && m.event.Payment.Kind == t.Kind
	}, err
}

func (s *Suite) checkSentBodies(ctx context.Context) error {
	about, err := s.aboutSettled(ctx)
	if err != nil {
		return err
	}
	if _, err := s.awaitMessage(ctx, "about the payment that settled", about); err != nil {
		return err
	}
	if err := s.readEvents(ctx); err != nil {
		return err
	}
	for _, m := range s.received.all() {
		if m.invalid != nil {
			return m.invalid
		}
		listed := slices.IndexFunc(s.events.events, func(e partner.Event) bool { return e.ID == m.event.ID })
		if listed < 0 && about(m) {
			return fmt.Errorf("the event %q is not listed", m.event.ID)
		}
		if listed >= 0 && !isSame(m.event, s.events.events[listed]) {
			return fmt.Errorf("the event %q is listed with other content", m.event.ID)
		}
	}
	return nil
}

func (s *Suite) checkSentAgain(ctx context.Context) error {
	about, err := s.aboutSettled(ctx)
	if err != nil {
		return err
	}
	first, err := s.awaitMessage(ctx, "about the payment that settled", func(m message) bool { return about(m) && m.refused == nil })
	if err != nil {
		return err
	}
	again, err := s.awaitMessage(ctx, "a second time, after 503,", func(m message) bool {
		return m.number > first.number && about(m) && m.event.Payment.Status == first.event.Payment.Status
	})
	if err == nil && !isSame(first.event, again.event) {
		err = errors.New("it was sent again with another id or content")
	}
	return err
}
