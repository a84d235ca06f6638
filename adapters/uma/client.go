package uma

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"causeway/core/platform"
)

// maxBody is the maximum size of a message, in bytes.
const maxBody = 128 << 10

// Client sends requests to other providers: to public addresses over TLS, without redirects, and with bounds on time and size.
type Client struct {
	transport http.RoundTripper
}

// NewClient returns a client. wrap wraps its transport; nil for nothing.
func NewClient(wrap func(http.RoundTripper) http.RoundTripper) *Client {
	var public http.RoundTripper = newTransport()
	if wrap != nil {
		public = wrap(public)
	}
	return &Client{public}
}

const connectTimeout = 5 * time.Second

// newTransport returns a transport that connects to public addresses only. It checks the address that is dialled, after the name
// is resolved, so that DNS rebinding does not get around the check.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil || !platform.AllowsWebhooksTo(false, target.Addr()) {
			return errors.New("requests are not sent to this address")
		}
		return nil
	}}
	return &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: connectTimeout,
		MaxIdleConns: 100, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 16 << 10, DisableCompression: true,
	}
}

// response is the answer of another provider.
type response struct {
	status int
	body   []byte
}

// get requests a URL, and post sends JSON to it. The error says why there is no answer.
func (c *Client) get(ctx context.Context, target string, timeout time.Duration) (response, error) {
	return c.send(ctx, http.MethodGet, target, nil, timeout)
}

func (c *Client) post(ctx context.Context, target string, body []byte, timeout time.Duration) (response, error) {
	return c.send(ctx, http.MethodPost, target, body, timeout)
}

func (c *Client) send(ctx context.Context, method, target string, body []byte, timeout time.Duration) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := checkURL(target); err != nil {
		return response{}, err
	}
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return response{}, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "causeway")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	// A http.Client would follow redirects and keep cookies; a transport does not.
	answer, err := c.transport.RoundTrip(request)
	if err != nil {
		return response{}, unreachable(err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(io.LimitReader(answer.Body, maxBody+1))
	if err != nil {
		return response{}, unreachable(err)
	}
	if len(read) > maxBody {
		return response{}, fmt.Errorf("the answer has more than %d bytes", maxBody)
	}
	return response{answer.StatusCode, read}, nil
}

// unreachable returns why there is no answer, in words that other providers and platforms may read. With more, who names a host would learn
// which names and ports the network of the service has.
func unreachable(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return errors.New("there is no answer in time")
	}
	if bad, is := errors.AsType[*tls.CertificateVerificationError](err); is {
		return fmt.Errorf("its TLS certificate is not valid: %w", bad.Err)
	}
	return errors.New("its host cannot be reached")
}

// checkURL returns an error for a URL to which no request is sent.
func checkURL(target string) error {
	u, err := url.Parse(target)
	switch {
	case err != nil || len(target) > 2000:
		return errors.New("it is not a URL")
	case u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsAny(u.Host, " \\"):
		return errors.New("the URL must begin with https:// and a host, without a user")
	}
	return nil
}
