package real

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"causeway/core/fault"
	"causeway/core/wallet"
)

const (
	// refreshInterval is the shortest time between two readings of the keys of an issuer. A token with an
	// unknown key must not make more requests.
	refreshInterval = time.Minute
	// retryInterval is that after a reading that failed while no key is known.
	retryInterval = 10 * time.Second
	// keysFresh is how long keys are used without reading them again; keysUsable is how long if they cannot
	// be read.
	keysFresh  = time.Hour
	keysUsable = 24 * time.Hour

	maxKeyDocument = 256 << 10 // bytes
	maxKeys        = 100
)

// issuer is a provider of ID tokens, with its keys.
type issuer struct {
	url       string
	transport http.RoundTripper
	timeout   time.Duration
	keys      atomic.Pointer[keySet]
	// fetching is held by who reads the keys; it guards triedAt and failed.
	fetching chan struct{}
	triedAt  time.Time
	failed   error
}

// keySet holds the keys of an issuer by their id (kid).
type keySet struct {
	keys   map[string]publicKey
	readAt time.Time
}

type publicKey struct {
	algorithm jose.SignatureAlgorithm
	key       any // *rsa.PublicKey or *ecdsa.PublicKey
}

// key returns the key of the issuer with an id. It reads the keys if it has none, old ones, or not this one.
// It returns UNAUTHORIZED if the issuer has no such key, and SERVICE_UNAVAILABLE if its keys cannot be read.
func (i *issuer) key(ctx context.Context, id string, algorithm jose.SignatureAlgorithm, now time.Time) (any, error) {
	if id == "" {
		return nil, wallet.InvalidIdentity("The ID token does not name the key that signed it (kid).")
	}
	known, fresh := i.known(id, now)
	if !fresh {
		if err := i.refresh(ctx, id, now); err != nil {
			return nil, err
		}
		known, _ = i.known(id, now)
	}
	if known.key == nil || known.algorithm != algorithm {
		return nil, wallet.InvalidIdentity("The ID token is not signed with a key of its issuer (kid, alg).")
	}
	return known.key, nil
}

// known returns a key, and whether it needs not be read again.
func (i *issuer) known(id string, now time.Time) (publicKey, bool) {
	set := i.keys.Load()
	if set == nil || now.Sub(set.readAt) >= keysUsable {
		return publicKey{}, false
	}
	key, ok := set.keys[id]
	return key, ok && now.Sub(set.readAt) < keysFresh
}

// refresh reads the keys, unless another request has just done so. Its error is for a key that is unknown:
// one that is known is good enough if the keys cannot be read.
func (i *issuer) refresh(ctx context.Context, id string, now time.Time) error {
	select {
	case i.fetching <- struct{}{}:
		defer func() { <-i.fetching }()
	case <-ctx.Done():
		return ctx.Err()
	}
	known, fresh := i.known(id, now)
	if fresh {
		return nil
	}
	interval := refreshInterval
	if i.failed != nil && i.keys.Load() == nil {
		interval = retryInterval
	}
	if i.triedAt.IsZero() || now.Sub(i.triedAt) >= interval {
		// The result is for all requests, so the end of this one does not stop it.
		fetchCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.timeout)
		defer cancel()
		keys, err := i.fetch(fetchCtx)
		i.triedAt, i.failed = now, err
		if err == nil {
			i.keys.Store(&keySet{keys: keys, readAt: now})
		}
	}
	if i.failed == nil || known.key != nil {
		return nil
	}
	unavailable := fault.New(fault.ServiceUnavailable, "The keys of %s cannot be read, so its ID tokens cannot be checked. Try again later.",
		i.url)
	unavailable.RetryAfter = retryInterval
	return fmt.Errorf("%w (%w)", unavailable, i.failed)
}

// fetch reads the keys that an issuer publishes (OpenID Connect Discovery 1.0).
func (i *issuer) fetch(ctx context.Context) (map[string]publicKey, error) {
	var configuration struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := i.get(ctx, strings.TrimSuffix(i.url, "/")+"/.well-known/openid-configuration", &configuration); err != nil {
		return nil, err
	}
	if configuration.Issuer != i.url {
		return nil, fmt.Errorf("the configuration of %s is that of another issuer, %.200q", i.url, configuration.Issuer)
	}
	if err := checkURL(configuration.JWKSURI, strings.HasPrefix(i.url, "http://")); err != nil {
		return nil, fmt.Errorf("the jwks_uri of %s is not an https URL", i.url)
	}
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := i.get(ctx, configuration.JWKSURI, &document); err != nil {
		return nil, err
	}
	keys := publicKeys(document.Keys)
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s has no key for RS256 or ES256", configuration.JWKSURI)
	}
	return keys, nil
}

// publicKeys returns the keys that can sign ID tokens; others are ignored (RFC 7517, section 5).
func publicKeys(documents []json.RawMessage) map[string]publicKey {
	keys := map[string]publicKey{}
	for _, document := range documents[:min(len(documents), maxKeys)] {
		var jwk jose.JSONWebKey
		if jwk.UnmarshalJSON(document) != nil || jwk.KeyID == "" || jwk.Use != "" && jwk.Use != "sig" {
			continue
		}
		var algorithm jose.SignatureAlgorithm
		switch key := jwk.Key.(type) {
		case *rsa.PublicKey:
			if bits := key.N.BitLen(); bits >= 2048 && bits <= 8192 {
				algorithm = jose.RS256
			}
		case *ecdsa.PublicKey:
			if key.Curve == elliptic.P256() {
				algorithm = jose.ES256
			}
		}
		if algorithm == "" || jwk.Algorithm != "" && jwk.Algorithm != string(algorithm) {
			continue
		}
		keys[jwk.KeyID] = publicKey{algorithm, jwk.Key}
	}
	return keys
}

// get reads a JSON document. It follows no redirect.
func (i *issuer) get(ctx context.Context, address string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "causeway")
	// A http.Client would follow redirects and keep cookies; the transport does not.
	response, err := i.transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("read %s: %w", address, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("read %s: the response has the status %d", address, response.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxKeyDocument+1))
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", address, err)
	case len(text) > maxKeyDocument:
		return fmt.Errorf("read %s: the response has more than %d bytes", address, maxKeyDocument)
	case json.Unmarshal(text, into) != nil:
		return fmt.Errorf("read %s: the response is not the JSON document that OpenID Connect defines", address)
	}
	return nil
}

func newTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    5 * time.Second,
		ResponseHeaderTimeout:  5 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    1,
		IdleConnTimeout:        time.Minute,
	}
}

// CheckIssuer returns why a text is not the URL of an issuer: https, or http for a loopback address.
func CheckIssuer(text string) error {
	if strings.Contains(text, "?") {
		return errNotIssuer
	}
	return checkURL(text, true)
}

var errNotIssuer = errors.New("must be a URL such as https://accounts.google.com, without a user, query or fragment; http is for " +
	"loopback addresses only")

func checkURL(text string, allowLoopback bool) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || strings.Contains(text, "#") ||
		u.Scheme != "https" && (u.Scheme != "http" || !allowLoopback || !isLoopback(u.Hostname())) {
		return errNotIssuer
	}
	return nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
