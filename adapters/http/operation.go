package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

// Operation describes one operation of the interface. Who may call it is always
// said: exactly one of Permission and Public.
type Operation struct {
	ID          string // "createQuote"
	Path        string // below BasePath, parameters in braces: "/quotes/{quoteId}"
	Summary     string // a few words
	Description string // Markdown: paragraphs, lists, `code`
	Tag         string // one of those given to API.Tags

	Permission  platform.Permission
	Public      bool
	SandboxOnly bool // 403 for production platforms

	// Status of success. Zero: 200, or 204 where the body is NoBody.
	Status int
	// Outcomes are further successes, for operations that answer with a Reply.
	Outcomes []Outcome
	// Errors are the codes that this operation adds to those that every one can answer.
	Errors []fault.Code
	// MaxBody is the largest request body, in bytes. Zero: 1 MiB.
	MaxBody int64
	// Upload makes the body a file, which Call.File reads; nil: it is JSON.
	Upload *Upload
	// Timeout bounds what the operation may take. Zero: Config.RequestTimeout.
	Timeout time.Duration

	// Experimental is told to readers: it may change.
	Experimental bool
}

// Outcome is one success of an operation that has several.
type Outcome struct {
	Status      int
	Body        any // a zero value of the body's type; nil: none
	Description string
}

// Reply is the body type of an operation with several outcomes.
type Reply struct {
	Status int
	Body   any
}

// NoBody is the body type of an operation that answers nothing but its status.
type NoBody struct{}

// Call is what an operation knows of its request beside the input.
type Call struct {
	// Principal is who asks; zero in a public operation.
	Principal platform.Principal
	// IdempotentRequest is the request's idempotency key; nil without one, and never set but
	// on POST. A use case that changes something hands it to Tx.Remember.
	IdempotentRequest *ports.IdempotentRequest
	// RequestID stands in the log and in the answer.
	RequestID string
	// File is what was uploaded; nil where nothing can be.
	File io.Reader
}

// Handler carries out an operation. In is a struct with the parameters (fields with
// path, query and header tags) and, where there is one, the Body. It returns a
// result that render turns into the body, or a fault, or an error of our own.
type Handler[In, Result any] func(ctx context.Context, call Call, in *In) (Result, error)

// Get registers an operation that reads.
func Get[In, Result, Body any](a *API, op Operation, handle Handler[In, Result], render func(Result) Body) {
	register(a, http.MethodGet, op, handle, render)
}

// Post registers an operation that may be repeated under an Idempotency-Key.
func Post[In, Result, Body any](a *API, op Operation, handle Handler[In, Result], render func(Result) Body) {
	register(a, http.MethodPost, op, handle, render)
}

// Patch registers an operation that changes parts of something.
func Patch[In, Result, Body any](a *API, op Operation, handle Handler[In, Result], render func(Result) Body) {
	register(a, http.MethodPatch, op, handle, render)
}

// Put registers an operation that replaces something.
func Put[In, Result, Body any](a *API, op Operation, handle Handler[In, Result], render func(Result) Body) {
	register(a, http.MethodPut, op, handle, render)
}

// Delete registers an operation that ends something.
func Delete[In, Result, Body any](a *API, op Operation, handle Handler[In, Result], render func(Result) Body) {
	register(a, http.MethodDelete, op, handle, render)
}

const (
	routeKey       = "causeway"
	defaultMaxBody = 1 << 20
)

// humaOutput is what huma gets from every operation: nothing, for the answer is
// already in the exchange.
type humaOutput struct{ Body func(huma.Context) }

var emptyOutput = &humaOutput{Body: func(huma.Context) {}}

