package httpapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/queryparam"
	"github.com/julienschmidt/httprouter"
	"go.opentelemetry.io/otel/trace"

	"causeway/core/fault"
	"causeway/core/platform"
)

// exchange is one request and its response. It implements huma.Context. The response
// is buffered until it is complete, so that an error never leaves a partial body, and so
// that it can be saved under an idempotency key.
//
// An exchange is never reused: a use case may still use its context after the request.
type exchange struct {
	match // set by the router

	api    *API
	route  *route
	w      http.ResponseWriter
	r      *http.Request
	params httprouter.Params
	ctx    requestContext
	call   Call
	// refused is whose credentials were refused, if that is known.
	refused platform.Principal

	started   time.Time
	span      trace.Span // nil unless the request is traced
	stages    stages
	requestID string

	reader   bytes.Reader  // the unread part of the request body
	body     *bytes.Buffer // the request body; nil while unread
	uploaded []byte        // the uploaded file
	form     *formUpload   // nil unless the operation has Upload.Form
	file     *fileStream   // a file that is read while it arrives; nil otherwise
	response *bytes.Buffer // nil until a response is written

	status      int
	code        fault.Code    // of an error response
	parameters  url.Values    // of the URL of an upload, without the fields of its form
	unknown     []fault.Field // query parameters and fields that are refused
	input       any           // what was passed to KeepInput
	responded   bool          // the operation has set its response
	err         error         // an internal error, to be logged
	keyed       *keyedRequest // nil without an idempotency key
	replayed    bool          // the response was saved before
	plainText   bool          // a success is plain text
	headersSent bool          // headers are sent
	truncated   bool          // the response is incomplete, so the connection must be closed
}

// requestContext lets a handler find its exchange.
type requestContext struct {
	context.Context
	x *exchange
}

type exchangeKey struct{}

func (c *requestContext) Value(key any) any {
	if _, ok := key.(exchangeKey); ok {
		return c.x
	}
	return c.Context.Value(key)
}

func exchangeFromContext(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// bufferPool holds buffers for reuse; large ones are left to the garbage collector.
var bufferPool = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, 2048)) }}

const maxPooledBuffer = 64 << 10

func getBuffer() *bytes.Buffer { return bufferPool.Get().(*bytes.Buffer) }

func putBuffer(b *bytes.Buffer) {
	if b != nil && b.Cap() <= maxPooledBuffer {
		b.Reset()
		bufferPool.Put(b)
	}
}

// respond sets the response and replaces anything written before.
func (x *exchange) respond(status int, body []byte) {
	x.status = status
	x.buffer().Reset()
	x.response.Write(body)
}

func (x *exchange) buffer() *bytes.Buffer {
	if x.response == nil {
		x.response = getBuffer()
	}
	return x.response
}

// retryAfterSecond are the codes that have a Retry-After of one second if the error has none.
var retryAfterSecond = map[fault.Code]bool{fault.RateLimited: true, fault.ServiceUnavailable: true, fault.IdempotencyKeyInUse: true}

// respondError responds with an error.
func (x *exchange) respondError(err error) {
	f, internal := x.toFault(err)
	if internal {
		x.err = err
	}
	x.code = f.Code
	header := x.w.Header()
	if f.RetryAfter > 0 || retryAfterSecond[f.Code] {
		header.Set("Retry-After", strconv.Itoa(ceilSeconds(f.RetryAfter)))
	}
	if f.Code.Status() == http.StatusUnauthorized {
		challenge := basicChallenge
		if x.route != nil && x.route.agent {
			challenge = bearerChallenge
		}
		header.Set("Www-Authenticate", challenge)
	}
	x.status = f.Code.Status()
	x.buffer().Reset()
	_ = encode(x.response, renderFault(f)) // an Error always marshals
}

var jsonType = []string{"application/json"}

// send writes the response to the client.
func (x *exchange) send() {
	if x.headersSent {
		return
	}
	x.headersSent = true
	header := x.w.Header()
	switch {
	case x.status == 0:
		x.status = http.StatusOK
	case x.status >= http.StatusBadRequest:
		x.setShouldRetry(header)
	}
	if x.response != nil && x.response.Len() > 0 && x.status != http.StatusNoContent {
		header["Content-Type"] = jsonType
		if x.plainText && x.code == "" {
			header.Set("Content-Type", textType)
		}
		header["Content-Length"] = []string{strconv.Itoa(x.response.Len())}
		x.w.WriteHeader(x.status)
		_, _ = x.w.Write(x.response.Bytes()) // the client may have disconnected
		return
	}
	x.w.WriteHeader(x.status)
}

// release returns the buffers to the pool. The exchange must not be written to afterwards.
func (x *exchange) release() {
	putBuffer(x.body)
	putBuffer(x.response)
	x.body, x.response, x.uploaded = nil, nil, nil
	x.reader.Reset(nil)
}

// The methods of huma.Context.
var _ huma.Context = (*exchange)(nil)

func (x *exchange) Operation() *huma.Operation { return x.route.op }
func (x *exchange) Context() context.Context   { return &x.ctx }
func (x *exchange) TLS() *tls.ConnectionState  { return x.r.TLS }
func (x *exchange) Method() string             { return x.r.Method }
func (x *exchange) Host() string               { return x.r.Host }
func (x *exchange) RemoteAddr() string         { return x.r.RemoteAddr }
func (x *exchange) URL() url.URL               { return *x.r.URL }
func (x *exchange) Header(name string) string  { return x.r.Header.Get(name) }
func (x *exchange) BodyReader() io.Reader      { return &x.reader }
func (x *exchange) Status() int                { return x.status }
func (x *exchange) BodyWriter() io.Writer      { return x.buffer() }

// Query returns the value of a query parameter. The values of a list that is sent as
// repeated parameters are joined by commas, which huma splits.
func (x *exchange) Query(name string) string {
	if !slices.Contains(x.route.known.lists, name) {
		return queryparam.Get(x.r.URL.RawQuery, name)
	}
	values := x.r.URL.Query()[name]
	return strings.Join(slices.DeleteFunc(values, func(v string) bool { return v == "" }), ",")
}

func (x *exchange) Version() huma.ProtoVersion {
	return huma.ProtoVersion{Proto: x.r.Proto, ProtoMajor: x.r.ProtoMajor, ProtoMinor: x.r.ProtoMinor}
}

func (x *exchange) Param(name string) string {
	for i, n := range x.item.names {
		if n == name && i < len(x.params) {
			return x.params[i].Value
		}
	}
	return ""
}

func (x *exchange) EachHeader(each func(name, value string)) {
	for name, values := range x.r.Header {
		for _, value := range values {
			each(name, value)
		}
	}
}

// GetMultipartForm parses the body, which was already read and limited in size.
func (x *exchange) GetMultipartForm() (*multipart.Form, error) {
	x.r.Body = io.NopCloser(&x.reader)
	err := x.r.ParseMultipartForm(x.route.maxBody)
	return x.r.MultipartForm, err
}

// SetReadDeadline does nothing: the body was already read, under the deadline of the
// server.
func (x *exchange) SetReadDeadline(time.Time) error { return nil }

// SetStatus is ignored after the operation has set its response.
func (x *exchange) SetStatus(status int) {
	if !x.responded {
		x.status = status
	}
}

func (x *exchange) SetHeader(name, value string)    { x.w.Header().Set(name, value) }
func (x *exchange) AppendHeader(name, value string) { x.w.Header().Add(name, value) }
