package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// Operation describes one operation of the interface. Exactly one of Permission, Agent and
// Public must be set; the permission is checked before the handler is called.
type Operation struct {
	ID          string // "createQuote"
	Path        string // below BasePath, parameters in braces: "/quotes/{quoteId}"
	Summary     string // an imperative phrase
	Description string // Markdown: paragraphs, lists, `code`
	Tag         string // one of API.Tags

	Permission platform.Permission
	Agent      bool // for agents, which authenticate with their access token
	// AgentPermissions are the permissions of agents of which the policy of the caller must have one. Empty
	// means that every agent is allowed.
	AgentPermissions []platform.Permission
	// AgentAttempt leaves the check of AgentPermissions to the use case, which records an attempt of an agent also
	// if it is refused. They are still described.
	AgentAttempt bool
	Public       bool
	SandboxOnly  bool // 403 for production platforms
	// Unlogged keeps requests to the operation out of the log of requests.
	Unlogged bool

	// PublicLimit limits the requests to a public operation. Nil means no limit.
	PublicLimit *PublicLimit

	// Status is the status of success. Zero means 200, or 204 if the body is NoBody.
	Status int
	// Outcomes are the successful responses of an operation that returns a Reply.
	Outcomes []Outcome
	// Errors are the error codes of this operation beyond the common ones.
	Errors []fault.Code
	// MaxBody is the maximum size of the request body, in bytes. Zero means 1 MiB.
	MaxBody int64
	// CheckInvalid checks the input of a request that is invalid anyway against what is stored, and
	// returns INVALID_INPUT with further fields, so that all are listed at once. in is what the input
	// passed to KeepInput. The use case makes the same check for a request without other errors. It
	// may be nil.
	CheckInvalid func(ctx context.Context, call Call, in any) error
	// Upload makes the body a file, which Call.File reads. Nil means a JSON body.
	Upload *Upload
	// Timeout is the timeout of the operation. Zero means Config.RequestTimeout.
	Timeout time.Duration

	// SignedRetry makes the owner of an embedded wallet authorize the operation: see Signed. Call.Signed
	// has the signature.
	SignedRetry bool
	// Actor accepts the header Causeway-Actor: the name of the person who makes the request. Call.Actor has
	// it, and an Idempotency-Key is refused for a request with another one.
	Actor bool

	// Experimental marks an operation that may change.
	Experimental bool
}

// Outcome is one successful response of an operation that has several.
type Outcome struct {
	Status      int
	Body        any // a zero value of the body type; nil means no body
	Description string
}

// Reply is the body type of an operation with several outcomes.
type Reply struct {
	Status int
	Body   any
}

// NoBody is the body type of an operation without a response body.
type NoBody struct{}

// Text is the body type of an operation that returns plain text. Its errors are JSON.
type Text string

const textType = "text/plain; charset=utf-8"

// Call holds the properties of a request other than its input.
type Call struct {
	// Principal is the authenticated caller. It is zero in a public operation.
	Principal platform.Principal
	// IdempotentRequest has the idempotency key of a POST request. It is nil without a key,
	// for other methods and in a public operation. A use case that changes data passes it to Tx.SaveResponse.
	IdempotentRequest *ports.IdempotentRequest
	// RequestID is the id of the request in the log and the response.
	RequestID string
	// Signed is the request as the owner of a wallet signs it. It is zero without Operation.SignedRetry.
	Signed wallet.Call
	// File is the uploaded file. It is nil if the operation has no Upload.
	File io.Reader
	// Actor is the person that the request names. It is empty without one, and without Operation.Actor.
	Actor string
	// FormFile is the file of a form. It is nil without one, and if the operation has no Upload.Form.
	FormFile *FormFile
}

// Handler runs an operation. In is a struct with the parameters (fields with path,
// query and header tags) and an optional Body. It returns a result, which render turns
// into the response body, a fault, or an internal error.
type Handler[In, Result any] func(ctx context.Context, call Call, in *In) (Result, error)

// Get registers an operation that reads data.
func Get[In, Result, Body any](a *API, op Operation, handle Handler[In, Result], render func(Result) Body) {
	register(a, http.MethodGet, op, handle, render, nil)
}

// Post registers an operation that accepts an Idempotency-Key, unless it is public: keys belong to a
// platform or an agent.
func Post[In, Result, Body any](a *API, op Operation, handle Handler[In, Result], render func(Result) Body) {
	register(a, http.MethodPost, op, handle, render, nil)
}

// Put registers an operation that replaces a resource.
func Put[In, Result, Body any](a *API, op Operation, handle Handler[In, Result], render func(Result) Body) {
	register(a, http.MethodPut, op, handle, render, nil)
}

