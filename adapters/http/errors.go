package httpapi

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

// Error is the body of every answer that is no success.
type Error struct {
	Status  int            `json:"status" doc:"The HTTP status, repeated." example:"400"`
	Code    string         `json:"code" doc:"What kind of error this is, for programs." example:"INVALID_INPUT"`
	Message string         `json:"message" doc:"What happened and what to do about it, for people."`
	Reason  string         `json:"reason,omitempty" doc:"The check that failed, where one code stands for several checks."`
	Details map[string]any `json:"details,omitempty" doc:"Further facts. details.errors lists every bad field of the request: field (dotted path), message and, where there is one, the constraint that was broken. details.reason repeats reason."`
}

// FieldError is one bad field in details.errors.
type FieldError struct {
	Field      string         `json:"field" doc:"Dotted path of the field, as the caller wrote it." example:"accountInfo.routingNumber"`
	Message    string         `json:"message" doc:"What the field must be."`
	Constraint map[string]any `json:"constraint,omitempty" doc:"The rule that was broken, as a JSON Schema keyword and its value."`
}

const challenge = `Basic realm="causeway", charset="UTF-8"`

// toFault turns any error into the fault that the caller is told; true says that
// the error is ours and its text must stay here.
func toFault(err error, requestID string) (*fault.Error, bool) {
	if f, ok := fault.As(err); ok {
		return f, f.Code == fault.InternalError
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &fault.Error{
			Code:       fault.ServiceUnavailable,
			Message:    "This took longer than the service allows and was given up. Repeat the request with the same Idempotency-Key.",
			RetryAfter: time.Second,
		}, true
	}
	return &fault.Error{
		Code:    fault.InternalError,
		Message: "Something failed on our side; it was logged under this request id. Repeat the request with the same Idempotency-Key, or tell us the id.",
		Details: map[string]any{"requestId": requestID},
	}, true
}

// renderFault renders a fault.
func renderFault(f *fault.Error) Error {
	body := Error{Status: f.Code.Status(), Code: string(f.Code), Message: f.Message, Reason: f.Reason, Details: f.Details}
	if f.Reason == "" && len(f.Fields) == 0 {
		return body
	}
	body.Details = make(map[string]any, len(f.Details)+2)
	for name, value := range f.Details {
		body.Details[name] = value
	}
	if f.Reason != "" {
		body.Details["reason"] = f.Reason
	}
	if len(f.Fields) > 0 {
		list := make([]FieldError, len(f.Fields))
		for i, field := range f.Fields {
			list[i] = FieldError(field)
		}
		body.Details["errors"] = list
	}
	return body
}

func ceilSeconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// huma reports what it finds wrong through one function for the whole program.
func init() {
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		f := validationFault(status, message, errs)
		if x, ok := ctx.(*exchange); ok {
			x.code = f.Code
			if f.Code == fault.InternalError {
				x.err = errors.Join(append([]error{errors.New(message)}, errs...)...)
			}
		}
		return problem(renderFault(f))
	}
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		return problem(renderFault(validationFault(status, message, errs)))
	}
}

// problem is an Error in the shape that huma writes.
type problem Error

func (p problem) GetStatus() int { return p.Status }
func (p problem) Error() string  { return p.Message }

// validationFault translates what huma found wrong with a request.
func validationFault(status int, message string, errs []error) *fault.Error {
	switch status {
	case http.StatusUnsupportedMediaType:
		return fault.New(fault.UnsupportedMediaType, "The body must be JSON. Send it with the header Content-Type: application/json.")
	case http.StatusRequestEntityTooLarge:
		return fault.New(fault.PayloadTooLarge, "The body is too large.")
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
	default:
		f, _ := toFault(errors.New(message), "")
		return f
	}
	if len(errs) == 0 && message == "request body is required" {
		return fault.New(fault.InvalidInput, "This operation needs a body. Send a JSON object.")
	}
	fields := make([]fault.Field, 0, len(errs))
	for _, err := range errs {
		var detail huma.ErrorDetailer
		var found invalidField
		if errors.As(err, &found) {
			if !slices.ContainsFunc(fields, found.isWithin) {
				fields = append(fields, found.field)
			}
			continue
		}
		if !errors.As(err, &detail) {
			fields = append(fields, fault.Field{Message: err.Error()})
			continue
		}
		d := detail.ErrorDetail()
		if f, ok := syntaxFault(d.Message); ok {
			return f
		}
		field, text, constraint := explain(d.Message)
		fields = append(fields, fault.Field{Field: fieldPath(d.Location, field), Message: text, Constraint: constraint})
	}
	if len(fields) == 1 && fields[0].Field == "" {
		return fault.New(fault.InvalidInput, "The body %s.", fields[0].Message)
	}
	return fault.Invalid(fields...)
}

// fieldPath is the dotted path of a field as its caller wrote it: where it was found,
// without "body", "query" and the like in front, and the name of what is missing there.
func fieldPath(location, field string) string {
	for _, part := range []string{"body", "query", "path", "header", "cookie", "form"} {
		if location == part {
			return field
		}
		if rest, ok := strings.CutPrefix(location, part+"."); ok {
			location = rest
			break
		}
		if part == "body" && strings.HasPrefix(location, "body[") {
			location = location[len("body"):]
			break
		}
	}
	switch {
	case field == "":
		return location
	case location == "":
		return field
	}
	return location + "." + field
}
