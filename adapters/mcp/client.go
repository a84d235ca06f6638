package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// callTimeout is the deadline of a call of the service, which answers within 20 seconds by default. Clients usually
	// wait for a minute, in which a tool makes up to two calls.
	callTimeout = 25 * time.Second
	// maxResponse is the largest response of the service that is read, in bytes.
	maxResponse = 4 << 20
)

// Token is the access token of an agent. It is never formatted.
type Token struct{ secret string }

// NewToken returns a token. Errors say what is wrong with it, without the text.
func NewToken(text string) (Token, error) {
	text = strings.TrimSpace(text)
	if !isTokenText(text) {
		return Token{}, errors.New("this is not the access token of an agent, which begins with agt_ and has only letters and digits after it")
	}
	return Token{text}, nil
}

// isTokenText reports whether a text can be an access token, so that nothing else is sent to the service as one.
func isTokenText(text string) bool {
	prefix, rest, found := strings.Cut(text, "_")
	return found && (prefix == "agt" || prefix == "cwa") && len(rest) >= 32 && len(rest) <= 256 &&
		strings.Trim(rest, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

// IsZero reports whether there is no token.
func (t Token) IsZero() bool { return t.secret == "" }

// String hides the token.
func (t Token) String() string { return "(access token)" }

// GoString hides the token.
func (t Token) GoString() string { return t.String() }

// Client calls the service.
type Client struct {
	base string
	http *http.Client
}

// NewClient returns a client for the base URL of the service, version included.
func NewClient(baseURL string) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("must be the URL of the service, version included, such as http://localhost:8080/2025-10-13")
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxConnsPerHost:     64, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
	}
	return &Client{base: strings.TrimRight(baseURL, "/"), http: &http.Client{
		Transport: transport, Timeout: callTimeout,
		// The service redirects nothing, and the token is for its address only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// BaseURL returns the base URL of the service.
func (c *Client) BaseURL() string { return c.base }

// SendsTokensUnencrypted reports whether the service is called over HTTP without TLS on another machine.
func (c *Client) SendsTokensUnencrypted() bool {
	u, err := url.Parse(c.base)
	return err == nil && u.Scheme == "http" && !isLoopbackName(u.Hostname())
}

// isLoopbackName reports whether a host is this machine.
func isLoopbackName(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// request is a request to the service.
type request struct {
	method, path string
	query        url.Values
	body         any // nil for none
	key          string
	signature    string
}

// response is a response of the service, whatever its status.
type response struct {
	status     int
	body       []byte
	replayed   bool // the stored response of an earlier request with the same key
	retryAfter string
}

func (r response) ok() bool { return r.status >= 200 && r.status <= 299 }

// isElsewhere reports whether the URL is not that of the service: it redirects nothing, and its refusals have codes.
func (r response) isElsewhere() bool {
	code := r.failure().Code
	return r.status >= 300 && r.status <= 399 || r.status == http.StatusNotFound && (code == "" || code == "NOT_FOUND")
}

// deniesToken reports whether the service, and not a proxy before it, does not accept the access token. After many such
// requests it answers 429 to them, and only to them.
func (r response) deniesToken() bool {
	return r.status == http.StatusUnauthorized && r.failure().Code == "UNAUTHORIZED" ||
		r.status == http.StatusTooManyRequests && r.failure().Reason == "Too many failed authentications"
}

// do sends a request with an access token, if there is one. An error means that there was no response; it does not
// contain the token.
func (c *Client) do(ctx context.Context, token Token, r request) (response, error) {
	var body io.Reader = http.NoBody
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return response{}, err
		}
		body = bytes.NewReader(text)
	}
	target := c.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return response{}, errors.New("the request could not be formed")
	}
	sent.Header.Set("Accept", "application/json")
	sent.Header.Set("User-Agent", "causeway-mcp")
	if r.body != nil {
		sent.Header.Set("Content-Type", "application/json")
	}
	if !token.IsZero() {
		sent.Header.Set("Authorization", "Bearer "+token.secret)
	}
	if r.key != "" {
		sent.Header.Set("Idempotency-Key", r.key)
	}
	if r.signature != "" {
		sent.Header.Set("Service-Wallet-Signature", r.signature)
	}
	got, err := c.http.Do(sent)
	if err != nil {
		return response{}, withoutURL(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(io.LimitReader(got.Body, maxResponse+1))
	if err != nil {
		return response{}, fmt.Errorf("incomplete response: %w", withoutURL(err))
	}
	if len(text) > maxResponse {
		return response{}, fmt.Errorf("the response is longer than %d bytes", maxResponse)
	}
	return response{status: got.StatusCode, body: text, replayed: got.Header.Get("Idempotent-Replayed") == "true",
		retryAfter: got.Header.Get("Retry-After")}, nil
}

// errNotTheService is the error of a response that is not one of the service.
var errNotTheService = errors.New("the response is not one of the service; is the URL right, version included?")

// causeWords says why there was no response, without what another program has written, such as a malformed response.
func causeWords(err error) string {
	var connection *net.OpError
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return "there was no response in time"
	case errors.As(err, &connection):
		return connection.Error()
	}
	return "the connection failed, or something else answered"
}

// withoutURL returns an error without the URL of the request, which may have a device code in it.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// serviceError is the body of an error response.
type serviceError struct {
	Code    string `json:"code"`
	Reason  string `json:"reason"`
	Details struct {
		Reasons []reason `json:"reasons"`
	} `json:"details"`
}

// reason is one of the reasons of a policy.
type reason struct {
	Code string `json:"code"`
}

// failure returns the error of a response that is not ok.
func (r response) failure() serviceError {
	var e serviceError
	_ = json.Unmarshal(r.body, &e) // a body of something else, such as a proxy, has no code
	return e
}