// Patch registers an operation that updates parts of a resource.
func Patch[In, Result, Body any](a *API, op Operation, handle Handler[In, Result], render func(Result) Body) {
	register(a, http.MethodPatch, op, handle, render, nil)
}

// Delete registers an operation that deletes a resource.
func Delete[In, Result, Body any](a *API, op Operation, handle Handler[In, Result], render func(Result) Body) {
	register(a, http.MethodDelete, op, handle, render, nil)
}

const (
	routeKey       = "causeway"
	defaultMaxBody = 1 << 20
)

// humaOutput is the empty output that every operation returns to huma, because the
// response is already in the exchange.
type humaOutput struct{ Body func(huma.Context) }

var emptyOutput = &humaOutput{Body: func(huma.Context) {}}

// operation is a registered operation without the types of its input, result and body: what depends on them is compiled
// anew for each of 200 operations.
type operation struct {
	Operation
	handle func(ctx context.Context, call Call, in any) (result any, err error)
	// csv returns nil for a request that is answered in JSON. It is nil if the operation has no other form.
	csv func(ctx context.Context, call Call, in any) (*File, error)
	// render returns the body of a result; not ok: the result is of another type.
	render       func(result any) (body any, ok bool)
	result, body reflect.Type
}

// register registers an operation. If csv is not nil, the operation also has responses in that form: csv
// returns nil for a request that is answered in JSON.
func register[In, Result, Body any](a *API, method string, op Operation, handle Handler[In, Result], render func(Result) Body,
	csv Handler[In, *File]) {
	o := &operation{
		Operation: op, result: reflect.TypeFor[Result](), body: reflect.TypeFor[Body](),
		handle: func(ctx context.Context, call Call, in any) (any, error) { return handle(ctx, call, in.(*In)) },
		render: func(result any) (any, bool) {
			typed, ok := result.(Result)
			if !ok {
				return nil, false
			}
			return render(typed), true
		},
	}
	if csv != nil {
		o.csv = func(ctx context.Context, call Call, in any) (*File, error) { return csv(ctx, call, in.(*In)) }
	}
	rt, described := a.describe(method, o)
	huma.Register(a.huma, described, func(ctx context.Context, in *In) (*humaOutput, error) {
		o.serve(ctx, exchangeFromContext(ctx), in)
		return emptyOutput, nil
	})
	a.document.addErrorResponses(rt.op, o.Operation)
}

// describe returns the route of an operation and its description, and sets what it leaves to the default.
func (a *API) describe(method string, op *operation) (*route, huma.Operation) {
	if err := op.validate(); err != nil {
		panic(fmt.Sprintf("httpapi: %s %s: %v", method, op.Path, err))
	}
	if op.Agent && a.config.AgentAuthenticator == nil {
		panic("httpapi: an operation for agents needs Config.AgentAuthenticator")
	}
	if op.Status == 0 {
		op.Status = http.StatusOK
		if op.isEmpty() {
			op.Status = http.StatusNoContent
		}
	}
	if op.MaxBody == 0 {
		op.MaxBody = defaultMaxBody
	}
	pattern := BasePath + op.Path
	rt := &route{
		method: method, pattern: pattern, timer: a.meter.timer(method, pattern),
		permission: op.Permission, agent: op.Agent, public: op.Public, sandboxOnly: op.SandboxOnly, unlogged: op.Unlogged, maxBody: op.MaxBody,
		upload: op.Upload, timeout: op.Timeout, checkInvalid: op.CheckInvalid, signedRetry: op.SignedRetry,
		actor: op.Actor,
	}
	if !op.AgentAttempt {
		rt.agentPermissions = op.AgentPermissions
	}
	if op.PublicLimit != nil {
		rt.publicLimiters = newPublicLimiters(*op.PublicLimit)
	}
	described := a.document.describe(method, op.Operation, op.body, rt)
	if op.csv != nil {
		described.Responses[strconv.Itoa(op.Status)].Content[csvType] = &huma.MediaType{Schema: binaryFile("")}
	}
	return rt, described
}

// isEmpty reports whether successes have no body.
func (o *operation) isEmpty() bool { return o.body == reflect.TypeFor[NoBody]() }

