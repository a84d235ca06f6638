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

// newTransport connects to allowed addresses only. The check is made on the address
// that is dialled, after the name was resolved, so a name that resolves to something
// else the second time is caught as well.
func newTransport(o Options, env platform.Environment) *http.Transport {
	dialer := &net.Dialer{
		Timeout: o.Timeout, KeepAlive: 30 * time.Second, Resolver: o.Resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return checkAddress(env, address)
		},
	}
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(1024)},
		TLSHandshakeTimeout:    o.Timeout,
		MaxIdleConnsPerHost:    o.ConnectionsPerHost,
		IdleConnTimeout:        60 * time.Second,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 16 << 10,
		WriteBufferSize:        4 << 10,
		ReadBufferSize:         2 << 10,
		// HTTP/1.1 alone: a connection serves one delivery at a time, so that none can
		// hold up the others of its platform.
		ForceAttemptHTTP2: false,
		TLSNextProto:      map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
}

var (
	errForbiddenURL     = errors.New("the URL is not one that webhooks are sent to")
	errForbiddenAddress = errors.New("the address is not one that webhooks are sent to")
)

func checkAddress(env platform.Environment, address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !allowed(env, at.Addr()) {
		return errForbiddenAddress
	}
	return nil
}

// urlCache remembers parsed endpoints: there are few, and each is used for long.
type urlCache struct {
	mu   sync.RWMutex
	urls map[ports.Endpoint]*url.URL
}

const maxCachedURLs = 10_000

func (t *urlCache) parse(e ports.Endpoint) (*url.URL, error) {
	t.mu.RLock()
	known := t.urls[e]
	t.mu.RUnlock()
	if known != nil {
		return known, nil
	}
	parsed, err := url.Parse(e.URL)
	if err != nil || parsed.Host == "" || parsed.User != nil ||
		parsed.Scheme != "https" && (parsed.Scheme != "http" || e.Environment != platform.Sandbox) {
		return nil, errForbiddenURL
	}
	parsed.Fragment, parsed.RawFragment = "", ""
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.urls == nil || len(t.urls) >= maxCachedURLs {
		t.urls = map[ports.Endpoint]*url.URL{}
	}
	t.urls[e] = parsed
	return parsed, nil
}
