package partner

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"causeway/core/rail"
	"causeway/core/signedmessage"
	"causeway/core/tracing"
	"causeway/ports"
)

const (
	maxState = 64 << 10 // bytes of an answer about one payment, and of a callback
	maxPage  = 1 << 20  // bytes of a page of events
	// maxEvent is how many bytes of a page with one event are read, so that one that is too large holds up none after it.
	maxEvent = 16 << 20
)

// StatusError is the status of an answer that is an error.
type StatusError struct {
	Status int
	// RetryAfter is how long the partner asks to wait; zero if it does not.
	RetryAfter time.Duration
}

// Error implements error.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("the answer has the status %d", e.Status)
	if e.Status >= 300 && e.Status < 400 {
		text += ", and redirects are not followed"
	}
	return text
}

// Temporary reports whether the partner refuses for now, and says so.
func (e *StatusError) Temporary() bool {
	return e.RetryAfter > 0 && (e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable)
}

// Client makes signed requests to one partner. It follows no redirect, uses no proxy and keeps no cookies.
type Client struct {
	base      *url.URL
	transport http.RoundTripper
	close     func() // closes idle connections
	timeout   time.Duration
	clock     ports.Clock
	secrets   func(context.Context) (signedmessage.Secrets, error)
}

// OpenClient returns a client for a connection. wrap may be nil; it returns the transport of requests
// that are signed already.
func OpenClient(connection rail.Connection, secrets ports.Secrets, clock ports.Clock,
	wrap func(http.RoundTripper) http.RoundTripper) (*Client, error) {
	s, err := parseSettings(connection)
	if err != nil {
		return nil, err
	}
	return newClient(s, secrets, clock, wrap), nil
}

// openProvider returns a client of a provider that is no rail, with secrets that are no reference.
func openProvider(url string, secrets signedmessage.Secrets, timeout time.Duration, clock ports.Clock) (*Client, error) {
	s, err := parseSettings(rail.Connection{Name: "provider", Adapter: rail.Partner, Settings: map[string]string{settingURL: url,
		settingSecret: "env:UNUSED", settingTimeout: timeout.String()}})
	if err != nil {
		return nil, err
	}
	c := newClient(s, nil, clock, nil)
	c.secrets = func(context.Context) (signedmessage.Secrets, error) { return secrets, nil }
	return c, nil
}

func newClient(s settings, secrets ports.Secrets, clock ports.Clock, wrap func(http.RoundTripper) http.RoundTripper) *Client {
	transport := s.transport()
	c := &Client{base: s.url, transport: transport, close: transport.CloseIdleConnections, timeout: s.timeout, clock: clock,
		secrets: func(ctx context.Context) (signedmessage.Secrets, error) { return readSecrets(ctx, secrets, s.secret) }}
	if wrap != nil {
		c.transport = wrap(transport)
	}
	return c
}

// Close closes idle connections.
func (c *Client) Close() { c.close() }

// call makes one request. The body is nil for a GET, whose signature is over its method and target. place is that of the request
// in a trace; empty if it is in none.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body, into any, limit int64,
	place tracing.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	target := path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	signed := []byte(method + " " + target)
	var reader io.Reader = http.NoBody
	if body != nil {
		var err error
		if signed, err = json.Marshal(body); err != nil {
			return err
		}
		reader = bytes.NewReader(signed)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base.String()+target, reader)
	if err != nil {
		return errors.New("the request cannot be made: the URL is not valid")
	}
	secrets, err := c.secrets(ctx)
	if err != nil {
		return err
	}
	h := secrets.Sign("req_"+rand.Text(), c.clock.Now(), signed)
	request.Header.Set(signedmessage.IDHeader, h.ID)
	request.Header.Set(signedmessage.TimestampHeader, h.Timestamp)
	request.Header.Set(signedmessage.SignatureHeader, h.Signature)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "causeway")
	if place != "" {
		request.Header.Set("traceparent", string(place))
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	// A http.Client would follow redirects and keep cookies; the transport does not.
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return noAnswer(err)
	}
	defer response.Body.Close()
	return decodeAnswer(response, into, limit)
}

// noAnswer returns an error with the text of a cause, and not the cause itself: an error of the network in the log is
// taken for an outage of the database.
func noAnswer(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("no answer: %s", err) //nolint:errorlint // see above
}

func decodeAnswer(response *http.Response, into any, limit int64) error {
	switch response.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted:
	default:
		// The body may repeat personal data, so it is not read.
		return &StatusError{Status: response.StatusCode, RetryAfter: retryAfter(response.Header.Get("Retry-After"))}
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return errors.New("the answer has a Content-Type other than application/json")
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case err != nil:
		return errors.New("the answer is incomplete")
	case int64(len(text)) > limit:
		return sizeError(limit)
	}
	return decode(text, into)
}

// sizeError is the error for an answer with more bytes than that.
type sizeError int64

func (e sizeError) Error() string { return fmt.Sprintf("the answer has more than %d bytes", int64(e)) }

// maxRetryAfter is the longest time for which the partner is not asked.
const maxRetryAfter = time.Hour

// retryAfter returns the seconds of a Retry-After; zero if there is none.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.Atoi(header)
	if err != nil || seconds < 0 {
		return 0
	}
	seconds = min(max(seconds, 1), int(maxRetryAfter/time.Second)) // before it is a duration, which may overflow
	return time.Duration(seconds) * time.Second
}

// decode decodes a JSON object. Its error names the field and has nothing of the text, which may be personal data. JSON has no
// control characters in texts; those of a partner that writes some are spaces, as they are anywhere else.
func decode(text []byte, into any) error {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return errors.New("the body is not a JSON object")
	}
	if !json.Valid(text) {
		text = bytes.Map(func(r rune) rune {
			if r < ' ' {
				return ' '
			}
			return r
		}, text)
	}
	err := json.Unmarshal(text, into)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("the field %s is not of the documented type", wrong.Field)
	}
	if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("the body is not JSON: the error is at byte %d", wrong.Offset)
	}
	if wrong := (*time.ParseError)(nil); errors.As(err, &wrong) {
		return errors.New("a time is not an RFC 3339 timestamp")
	}
	return err
}
