// Package webhooks sends events to the endpoints of platforms over HTTP: signed, to allowed addresses
// only, one request for each delivery. It also generates, stores and publishes the signing keys.
//
// It never retries, never follows a redirect, uses no proxy, and returns only the beginning of a
// response, unless more is requested.
package webhooks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"causeway/core/event"
	"causeway/core/platform"
	"causeway/ports"
)

// How much of a response is read, in bytes. If more than maxDrain follows the excerpt, the connection
// is closed.
const (
	maxAcceptedExcerpt = 128
	maxExcerpt         = 1024
	maxDrain           = 64 << 10
)

// Options configures a Sender. Every field may be zero.
type Options struct {
	// ConnectionsPerHost is how many idle connections are kept to one host: as many as a platform
	// has concurrent deliveries. 64 if zero.
	ConnectionsPerHost int
	// Timeout is the time limit of one delivery; event.Timeout if zero. Within it, connecting and
	// the TLS handshake may take half of it each, and the body of the response a fifth, unless
	// MaxResponseBytes asks for it.
	Timeout time.Duration
	// Resolver resolves host names; the default resolver if nil.
	Resolver *net.Resolver
	// AllowPrivate lets deliveries of sandbox platforms reach loopback and private addresses.
	AllowPrivate bool
	// Wrap, if set, wraps the transport of production platforms.
	Wrap func(http.RoundTripper) http.RoundTripper
	// UserAgent is the User-Agent header; "causeway-webhooks" if empty.
	UserAgent string
}

// Sender makes signed deliveries. It is safe for concurrent use.
type Sender struct {
	keys      signer
	timeout   time.Duration
	userAgent []string
	transport map[platform.Environment]http.RoundTripper
	idle      []*http.Transport // for Close
	urls      urlCache
}

var _ ports.Webhooks = (*Sender)(nil)

// signer is what a Sender needs of a Keyring.
type signer interface {
	sign(ctx context.Context, e ports.Endpoint, id string, at time.Time, body []byte) (signatureHeaders, error)
	finish(headers signatureHeaders, outcome event.Outcome)
}

// NewSender returns a sender that signs with the keys.
func NewSender(keys *Keyring, o Options) *Sender {
	if o.ConnectionsPerHost == 0 {
		o.ConnectionsPerHost = 64
	}
	if o.Timeout == 0 {
		o.Timeout = event.Timeout
	}
	if o.UserAgent == "" {
		o.UserAgent = "causeway-webhooks"
	}
	sandbox, production := newTransport(o, o.AllowPrivate), newTransport(o, false)
	s := &Sender{
		keys: keys, timeout: o.Timeout, userAgent: []string{o.UserAgent}, idle: []*http.Transport{sandbox, production},
		transport: map[platform.Environment]http.RoundTripper{platform.Sandbox: sandbox, platform.Production: production},
	}
	if o.Wrap != nil {
		s.transport[platform.Production] = o.Wrap(production)
	}
	return s
}

// Close closes idle connections.
func (s *Sender) Close() {
	for _, transport := range s.idle {
		transport.CloseIdleConnections()
	}
}

// Deliver sends one event once.
func (s *Sender) Deliver(ctx context.Context, d ports.WebhookDelivery) ports.WebhookResponse {
	start := time.Now()
	response := s.deliver(ctx, d)
	response.Duration = time.Since(start)
	return response
}

func (s *Sender) deliver(ctx context.Context, d ports.WebhookDelivery) (delivered ports.WebhookResponse) {
	transport := s.transport[d.Endpoint.Environment]
	url, err := s.urls.parse(d.Endpoint)
	if err != nil || transport == nil {
		return ports.WebhookResponse{Outcome: event.Forbidden, Error: describeError(errForbiddenURL)}
	}
	requestCtx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	id := d.ID.String()
	signed, err := s.keys.sign(requestCtx, d.Endpoint, id, d.At, d.Body)
	if err != nil {
		return ports.WebhookResponse{Outcome: event.InternalError, Error: "sign the delivery: " + err.Error()}
	}
	defer func() { s.keys.finish(signed, delivered.Outcome) }()
	body := bytes.NewReader(d.Body)
	request := (&http.Request{
		Method: http.MethodPost, URL: url, Host: url.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: signed.header(id),
		Body:   io.NopCloser(body), ContentLength: int64(len(d.Body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(d.Body)), nil },
	}).WithContext(requestCtx)
	request.Header["User-Agent"] = s.userAgent
	if d.Trace != "" {
		request.Header["Traceparent"] = []string{string(d.Trace)}
	}
	// Without a value this header is not sent. It allows the transport to retry on another connection if the receiver has
	// just closed an idle one.
	request.Header["X-Idempotency-Key"] = nil

	// A http.Client would follow redirects and keep cookies; the transport does not.
	response, err := transport.RoundTrip(request)
	if err != nil {
		return failureResponse(ctx, requestCtx, err)
	}
	defer func() { _ = response.Body.Close() }()
	outcome := event.OutcomeOf(response.StatusCode)
	needsBody := d.MaxResponseBytes > 0
	if !needsBody {
		defer time.AfterFunc(s.timeout/5, cancel).Stop()
	}
	excerpt, err := readExcerpt(response.Body, outcome, d.MaxResponseBytes)
	if err != nil && requestCtx.Err() != nil && needsBody {
		return failureResponse(ctx, requestCtx, err)
	}
	return ports.WebhookResponse{Outcome: outcome, StatusCode: response.StatusCode, Response: excerpt}
}

var contentType = []string{"application/json"}

// readExcerpt reads the beginning of a response, and the rest if it is short, so that the connection
// can be reused. A response whose body breaks off still counts by its status.
func readExcerpt(body io.Reader, outcome event.Outcome, limit int) (string, error) {
	switch {
	case limit > 0:
	case outcome.Delivered():
		limit = maxAcceptedExcerpt
	default:
		limit = maxExcerpt
	}
	beginning := make([]byte, limit)
	n, err := io.ReadFull(body, beginning)
	if err == nil {
		_, err = io.CopyN(io.Discard, body, maxDrain)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return sanitize(beginning[:n]), err
}

// sanitize converts bytes to valid UTF-8 without NUL, which a text column cannot store.
func sanitize(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	for cut := 1; cut < utf8.UTFMax && cut < len(b); cut++ { // remove a character that is cut in two
		if utf8.RuneStart(b[len(b)-cut]) {
			if !utf8.FullRune(b[len(b)-cut:]) {
				b = b[:len(b)-cut]
			}
			break
		}
	}
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
}
