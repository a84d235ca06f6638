package provider

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/app/customers"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/verification"
	"causeway/ports"
)

// CallbackPath is where the service receives decisions.
const CallbackPath = "/identity/decisions"

// callbackTimeout is the maximum time to apply a decision.
const callbackTimeout = 15 * time.Second

// Decisions applies decisions.
type Decisions interface {
	Report(ctx context.Context, r customers.ReportedDecision) (applied bool, err error)
}

// Result is what became of a message.
type Result string

// The results.
const (
	Applied   Result = "applied"
	Unchanged Result = "unchanged" // repeated, late, or about an earlier application
	Refused   Result = "refused"   // not signed, too old, unknown or not valid
	Failed    Result = "failed"    // the provider has to repeat it
)

// Callback receives the decisions of the provider. It implements http.Handler.
type Callback struct {
	Secrets   Secrets
	Decisions Decisions
	Clock     ports.Clock
	Log       logrus.FieldLogger
	// Received is called for each message; it may be nil.
	Received func(Result)
}

// ServeHTTP applies the decision in a message. It answers 204, also if there was nothing to change.
func (c *Callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), callbackTimeout)
	defer cancel()
	result, status, err := c.receive(ctx, http.MaxBytesReader(w, r.Body, maxBody), r.Header)
	if c.Received != nil {
		c.Received(result)
	}
	w.Header().Set("Cache-Control", "no-store")
	if err == nil {
		w.WriteHeader(status)
		return
	}
	log := c.Log.WithField("status", status)
	message := err.Error()
	if result == Failed {
		log.WithError(err).Warn("decision of the identity provider was not applied; the provider has to repeat it")
		w.Header().Set("Retry-After", "5")
		message = "The decision was not applied. Send it again later, with the same webhook-id."
	} else {
		log.WithError(err).Warn("message to the address of the identity provider was refused")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message}) // the provider may have left
}

// receive reads and applies a message, and returns the status of the response.
func (c *Callback) receive(ctx context.Context, body interface{ Read([]byte) (int, error) }, h http.Header) (Result, int, error) {
	text, err := readBounded(body)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) || errors.Is(err, errTooLarge) {
		return Refused, http.StatusRequestEntityTooLarge, errTooLarge
	}
	if err != nil {
		return Refused, http.StatusBadRequest, errors.New("the body is incomplete")
	}
	message, err := c.Secrets.Verify(h, text, c.Clock.Now())
	if err != nil {
		return Refused, http.StatusUnauthorized, err
	}
	decision, err := ParseDecision(message)
	if err != nil {
		return Refused, http.StatusBadRequest, err
	}
	applied, err := c.Decisions.Report(ports.ForPlatform(ctx, decision.Platform), decision)
	switch {
	case err == nil && applied:
		return Applied, http.StatusNoContent, nil
	case err == nil:
		return Unchanged, http.StatusNoContent, nil
	case fault.Is(err, fault.VerificationNotFound), fault.Is(err, fault.BeneficialOwnerNotFound), fault.Is(err, fault.UserNotFound):
		return Refused, http.StatusNotFound, errors.New("there is no such application")
	case fault.Is(err, fault.InvalidInput):
		return Refused, http.StatusBadRequest, err
	default:
		return Failed, http.StatusServiceUnavailable, err
	}
}

// ParseDecision returns the decision in a message. Fault: INVALID_INPUT.
func ParseDecision(m Message) (customers.ReportedDecision, error) {
	var s State
	if err := decodeState(m.Body, &s); err != nil {
		return customers.ReportedDecision{}, err
	}
	r := customers.ReportedDecision{Message: m.ID, Outcome: s.outcome()}
	var errs [3]error
	r.Application, errs[0] = uuid.Parse(s.ID)
	r.Platform, errs[1] = ident.ParsePlatform(s.PlatformID)
	r.Subject, errs[2] = verification.ParseReviewSubject(s.SubjectID)
	for i, name := range []string{"id", "platformId", "subjectId"} {
		if errs[i] != nil {
			return r, fault.Invalid(fault.Field{Field: name, Message: "must be that of the submission"})
		}
	}
	return r, verification.CheckOutcome(r.Outcome)
}
