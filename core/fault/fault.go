// Package fault is the one error type of the house: what went wrong with a
// request, said so that the caller can put it right.
//
// Core decides on a fault, every floor above passes it on (wrapping it at
// will), and the outermost adapter alone turns it into an answer. An error that
// is no fault is ours, and its text never reaches a caller. The package knows
// the status that belongs to a code, but never renders, logs or translates.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Error is a refusal with a code that programs read and a message that people read.
// A fault that has been returned is not changed any more.
type Error struct {
	// Code names the kind of fault and decides the status.
	Code Code
	// Message says what happened and what to do about it, in one or two sentences.
	Message string
	// Reason names the check that failed, where one code stands for several checks; else empty.
	Reason string
	// Fields lists every bad field of the request; empty where no single field is to blame.
	Fields []Field
	// Details holds further facts a program can act upon, as values JSON can express.
	Details map[string]any
	// RetryAfter is how long to wait before trying again; zero says nothing about it.
	RetryAfter time.Duration
}

// Field is one bad field of a request.
type Field struct {
	// Field is the path with dots, as the caller wrote it: "accountInfo.beneficiary.fullName".
	Field string
	// Message says what the field must be.
	Message string
	// Constraint is the rule that was broken, as a JSON Schema keyword and its
	// value ("pattern": "^[0-9]{9}$"); nil where there is none to name.
	Constraint map[string]any
}

// New makes a fault with a message in the manner of fmt.Sprintf.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid makes an INVALID_INPUT fault that lists every bad field at once.
func Invalid(fields ...Field) *Error {
	fault := &Error{Code: InvalidInput, Message: "The request is not valid.", Fields: slices.Clone(fields)}
	switch len(fields) {
	case 0:
	case 1:
		fault.Message = fmt.Sprintf("The field %s is not valid: %s.",
			fields[0].Field, strings.TrimSuffix(fields[0].Message, "."))
	default:
		names := make([]string, len(fields))
		for i, field := range fields {
			names[i] = field.Field
		}
		fault.Message = fmt.Sprintf("%d fields are not valid; correct them and send the request again: %s.",
			len(fields), strings.Join(names, ", "))
	}
	return fault
}

// Error is the code, the message and, in brackets, the reason if there is one.
// Details stay out: they may hold what must not stand in a log.
func (e *Error) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("%s: %s (%s)", e.Code, e.Message, e.Reason)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Is tells errors.Is that two faults are the same when their codes are.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && e != nil && other != nil && e.Code == other.Code
}

// Is tells whether err is, or wraps, a fault with this code.
func Is(err error, code Code) bool {
	fault, ok := As(err)
	return ok && fault.Code == code
}

// As finds the fault that err is or wraps; false means that err is an error of our own.
func As(err error) (*Error, bool) {
	var fault *Error
	if !errors.As(err, &fault) || fault == nil {
		return nil, false
	}
	return fault, true
}
