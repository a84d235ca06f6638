package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"causeway/core/fault"
)

func TestIs_ComparesCodes(t *testing.T) {
	t.Parallel()
	// A fault is recognised by its code, with any message and however deeply wrapped.
	expired := fault.New(fault.QuoteExpired, "The quote expired at %s; create a new one.", "12:00")
	wrapped := fmt.Errorf("execute: %w", expired)

	if !errors.Is(wrapped, &fault.Error{Code: fault.QuoteExpired}) || !fault.Is(wrapped, fault.QuoteExpired) {
		t.Errorf("%v is not recognised as %s", wrapped, fault.QuoteExpired)
	}
	if errors.Is(wrapped, &fault.Error{Code: fault.Conflict}) || fault.Is(wrapped, fault.Conflict) {
		t.Errorf("%v is recognised as %s", wrapped, fault.Conflict)
	}
	if errors.Is(wrapped, io.EOF) || fault.Is(io.EOF, fault.QuoteExpired) || fault.Is(nil, fault.QuoteExpired) {
		t.Error("an error that is no fault is recognised as one")
	}
}

func TestAs_FindsWrappedFault(t *testing.T) {
	t.Parallel()
	// As returns the wrapped fault itself.
	limited := &fault.Error{Code: fault.RateLimited, Message: "Slow down.", RetryAfter: 3 * time.Second}

	got, ok := fault.As(errors.Join(io.EOF, fmt.Errorf("take: %w", limited)))
	if !ok || got != limited {
		t.Errorf("As = %v, %v; want the fault itself", got, ok)
	}

	// No error, another error, and a nil *Error as an error are no faults.
	var none *fault.Error
	for _, err := range []error{nil, io.EOF, none, fmt.Errorf("wrapped: %w", none)} {
		if got, ok := fault.As(err); ok || got != nil {
			t.Errorf("As(%T) = %v, %v; want none", err, got, ok)
		}
	}
}

func TestError_StringOmitsDetails(t *testing.T) {
	t.Parallel()
	// The text for logs contains code, message and reason, but not the details.
	for _, c := range []struct {
		fault *fault.Error
		want  string
	}{
		{fault.New(fault.QuoteNotFound, "No quote has the id %s.", "Quote:1"), "QUOTE_NOT_FOUND: No quote has the id Quote:1."},
		{&fault.Error{Code: fault.Unauthorized, Message: "Ask again.", Reason: "Invalid OTP code",
			Details: map[string]any{"otp": "123456"}}, "UNAUTHORIZED: Ask again. (Invalid OTP code)"},
	} {
		if got := c.fault.Error(); got != c.want {
			t.Errorf("Error() = %q, want %q", got, c.want)
		}
	}
}

func TestInvalid_ListsEveryField(t *testing.T) {
	t.Parallel()
	// All invalid fields are kept in order, each is named in the message, and changing the
	// list afterwards does not change the fault.
	fields := []fault.Field{
		{Field: "currency", Message: "must be a known code"},
		{Field: "accountInfo.routingNumber", Message: "must have 9 digits", Constraint: map[string]any{"pattern": "^[0-9]{9}$"}},
	}
	got := fault.Invalid(fields...)
	fields[0].Field = "changed"

	if got.Code != fault.InvalidInput || len(got.Fields) != 2 || got.Fields[0].Field != "currency" {
		t.Errorf("Invalid = %+v", got)
	}
	for _, name := range []string{"currency", "accountInfo.routingNumber"} {
		if !strings.Contains(got.Message, name) {
			t.Errorf("message %q does not name %s", got.Message, name)
		}
	}

	// The message explains a single field, as a sentence with one mark at its end; without fields it is still a fault.
	for text, want := range map[string]string{
		"must be 1 to 100": "limit: must be 1 to 100.", "must be 1 to 100.": "limit: must be 1 to 100.",
		"is not known; did you mean size?": "limit: is not known; did you mean size?",
	} {
		if one := fault.Invalid(fault.Field{Field: "limit", Message: text}); one.Message != want {
			t.Errorf("message = %q, want %q", one.Message, want)
		}
	}
	if none := fault.Invalid(); none.Code != fault.InvalidInput || none.Message == "" || none.Fields != nil {
		t.Errorf("Invalid() = %+v", none)
	}
}

func TestIsFinal(t *testing.T) {
	t.Parallel()
	// Only a fault that the same work would meet again is final. What is not a fault, and what may
	// pass, is temporary, wrapped or not.
	for err, want := range map[error]bool{
		fault.New(fault.UserNotReady, "The customer is suspended."):                        true,
		fmt.Errorf("forward: %w", fault.New(fault.AmountOutOfRange, "The limit is 100.")):  true,
		fault.New(fault.ServiceUnavailable, "Another request works on the same resource."): false,
		fmt.Errorf("forward: %w", fault.New(fault.QuoteRequestFailed, "No rates.")):        false,
		fault.New(fault.InternalError, "Unknown cause."):                                   false,
		fault.New(fault.NotImplemented, "No rail is connected."):                           false,
		fault.New(fault.RateLimited, "Too many requests."):                                 false,
		fault.New(fault.MonthArchived, "The month is archived."):                           false,
		fault.New("UNDECLARED", "A mistake of this program."):                              false,
		errors.New("connection lost"):                                                      false,
		context.Canceled:                                                                   false,
		context.DeadlineExceeded:                                                           false,
	} {
		if got := fault.IsFinal(err); got != want {
			t.Errorf("IsFinal(%v) = %t, want %t", err, got, want)
		}
	}
	if fault.IsFinal(nil) {
		t.Error("no error is final")
	}
}