// serve responds to a request, whose parameters and body are in.
func (o *operation) serve(ctx context.Context, x *exchange, in any) {
	if len(x.unknown) > 0 {
		x.responded = true
		x.fail(x.withUnknown(nil))
		return
	}
	if o.csv != nil {
		if file, err := o.csv(ctx, x.call, in); file != nil || err != nil {
			x.sendFile(file, err)
			return
		}
	}
	x.plainText = o.body == reflect.TypeFor[Text]()
	if c := x.keyed; c != nil {
		c.IdempotentRequest.Render = func(result any, err error) (int, []byte) {
			last := o.renderToSave(x, result, err)
			c.rendered.Store(last)
			return last.status, last.body
		}
	}
	result, err := o.handle(ctx, x.call, in)
	x.responded = true
	if err != nil {
		x.fail(err)
		return
	}
	if x.keyed != nil {
		if last := x.keyed.rendered.Load(); last != nil && last.status < http.StatusBadRequest {
			x.respond(last.status, last.body) // exactly the bytes that were saved
			return
		}
	}
	out := x.buffer()
	out.Reset()
	if x.status, err = o.write(out, result); err != nil {
		x.respondError(err)
	}
}

// write writes the body of a result and returns its status.
func (o *operation) write(out *bytes.Buffer, result any) (status int, err error) {
	if o.isEmpty() {
		return o.Status, nil
	}
	body, ok := o.render(result)
	if !ok {
		return 0, fmt.Errorf("a use case returned a %T for an operation that returns %s", result, o.result)
	}
	if text, ok := body.(Text); ok {
		_, err := out.WriteString(string(text))
		return o.Status, err
	}
	status = o.Status
	if reply, ok := body.(Reply); ok {
		if status, body = reply.Status, reply.Body; body == nil {
			return status, nil
		}
	}
	return status, encode(out, body)
}

// fail responds with the error of a handler: the saved response or the request to sign, if that is
// what the error contains.
func (x *exchange) fail(err error) {
	var replay *ports.Replay
	var required *signatureRequired
	switch {
	case errors.As(err, &replay):
		x.replay(replay.Status, replay.Body)
	case errors.As(err, &required):
		x.respondSignedRequest(required.request)
	default:
		x.respondError(err)
	}
}

// renderToSave renders a response for a use case to save. It runs on the goroutine of
// the use case, which may process a batch with requests of other callers, so a panic
// becomes a response with status 500.
func (o *operation) renderToSave(x *exchange, result any, err error) (last *renderedResponse) {
	out := getBuffer()
	defer putBuffer(out)
	renderError := func(err error) *renderedResponse {
		f, internal := x.toFault(err)
		if internal {
			x.api.config.Log.WithError(err).WithField("request_id", x.requestID).Error("cannot render a response to save")
		}
		out.Reset()
		if err := encode(out, renderFault(f)); err != nil {
			return &renderedResponse{status: http.StatusInternalServerError}
		}
		return &renderedResponse{status: f.Code.Status(), body: bytes.Clone(out.Bytes())}
	}
	defer func() {
		if p := recover(); p != nil {
			last = renderError(&panicError{value: p})
		}
	}()
	if err != nil {
		return renderError(err)
	}
	var status int
	if request, ok := result.(*wallet.SignedRequest); ok && x.route.signedRetry {
		status, err = renderSignedRequest(out, request)
	} else {
		status, err = o.write(out, result)
	}
	if err != nil {
		return renderError(err)
	}
	return &renderedResponse{status: status, body: append([]byte{}, out.Bytes()...)}
}

func (op Operation) validate() error {
	switch {
	case op.ID == "" || op.Path == "" || op.Summary == "" || op.Tag == "":
		return errors.New("needs an ID, a Path, a Summary and a Tag")
	case countTrue(op.Public, op.Agent, op.Permission != "") != 1:
		return errors.New("must have a Permission, be for an Agent, or be Public")
	case !op.Agent && (len(op.AgentPermissions) > 0 || op.AgentAttempt):
		return errors.New("only an operation for agents has AgentPermissions")
	case op.AgentAttempt && len(op.AgentPermissions) == 0:
		return errors.New("an AgentAttempt needs AgentPermissions")
	case op.PublicLimit != nil && !op.Public:
		return errors.New("only a public operation has a PublicLimit")
	case op.SandboxOnly && op.Public:
		return errors.New("a public operation cannot be SandboxOnly")
	case op.Actor && op.Permission == "":
		return errors.New("only an operation with a Permission has an Actor")
	case op.SignedRetry && op.Upload != nil:
		return errors.New("an upload cannot have SignedRetry")
	}
	for _, code := range op.Errors {
		if code.Status() == http.StatusInternalServerError {
			return errors.New("lists an internal or unknown error code: " + string(code))
		}
	}
	return nil
}

func countTrue(conditions ...bool) int {
	n := 0
	for _, is := range conditions {
		if is {
			n++
		}
	}
	return n
}
