// Package webhooks sends events to the platforms over HTTP: one signed delivery at a
// time, to addresses that are allowed, under keys that it also makes and publishes.
//
// It never retries, never follows a redirect, uses no proxy, and keeps nothing of an
// answer but its beginning, unless more is asked for.
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

// What is read of an answer. More than drained ends the connection instead.
const (
	maxAcceptedExcerpt = 128
	maxExcerpt         = 1024
	maxDrain           = 64 << 10
)

// Options shape a Sender. The zero value of each is usable.
type Options struct {
	// ConnectionsPerHost is how many idle connections are kept to one receiver: as
	// many as a platform's deliveries run side by side. 64 when zero.
	ConnectionsPerHost int
	// Timeout of one delivery; event.Timeout when zero.
	Timeout time.Duration
	// Resolver of host names; the machine's when nil.
	Resolver *net.Resolver
	// UserAgent tells receivers who calls; "causeway-webhooks" when empty.
	UserAgent string
}

// Sender makes signed deliveries. It is safe for concurrent use.
type Sender struct {
	keys      signer
	timeout   time.Duration
	userAgent []string
	transport map[platform.Environment]*http.Transport
	urls      urlCache
}

var _ ports.Webhooks = (*Sender)(nil)

// signer is what a Sender needs of a Keyring.
type signer interface {
	sign(ctx context.Context, env platform.Environment, id string, at time.Time, body []byte) (signatureHeaders, error)
}

// NewSender makes a sender that signs with the keys.
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
	return &Sender{
		keys: keys, timeout: o.Timeout, userAgent: []string{o.UserAgent},
		transport: map[platform.Environment]*http.Transport{
			platform.Sandbox:    newTransport(o, platform.Sandbox),
			platform.Production: newTransport(o, platform.Production),
		},
	}
}

// Close ends the connections that are idle.
func (s *Sender) Close() {
	for _, transport := range s.transport {
		transport.CloseIdleConnections()
	}
}

// Deliver sends one event once.
func (s *Sender) Deliver(ctx context.Context, d ports.WebhookDelivery) ports.WebhookResponse {
	began := time.Now() // for the length of the attempt alone
	answer := s.deliver(ctx, d)
	answer.Duration = time.Since(began)
	return answer
}

func (s *Sender) deliver(ctx context.Context, d ports.WebhookDelivery) ports.WebhookResponse {
	transport := s.transport[d.Endpoint.Environment]
	url, err := s.urls.parse(d.Endpoint)
	if err != nil || transport == nil {
		return ports.WebhookResponse{Outcome: event.Forbidden, Error: describeError(errForbiddenURL)}
	}
	id := d.ID.String()
	signed, err := s.keys.sign(ctx, d.Endpoint.Environment, id, d.At, d.Body)
	if err != nil {
		return ports.WebhookResponse{Outcome: event.Unreachable, Error: "the delivery could not be signed"}
	}

	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	body := bytes.NewReader(d.Body)
	request := (&http.Request{
		Method: http.MethodPost, URL: url, Host: url.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Content-Type":              contentType,
			"User-Agent":                s.userAgent,
			"Service-Webhook-Signature": {signed.service},
			"webhook-id":                {id},
			"webhook-timestamp":         {signed.timestamp},
			"webhook-signature":         {signed.standard},
			// Not sent, because it has no value: it allows the transport to use another
			// connection when the receiver closed an idle one just now.
			"X-Idempotency-Key": nil,
		},
		Body: io.NopCloser(body), ContentLength: int64(len(d.Body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(d.Body)), nil },
	}).WithContext(limited)

	// The transport itself, not a client: a client would follow redirects and keep cookies.
	response, err := transport.RoundTrip(request)
	if err != nil {
		return failureResponse(ctx, limited, err)
	}
	defer func() { _ = response.Body.Close() }()
	outcome := event.OutcomeOf(response.StatusCode)
	excerpt, err := readExcerpt(response.Body, outcome, d.MaxResponseBytes)
	if err != nil && ctx.Err() == nil && limited.Err() != nil && !outcome.Delivered() {
		return failureResponse(ctx, limited, err)
	}
	return ports.WebhookResponse{Outcome: outcome, StatusCode: response.StatusCode, Response: excerpt}
}

var contentType = []string{"application/json"}

// readExcerpt reads the beginning of an answer, and on to its end if that is near, so
// that the connection can be used again. Once the status is there the answer counts,
// also when its body breaks off.
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

// sanitize makes text of bytes: valid UTF-8 without NUL, which a database text cannot hold.
func sanitize(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	for cut := 1; cut < utf8.UTFMax && cut < len(b); cut++ { // a character cut in two
		if utf8.RuneStart(b[len(b)-cut]) {
			if !utf8.FullRune(b[len(b)-cut:]) {
				b = b[:len(b)-cut]
			}
			break
		}
	}
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
}