func register[In, Result, Body any](a *API, method string, op Operation, handle Handler[In, Result], render func(Result) Body) {
	if err := op.validate(); err != nil {
		panic(fmt.Sprintf("httpapi: %s %s: %v", method, op.Path, err))
	}
	empty := reflect.TypeFor[Body]() == reflect.TypeFor[NoBody]()
	if op.Status == 0 {
		op.Status = http.StatusOK
		if empty {
			op.Status = http.StatusNoContent
		}
	}
	if op.MaxBody == 0 {
		op.MaxBody = defaultMaxBody
	}
	pattern := BasePath + op.Path
	rt := &route{
		method: method, pattern: pattern, timer: a.meter.timer(method, pattern),
		permission: op.Permission, public: op.Public, sandboxOnly: op.SandboxOnly, maxBody: op.MaxBody,
		upload: op.Upload, timeout: op.Timeout,
	}
	view := func(out *bytes.Buffer, result Result) (int, error) {
		if empty {
			return op.Status, nil
		}
		var body any = render(result)
		if text, ok := body.(Text); ok {
			_, err := out.WriteString(string(text))
			return op.Status, err
		}
		status := op.Status
		if reply, ok := body.(Reply); ok {
			if status, body = reply.Status, reply.Body; body == nil {
				return status, nil
			}
		}
		return status, encode(out, body)
	}
	described := a.document.describe(method, op, reflect.TypeFor[Body](), rt)
	huma.Register(a.huma, described, func(ctx context.Context, in *In) (*humaOutput, error) {
		x := exchangeFromContext(ctx)
		x.plainText = reflect.TypeFor[Body]() == reflect.TypeFor[Text]()
		if c := x.keyed; c != nil {
			c.IdempotentRequest.Render = func(result any, err error) (int, []byte) {
				last := renderResponse(x, view, result, err)
				c.rendered.Store(last)
				return last.status, last.body
			}
		}
		result, err := handle(ctx, x.call, in)
		x.responded = true
		if err != nil {
			x.fail(err)
			return emptyOutput, nil
		}
		if x.keyed != nil {
			if last := x.keyed.rendered.Load(); last != nil && last.status < http.StatusBadRequest {
				x.respond(last.status, last.body) // the very bytes that were remembered
				return emptyOutput, nil
			}
		}
		out := x.buffer()
		out.Reset()
		if x.status, err = view(out, result); err != nil {
			x.respondError(err)
		}
		return emptyOutput, nil
	})
	a.document.addErrorResponses(rt.op, op)
}

// fail answers with a use case's error, which may be an earlier answer.
func (x *exchange) fail(err error) {
	var replay *ports.Replay
	if errors.As(err, &replay) {
		x.replay(replay.Status, replay.Body)
		return
	}
	x.respondError(err)
}

// renderResponse renders what a caller will be sent, for a use case to remember. It runs
// on the use case's goroutine, maybe amid a group of other callers' requests, so a
// mistake in one rendering ends as an answer of status 500 and not as a panic.
func renderResponse[Result any](x *exchange, view func(*bytes.Buffer, Result) (int, error), result any, err error) (last *renderedResponse) {
	out := getBuffer()
	defer putBuffer(out)
	sorry := func(err error) *renderedResponse {
		f, ours := toFault(err, x.requestID)
		if ours {
			x.api.config.Log.WithError(err).WithField("request_id", x.requestID).Error("an answer could not be rendered for its commit")
		}
		out.Reset()
		if err := encode(out, renderFault(f)); err != nil {
			return &renderedResponse{status: http.StatusInternalServerError}
		}
		return &renderedResponse{status: f.Code.Status(), body: bytes.Clone(out.Bytes())}
	}
	defer func() {
		if p := recover(); p != nil {
			last = sorry(&panicError{value: p})
		}
	}()
	if err != nil {
		return sorry(err)
	}
	typed, ok := result.(Result)
	if !ok {
		return sorry(fmt.Errorf("a %T was remembered for an operation that answers %s", result, reflect.TypeFor[Result]()))
	}
	status, err := view(out, typed)
	if err != nil {
		return sorry(err)
	}
	return &renderedResponse{status: status, body: append([]byte{}, out.Bytes()...)}
}

func (op Operation) validate() error {
	switch {
	case op.ID == "" || op.Path == "" || op.Summary == "" || op.Tag == "":
		return errors.New("needs an ID, a Path, a Summary and a Tag")
	case op.Public == (op.Permission != ""):
		return errors.New("must have either a Permission or be Public")
	case op.SandboxOnly && op.Public:
		return errors.New("a public operation knows no platform, so it cannot be for sandboxes only")
	}
	for _, code := range op.Errors {
		if code.Status() == http.StatusInternalServerError {
			return errors.New("lists a code that is ours or unknown: " + string(code))
		}
	}
	return nil
}
