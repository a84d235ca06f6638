// Package fault implements the one error type of the service: what is wrong with a
// request, in words that let the caller correct it.
//
// Core decides on a fault, the layers above pass it on, wrapped or not, and the outermost
// adapter alone turns it into a response. An error that is not a fault is a failure of the
// service; its text never reaches a caller. The package knows the HTTP status of each
// code, but never renders, logs or translates.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Error is a fault: a code for programs and a message for people. A fault that has been
// returned is not changed.
type Error struct {
	// Code is the kind of fault; it decides the status.
	Code Code
	// Message says what happened and what to do, in one or two sentences.
	Message string
	// Reason names the failed check if a code covers several checks; else it is empty.
	Reason string
	// Fields lists every invalid field of the request, if the fault is one of fields.
	Fields []Field
	// Details holds further facts for programs, as values that JSON can express.
	Details map[string]any
	// RetryAfter is how long to wait before a retry; zero if unknown.
	RetryAfter time.Duration
}

// Field is one invalid field of a request.
type Field struct {
	// Field is the dotted path of the field in the request: "accountInfo.beneficiary.fullName".
	Field string
	// Message says what the field must be; it continues the field's name: "must be …".
	Message string
	// Constraint is the violated rule as a JSON Schema keyword and its value
	// ("pattern": "^[0-9]{9}$"), or nil.
	Constraint map[string]any
}

// New returns a fault with a message formatted by fmt.Sprintf.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns an INVALID_INPUT fault that lists every invalid field.
func Invalid(fields ...Field) *Error {
	fault := &Error{Code: InvalidInput, Message: "The request is not valid.", Fields: slices.Clone(fields)}
	switch len(fields) {
	case 0:
	case 1:
		fault.Message = fields[0].Field + ": " + fields[0].Message
		if !strings.HasSuffix(fault.Message, ".") && !strings.HasSuffix(fault.Message, "?") {
			fault.Message += "."
		}
	default:
		names := make([]string, len(fields))
		for i, field := range fields {
			names[i] = field.Field
		}
		fault.Message = fmt.Sprintf("%d fields are not valid: %s.", len(fields), strings.Join(names, ", "))
	}
	return fault
}

// Error returns the code, the message and, in brackets, the reason. It omits the details,
// which may hold what must not be logged.
func (e *Error) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("%s: %s (%s)", e.Code, e.Message, e.Reason)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Is implements errors.Is: faults with the same code are equal.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && e != nil && other != nil && e.Code == other.Code
}

// Is reports whether err is, or wraps, a fault with this code.
func Is(err error, code Code) bool {
	fault, ok := As(err)
	return ok && fault.Code == code
}

// As returns the fault that err is or wraps, or false if there is none.
func As(err error) (*Error, bool) {
	var fault *Error
	if !errors.As(err, &fault) || fault == nil {
		return nil, false
	}
	return fault, true
}

// IsFinal reports whether err is a fault that the same work would meet again: what it concerns can
// be refused. All other errors are temporary: temporary faults, and errors that are no fault, such
// as a lost connection, a cancelled context or a failure of unknown cause.
func IsFinal(err error) bool {
	fault, ok := As(err)
	return ok && !fault.Code.Temporary()
}
