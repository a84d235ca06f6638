package causeway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"causeway/clients/go/api"
)

// Error is a refusal by the service.
type Error struct {
	attempted

	Status int    // HTTP status
	Code   string // for programs, such as api.Error400CodeINVALIDINPUT; UNKNOWN if a proxy answered in place of the service
	// Message says what happened and what to do.
	Message string
	Reason  string           // which check failed, if the code covers several
	Fields  []api.FieldError // all fields of the request that are not valid
	Details map[string]any   // depends on the code; numbers are json.Number
	// RequestID is the id by which the logs of the service have the request.
	RequestID string
	Retryable bool // whether the same request may succeed later

	retryAfter time.Duration
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %d %s: %s", e.Request, e.Status, e.Code, e.Message)
}

// ConnectionError means that no response arrived, or not all of it. The request may have been carried out.
type ConnectionError struct {
	attempted

	Err error

	again bool
}

func (e *ConnectionError) Error() string { return fmt.Sprintf("%s: %v", e.Request, e.Err) }

// Unwrap returns the cause, such as context.DeadlineExceeded.
func (e *ConnectionError) Unwrap() error { return e.Err }

// attempted is what an error is about.
type attempted struct {
	Request string // such as POST /2025-10-13/quotes
	// IdempotencyKey is the key of a POST. Send the same request with it again to find out what became of it.
	IdempotencyKey string
}

// retryableError is an *Error or a *ConnectionError.
type retryableError interface {
	error
	delay(retry int, random float64) (delay time.Duration, again bool)
}

func (e *Error) delay(retry int, random float64) (time.Duration, bool) {
	return max(backoff(retry, random), e.retryAfter), e.Retryable
}

func (e *ConnectionError) delay(retry int, random float64) (time.Duration, bool) {
	return backoff(retry, random), e.again
}

// backoff returns how long to wait before a retry, the first of which is 0: from half a second, doubled up to eight, less up
// to a half at random, so that clients do not come back at the same time.
func backoff(retry int, random float64) time.Duration {
	return time.Duration(float64(min(500*time.Millisecond<<min(retry, 4), 8*time.Second)) * (1 - random/2))
}

func newError(about attempted, response *http.Response, body []byte) *Error {
	e := &Error{attempted: about, Status: response.StatusCode, RequestID: response.Header.Get("Request-Id")}
	var text struct {
		Code, Message, Reason string
		Details               json.RawMessage
	}
	if json.Unmarshal(body, &text) != nil || text.Code == "" { // a proxy in front of the service answers in other formats
		text.Code, text.Message = "UNKNOWN", string(body[:min(len(body), 500)])
	}
	e.Code, e.Message, e.Reason = text.Code, text.Message, text.Reason
	decoder := json.NewDecoder(bytes.NewReader(text.Details))
	decoder.UseNumber()
	_ = decoder.Decode(&e.Details) // optional, as are the fields in it
	var details struct{ Errors []api.FieldError }
	_ = json.Unmarshal(text.Details, &details)
	e.Fields = details.Errors
	e.Retryable = isRetryable(e.Status, e.Code, response.Header.Get("x-should-retry"))
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		e.retryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// isRetryable reports whether the same request may succeed later. The service says so in x-should-retry; a proxy in front of
// it does not.
func isRetryable(status int, code, said string) bool {
	if said == "true" || said == "false" {
		return said == "true"
	}
	return status == http.StatusTooManyRequests || status == http.StatusConflict && code == "IDEMPOTENCY_KEY_IN_USE" ||
		status >= 500 && status != http.StatusNotImplemented
}
