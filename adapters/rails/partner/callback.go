package partner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/fault"
	"causeway/core/rail"
	"causeway/core/signedmessage"
	"causeway/ports"
)

// CallbackPath is where the sidecar of a connection sends events.
const CallbackPath = "/rails/partner/{connection}/events"

// callbackTimeout is the maximum time to store an event.
const callbackTimeout = 15 * time.Second

// Result is what became of a message.
type Result string

// The results.
const (
	Stored  Result = "stored"  // or known
	Refused Result = "refused" // not signed, too old or not valid
	Failed  Result = "failed"  // the sidecar has to repeat it
)

// Callback receives the events of sidecars and stores them. What follows from them is done when the feed of the
// connection is read. It implements http.Handler.
type Callback struct {
	// Connection returns the present settings of a connection, or a fault if there is none of the name.
	Connection func(ctx context.Context, name string) (rail.Connection, error)
	Secrets    ports.Secrets
	Events     ports.PartnerEvents
	Clock      ports.Clock
	Log        logrus.FieldLogger
	// Received is called for each message; it may be nil.
	Received func(Result)
}

// ServeHTTP stores the event of a message. It answers 204, also if it is known.
func (c *Callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(ports.ForAllPlatforms(r.Context()), callbackTimeout)
	defer cancel()
	status, err := c.receive(ctx, r.PathValue("connection"), http.MaxBytesReader(w, r.Body, maxState), r.Header)
	result := Stored
	switch {
	case status >= http.StatusInternalServerError:
		result = Failed
	case err != nil:
		result = Refused
	}
	if c.Received != nil {
		c.Received(result)
	}
	w.Header().Set("Cache-Control", "no-store")
	if err == nil {
		w.WriteHeader(status)
		return
	}
	log := c.Log.WithError(err).WithField("status", status)
	message := err.Error()
	if result == Failed {
		log.Warn("event of a partner was not stored; the partner has to repeat it")
		w.Header().Set("Retry-After", "5")
		message = "The event was not stored. Send it again later, with the same id."
	} else {
		log.Warn("message to the address of a partner was refused")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(Problem{Message: message}) // the partner may have left
}

var errUnknownConnection = errors.New("there is no such connection to a partner")

// receive verifies and stores a message, and returns the status of the response.
func (c *Callback) receive(ctx context.Context, name string, body io.Reader, h http.Header) (int, error) {
	connection, err := c.Connection(ctx, name)
	switch {
	case err == nil && connection.Adapter == rail.Partner:
	case err == nil || isFault(err):
		return http.StatusNotFound, errUnknownConnection
	default:
		return http.StatusServiceUnavailable, err
	}
	text, err := io.ReadAll(body)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge, fmt.Errorf("the body has more than %d bytes", maxState)
	}
	if err != nil {
		return http.StatusBadRequest, errors.New("the body is incomplete")
	}
	secrets, err := readSecrets(ctx, c.Secrets, connection.Settings[settingSecret])
	if err != nil {
		return http.StatusServiceUnavailable, err
	}
	now := c.Clock.Now()
	headers, err := messageHeaders(h)
	if err != nil {
		return http.StatusUnauthorized, err
	}
	if _, err := secrets.Verify(headers, text, now); err != nil {
		return http.StatusUnauthorized, err
	}
	event, err := ParseEvent(text, now)
	if err != nil {
		return http.StatusBadRequest, err
	}
	reused, err := saveEvents(ctx, c.Events, name, now, []Event{event})
	if err != nil {
		return http.StatusServiceUnavailable, err
	}
	if reused > 0 {
		return http.StatusConflict, errors.New("the id of the event was used for another one, which counts; an operator will ask which is right")
	}
	return http.StatusNoContent, nil
}

// isFault reports whether an error says that there is no such connection, and not that it could not be read.
func isFault(err error) bool {
	var f *fault.Error
	return errors.As(err, &f)
}

// messageHeaders returns the headers of a message, each of which it has once.
func messageHeaders(h http.Header) (signedmessage.Headers, error) {
	var out signedmessage.Headers
	for name, value := range map[string]*string{signedmessage.IDHeader: &out.ID, signedmessage.TimestampHeader: &out.Timestamp,
		signedmessage.SignatureHeader: &out.Signature} {
		given := h.Values(name)
		if len(given) != 1 {
			return out, signedmessage.ErrHeaders
		}
		*value = given[0]
	}
	return out, nil
}

// ParseEvent returns the event of a message. Its error has no personal data.
func ParseEvent(text []byte, now time.Time) (Event, error) {
	var e Event
	if err := decode(text, &e); err != nil {
		return e, err
	}
	return e, e.check(now)
}
