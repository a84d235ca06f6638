package webhooks

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"

	"causeway/core/platform"
	"causeway/ports"
)

// newTransport returns a transport that connects to allowed addresses only: with private also to
// private ones. It checks the address that
// is dialled, after the name is resolved, so that DNS rebinding does not get around the check.
func newTransport(o Options, private bool) *http.Transport {
	dialer := &net.Dialer{
		Timeout: o.Timeout / 2, KeepAlive: 30 * time.Second, Resolver: o.Resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return checkAddress(private, address)
		},
	}
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(1024)},
		TLSHandshakeTimeout:    o.Timeout / 2,
		ResponseHeaderTimeout:  o.Timeout,
		MaxIdleConns:           maxIdleConnections,
		MaxIdleConnsPerHost:    o.ConnectionsPerHost,
		IdleConnTimeout:        60 * time.Second,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 16 << 10,
		WriteBufferSize:        4 << 10,
		ReadBufferSize:         2 << 10,
		// HTTP/1.1 only: a connection serves one delivery at a time, so that a slow delivery does
		// not delay others of its platform.
		ForceAttemptHTTP2: false,
		TLSNextProto:      map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
}

// maxIdleConnections is how many idle connections are kept to all hosts together.
const maxIdleConnections = 1024

var (
	errForbiddenURL     = errors.New("webhooks cannot be sent to this URL")
	errForbiddenAddress = errors.New("webhooks cannot be sent to this address")
)

func checkAddress(private bool, address string) error {
	addrPort, err := netip.ParseAddrPort(address)
	if err != nil || !platform.AllowsWebhooksTo(private, addrPort.Addr()) {
		return errForbiddenAddress
	}
	return nil
}

// urlCache caches parsed endpoint URLs.
type urlCache struct {
	mu   sync.RWMutex
	urls map[endpointURL]*url.URL
}

// endpointURL is a URL and the environment that decides whether it is allowed.
type endpointURL struct {
	url         string
	environment platform.Environment
}

const maxCachedURLs = 10_000

func (c *urlCache) parse(e ports.Endpoint) (*url.URL, error) {
	key := endpointURL{e.URL, e.Environment}
	c.mu.RLock()
	known := c.urls[key]
	c.mu.RUnlock()
	if known != nil {
		return known, nil
	}
	parsed, err := url.Parse(e.URL)
	if err != nil || parsed.Host == "" || parsed.User != nil ||
		parsed.Scheme != "https" && (parsed.Scheme != "http" || e.Environment != platform.Sandbox) {
		return nil, errForbiddenURL
	}
	parsed.Fragment, parsed.RawFragment = "", ""
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.urls == nil || len(c.urls) >= maxCachedURLs {
		c.urls = map[endpointURL]*url.URL{}
	}
	c.urls[key] = parsed
	return parsed, nil
}
