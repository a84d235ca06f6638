package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/platform"
)

// route is one operation or page at one path and method.
type route struct {
	method  string
	pattern string
	timer   *timer

	// An operation has these.
	op         *huma.Operation
	handler    func(huma.Context)
	permission platform.Permission
	public     bool
	agent      bool
	// agentPermissions are those of which an agent must have one; empty for none.
	agentPermissions []platform.Permission
	sandboxOnly      bool
	unlogged         bool
	maxBody          int64 // bytes
	upload           *Upload
	timeout          time.Duration // zero means Config.RequestTimeout
	known            knownNames

	publicLimiters *publicLimiters // nil without Operation.PublicLimit

	signedRetry  bool
	actor        bool
	checkInvalid func(ctx context.Context, call Call, in any) error // see Operation

	// A page has this.
	page http.Handler
}

var (
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}
)

// ServeHTTP serves one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{api: a, w: w, r: r, started: time.Now()}
	x.requestID = requestID(r, a.config.NewID)
	x.call.RequestID = x.requestID
	header := w.Header()
	header["Request-Id"] = []string{x.requestID}
	header["X-Content-Type-Options"] = noSniff

	defer x.finish()
	x.serve()
}

func (x *exchange) serve() {
	if err := checkFraming(x.w, x.r); err != nil {
		x.respondError(err)
		return
	}
	path := x.r.URL.EscapedPath()
	x.params = x.api.router.find(path, &x.match)
	if short, ok := strings.CutSuffix(path, "/"); ok && x.item == nil {
		x.params = x.api.router.find(short, &x.match)
		if x.item != nil && slices.ContainsFunc(slices.Collect(maps.Values(x.item.methods)), func(r *route) bool { return r.page != nil }) {
			x.item = nil // links of a page are relative to its path
		}
	}
	if x.item == nil {
		for prefix, rt := range x.api.notFound {
			if strings.HasPrefix(path, prefix) {
				x.route = rt
				x.servePage()
				return
			}
		}
	}
	switch {
	case x.item == nil:
		x.respondError(fault.New(fault.NotFound, "No such endpoint. Paths begin with %s; see %s/docs.", BasePath, BasePath))
		return
	case !unescape(x.params) || !isValidQuery(x.r.URL.RawQuery):
		x.respondError(fault.New(fault.InvalidInput, "The URL contains invalid text. Percent-encode it as UTF-8, without the NUL character."))
		return
	}
	x.route = x.item.route(x.r.Method)
	if x.route == nil {
		x.w.Header().Set("Allow", x.item.allow)
		if x.r.Method == http.MethodOptions {
			x.status = http.StatusNoContent
			return
		}
		x.respondError(fault.New(fault.MethodNotAllowed, "%s is not supported at this path. Use one of %s.", x.r.Method, x.item.allow))
		return
	}
	if x.route.page != nil {
		x.servePage()
		return
	}

	x.w.Header()["Cache-Control"] = noStore
	ctx, cancel := context.WithTimeout(x.r.Context(), x.operationTimeout())
	defer cancel()
	x.ctx = requestContext{Context: ctx, x: x}
	err := x.authorize()
	x.stages.authorized = time.Since(x.started)
	x.startSpan(err == nil && !x.route.public)
	if err != nil {
		x.respondError(err)
		return
	}
	if x.route.actor {
		var err error
		if x.call.Actor, err = parseActor(x.r.Header); err != nil {
			x.respondError(err)
			return
		}
	}
	if u := x.route.upload; u != nil && u.Form {
		platform := x.call.Principal.Platform
		if err := x.api.uploads.take(platform); err != nil {
			x.w.Header().Set("Connection", "close")
			x.respondError(err)
			return
		}
		defer x.api.uploads.free(platform)
		defer func() { x.form.close() }()
	}
	err = x.readRequest()
	x.stages.read = time.Since(x.started)
	if err != nil {
		x.respondError(err)
		return
	}
	x.findUnknown()
	if x.route.signedRetry {
		x.call.Signed = x.signedCall()
	}
	if err := x.runIdempotent(); err != nil {
		x.respondError(err)
	}
}

