package httpapi

import (
	"context"
	"errors"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
	"causeway/ports"
)

// Error is the body of every error response.
type Error struct {
	Status  int            `json:"status" doc:"HTTP status of the response." example:"400"`
	Code    string         `json:"code" doc:"Error code." example:"INVALID_INPUT"`
	Message string         `json:"message" doc:"Error message: what happened and what to do."`
	Reason  string         `json:"reason,omitempty" doc:"Failed check, if the code covers several checks."`
	Details map[string]any `json:"details,omitempty" doc:"Further details. details.errors lists all invalid fields of the request, each with field (dotted path), message and, if any, the violated constraint. details.reason is the same as reason."`
}

// FieldError is one invalid field in details.errors.
type FieldError struct {
	Field      string         `json:"field" doc:"Dotted path of the field." example:"accountInfo.routingNumber"`
	Message    string         `json:"message" doc:"Requirement that the field does not meet."`
	Constraint map[string]any `json:"constraint,omitempty" doc:"Violated constraint, as a JSON Schema keyword and its value."`
}

// The values of WWW-Authenticate: for tokens, and for agents (RFC 6750).
const (
	basicChallenge  = `Basic realm="causeway", charset="UTF-8"`
	bearerChallenge = `Bearer realm="causeway"`
)

// toFault returns the fault to respond with, and whether the error is internal: then it
// is logged and its text is not sent.
func (x *exchange) toFault(err error) (f *fault.Error, internal bool) {
	if _, known := fault.As(err); !known && x.api.config.IsOutage != nil && x.api.config.IsOutage(err) {
		return &fault.Error{
			Code:       fault.ServiceUnavailable,
			Message:    "The database is not available. Send the request again with the same Idempotency-Key.",
			RetryAfter: time.Second,
		}, true
	}
	return toFault(err, x.requestID)
}

func toFault(err error, requestID string) (f *fault.Error, internal bool) {
	if known, ok := fault.As(err); ok {
		hasCause := known.Code == fault.ServiceUnavailable && err.Error() != known.Error()
		return known, known.Code == fault.InternalError || hasCause
	}
	if errors.Is(err, ports.ErrReadTimeout) {
		return &fault.Error{
			Code: fault.ServiceUnavailable, Reason: "Too much to read", RetryAfter: 30 * time.Second,
			Message: "The request reads more than it may. Narrow it with its parameters, such as a period, a customer or an account, and a " +
				"smaller limit.",
		}, true
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &fault.Error{
			Code:       fault.ServiceUnavailable,
			Message:    "The request timed out. Send it again with the same Idempotency-Key.",
			RetryAfter: time.Second,
		}, true
	}
	return &fault.Error{
		Code:    fault.InternalError,
		Message: "Internal error. Send the request again with the same Idempotency-Key, or contact support with the request id.",
		Details: map[string]any{"requestId": requestID},
	}, true
}

// renderFault returns the response body of a fault.
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

// setShouldRetry tells clients that read x-should-retry, as those of Stripe do, whether the
// same request may succeed later. An error that is stored under the idempotency key stays.
func (x *exchange) setShouldRetry(header http.Header) {
	retry := x.code.Retryable() && !x.replayed && !(x.keyed != nil && x.isFinal())
	header["X-Should-Retry"] = []string{strconv.FormatBool(retry)}
}

func ceilSeconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// init sets the global functions through which huma reports validation errors.
func init() {
	huma.NewErrorWithContext = func(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
		f := validationFault(status, message, errs)
		if x, ok := ctx.(*exchange); ok {
			f = x.withUnknown(x.withInvalid(x.withEnums(f)))
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

// problem is an Error that implements huma.StatusError.
type problem Error

func (p problem) GetStatus() int { return p.Status }
func (p problem) Error() string  { return p.Message }

// validationFault translates the validation errors of huma.
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
		return fault.New(fault.InvalidInput, "This operation requires a body. Send a JSON object.")
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
		if field == "" && strings.HasPrefix(text, "must be an id of the form ") {
			text += InsteadOfID(d.Value)
		}
		fields = append(fields, fault.Field{Field: fieldPath(d.Location, field), Message: text, Constraint: constraint})
	}
	// The fields that core misses in another value than an object are not reported.
	if slices.ContainsFunc(fields, func(f fault.Field) bool { return f.Field == "" && f.Message == rules["object"].text }) {
		return fault.New(fault.InvalidInput, "The body must be a JSON object.")
	}
	if len(fields) == 1 && fields[0].Field == "" {
		return fault.New(fault.InvalidInput, "The body %s.", fields[0].Message)
	}
	return fault.Invalid(fields...)
}

// idLike matches what is taken for an id: a UUID or a short text, with or without a type before it.
var idLike = regexp.MustCompile(`^(?:[A-Za-z]{1,30}:)?(?:[0-9a-fA-F]{8}-[0-9a-fA-F-]{0,40}|[\w-]{0,15})$`)

// InsteadOfID says what was sent in place of an id; empty if it was no text. What may be a secret is not repeated.
func InsteadOfID(sent any) string {
	switch text, isText := sent.(string); {
	case !isText:
		return ""
	case text == "":
		return ", and is empty"
	case !idLike.MatchString(text):
		return ", not a text of " + strconv.Itoa(utf8.RuneCountInString(text)) + " characters"
	default:
		return ", not " + text
	}
}

// fieldPath returns the dotted path of a field: its location without the prefix "body",
// "query" or the like, and the name of the missing field, if any.
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

// invalidField carries an invalid field found by core through the validator.
type invalidField struct{ field fault.Field }

func (f invalidField) Error() string { return f.field.Message }

// isWithin reports whether the field is the given field or inside it.
func (f invalidField) isWithin(known fault.Field) bool {
	rest, ok := strings.CutPrefix(f.field.Field, known.Field)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// KeepInput keeps the input of a request for Operation.CheckInvalid. The Resolve method of the input
// calls it.
func KeepInput(ctx huma.Context, in any) {
	if x, ok := ctx.(*exchange); ok {
		x.input = in
	}
}

// withInvalid adds the fields that Operation.CheckInvalid finds to the error of an invalid request.
// If it fails otherwise, the error is the one that is known.
func (x *exchange) withInvalid(f *fault.Error) *fault.Error {
	if f.Code != fault.InvalidInput || len(f.Fields) == 0 || x.input == nil || x.route.checkInvalid == nil {
		return f
	}
	more, ok := fault.As(x.route.checkInvalid(x.Context(), x.call, x.input))
	if !ok || more.Code != fault.InvalidInput {
		return f
	}
	fields := slices.Clone(f.Fields)
	for _, field := range more.Fields {
		if !slices.ContainsFunc(f.Fields, invalidField{field}.isWithin) {
			fields = append(fields, field)
		}
	}
	return fault.Invalid(fields...)
}

// withEnums names the allowed values of the required fields that an error misses.
func (x *exchange) withEnums(f *fault.Error) *fault.Error {
	fields := slices.Clone(f.Fields)
	for i, field := range fields {
		if field.Message != rules["required"].text {
			continue
		}
		if values := x.route.known.enum(field.Field); len(values) > 0 {
			fields[i].Message += "; one of " + strings.Join(values, ", ")
			fields[i].Constraint = map[string]any{"enum": values}
		}
	}
	if len(fields) == 0 {
		return f
	}
	return fault.Invalid(fields...)
}

// FieldErrors returns the invalid fields of a fault as errors for the Resolve method of a
// body. So a body that is validated by core lists all its invalid fields at once. Fields
// that the schema already found invalid are not reported again.
func FieldErrors(err error) []error {
	f, ok := fault.As(err)
	if !ok {
		return nil
	}
	found := make([]error, len(f.Fields))
	for i, field := range f.Fields {
		found[i] = invalidField{field}
	}
	return found
}
