// Package provider has identities checked by a provider over HTTP, with the contract that
// docs/identity-provider.md describes: it submits applications with their documents, asks for their
// outcomes, and receives decisions in signed messages.
//
// It makes one request in each call and never repeats one, follows no redirect, uses no proxy, and puts
// no personal data into addresses, errors or logs.
package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/verification"
	"causeway/ports"
)

// Config holds what the provider needs. All fields are required but Files and Metrics.
type Config struct {
	// URL is the base URL of the provider: https, or http for a loopback address.
	URL string
	// Token is sent with each request.
	Token string
	// CallbackURL is where the provider sends its decisions.
	CallbackURL string
	// Files opens the files of documents; nil if documents are not accepted.
	Files ports.Files
	Clock ports.Clock
	// PollInterval is how long after a submission it is asked for its outcome. Each further time takes
	// longer, up to maxPollInterval.
	PollInterval time.Duration
	// Metrics may be nil.
	Metrics Metrics
}

// Metrics records the requests to the provider.
type Metrics interface {
	// Requested is called after each request: operation is submit or status.
	Requested(operation string, err error, duration time.Duration)
}

// Identity implements ports.Identity.
type Identity struct {
	Config
	base      *url.URL
	transport *http.Transport
}

var _ ports.Identity = (*Identity)(nil)

const (
	// submitTimeout is enough for many documents, and less than the job that submits them may take.
	submitTimeout = 4 * time.Minute
	statusTimeout = 15 * time.Second
	// responseTimeout is the maximum time from the end of a request to the response.
	responseTimeout = 30 * time.Second
	connectTimeout  = 5 * time.Second
	maxPollInterval = time.Hour
)

// New returns an Identity, or an error if the configuration is not valid.
func New(c Config) (*Identity, error) {
	base, err := ParseURL(c.URL)
	switch {
	case err != nil:
		return nil, err
	case !IsToken(c.Token):
		return nil, errors.New("the token must have 16 to 500 printable ASCII characters without spaces")
	case c.PollInterval <= 0:
		return nil, errors.New("the interval of status requests must be positive")
	}
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	return &Identity{Config: c, base: base, transport: &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout, ResponseHeaderTimeout: responseTimeout,
		MaxIdleConnsPerHost: 8, MaxConnsPerHost: 32, IdleConnTimeout: 60 * time.Second, MaxResponseHeaderBytes: 16 << 10,
		DisableCompression: true,
	}}, nil
}

// Close closes idle connections.
func (i *Identity) Close() { i.transport.CloseIdleConnections() }

// ParseURL returns the base URL of a provider: https, or http for a loopback address, without a query.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return nil, errors.New("must be a URL such as https://identity.example.com/v1, without a user, query or fragment; http is for loopback " +
			"addresses only")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// IsToken reports whether a token can be sent in a header, and is not so short that it can be guessed.
func IsToken(token string) bool {
	return len(token) >= 16 && len(token) <= 500 && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// NewCustomer returns PENDING.
func (*Identity) NewCustomer(customer.Customer) customer.Status { return customer.Pending }

// Immediate returns that every application is to be submitted.
func (*Identity) Immediate(verification.Application) (verification.Outcome, bool) {
	return verification.Outcome{}, false
}

// Submit sends an application and its documents in one request.
func (i *Identity) Submit(ctx context.Context, a verification.Application, documents []document.Document) (verification.Outcome, error) {
	if len(documents) > 0 && i.Files == nil {
		return verification.Outcome{}, errors.New("identity provider: no place for the files of documents is configured; set CAUSEWAY_BLOBS")
	}
	ctx, cancel := context.WithTimeout(ctx, submitTimeout)
	defer cancel()
	body, err := newForm(ctx, newApplication(a, documents, i.CallbackURL), documents, i.Files)
	if err != nil {
		return verification.Outcome{}, err
	}
	var answer State
	err = i.send(ctx, "submit", http.MethodPut, a, body, &answer)
	if err == nil {
		err = checkReceived(documents, answer.Documents)
	}
	return i.outcome(a, answer, err)
}

// Status asks for the outcome of an application.
func (i *Identity) Status(ctx context.Context, a verification.Application) (verification.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	var answer State
	err := i.send(ctx, "status", http.MethodGet, a, nil, &answer)
	return i.outcome(a, answer, err)
}

// outcome returns the outcome in a response.
func (i *Identity) outcome(a verification.Application, answer State, err error) (verification.Outcome, error) {
	if err != nil {
		return verification.Outcome{}, err
	}
	outcome := answer.outcome()
	if err := verification.CheckOutcome(outcome); err != nil {
		return verification.Outcome{}, fmt.Errorf("identity provider: the state of application %s: %w", a.ID, err)
	}
	if !outcome.IsFinal() {
		now := i.Clock.Now()
		outcome.RetryAt = now.Add(max(i.PollInterval, min(now.Sub(a.SubmittedAt)/4, maxPollInterval)))
	}
	return outcome, nil
}