// readRequest reads the body, or opens the file in it.
func (x *exchange) readRequest() error {
	if x.route.upload != nil {
		x.parameters = x.r.URL.Query()
	}
	switch u := x.route.upload; {
	case u != nil && u.Stream:
		return x.openStream()
	case u != nil && u.StreamBody:
		if _, isForm, err := x.uploadType(); err == nil && !isForm {
			return x.openStream()
		}
	case u != nil && u.Form:
		return x.readUploadForm()
	}
	if err := x.readBody(); err != nil || x.route.upload == nil {
		return err
	}
	if err := x.readUpload(); err != nil {
		return err
	}
	x.call.File = bytes.NewReader(x.uploaded)
	return nil
}

// runOperation runs the operation itself.
func (x *exchange) runOperation() { x.route.handler(x) }

// finish sends the response and records the request, also after a panic.
func (x *exchange) finish() {
	if p := recover(); p != nil {
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(p)
		}
		x.truncated = x.headersSent && x.route.page == nil
		x.respondError(&panicError{value: p, stack: debug.Stack()})
	}
	x.stages.done = time.Since(x.started)
	x.send()
	x.endSpan()
	x.observe()
	x.record()
	x.release()
	if x.truncated {
		panic(http.ErrAbortHandler) // the server closes the connection without logging
	}
}

// panicError is a panic while a request was served.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// servePage runs a page, which writes its response itself.
func (x *exchange) servePage() {
	page := &pageWriter{ResponseWriter: x.w, x: x}
	if x.item != nil {
		for i, name := range x.item.names {
			x.r.SetPathValue(name, x.params[i].Value)
		}
	}
	x.route.page.ServeHTTP(page, x.r)
	x.headersSent = x.headersSent || x.status != 0
}

// pageWriter records the status of a page.
type pageWriter struct {
	http.ResponseWriter
	x *exchange
}

func (p *pageWriter) WriteHeader(status int) {
	if p.x.status == 0 {
		p.x.status, p.x.headersSent = status, true
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *pageWriter) Write(b []byte) (int, error) {
	if p.x.status == 0 {
		p.x.status, p.x.headersSent = http.StatusOK, true
	}
	return p.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (p *pageWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// readBody reads the whole body, up to the limit of the operation. A body whose
// Content-Length exceeds the limit is refused without reading it.
func (x *exchange) readBody() error {
	if x.r.Body == nil || x.r.Body == http.NoBody || x.r.ContentLength == 0 {
		return nil
	}
	limit := x.route.maxBody
	if x.r.ContentLength > limit {
		x.w.Header().Set("Connection", "close")
		return tooLarge(limit)
	}
	// The buffer grows with what arrives: a client that announces a large body and sends
	// nothing must not cost its size.
	x.body = getBuffer()
	if _, err := x.body.ReadFrom(http.MaxBytesReader(x.w, x.r.Body, limit)); err != nil {
		var over *http.MaxBytesError
		if errors.As(err, &over) {
			return tooLarge(limit)
		}
		x.w.Header().Set("Connection", "close")
		return fault.New(fault.InvalidRequestFormat, "Incomplete request body. Send the request again.")
	}
	x.reader.Reset(x.body.Bytes())
	return nil
}

func tooLarge(limit int64) error {
	size := fmt.Sprintf("%d bytes", limit)
	if limit%(1<<20) == 0 {
		size = fmt.Sprintf("%d MiB", limit>>20)
	}
	return fault.New(fault.PayloadTooLarge, "The body is larger than %s, the limit of this operation.", size)
}

// requestID returns the Request-Id of the caller if it is a UUID, and otherwise a new id.
func requestID(r *http.Request, newID func() uuid.UUID) string {
	if id := r.Header.Get("Request-Id"); len(id) == 36 {
		if _, err := uuid.Parse(id); err == nil {
			return id
		}
	}
	return newID().String()
}

// isValidQuery reports whether a query is valid text, so that no part of it fails in the
// database.
func isValidQuery(query string) bool {
	if strings.IndexByte(query, '%') < 0 {
		return isValidText(query)
	}
	plain, err := url.QueryUnescape(query)
	return err == nil && isValidText(plain)
}
