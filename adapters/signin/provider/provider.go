// Package provider signs people in at a provider of single sign-on with OpenID Connect: by the authorization code with PKCE, a state and
// a nonce.
//
// It is called about people only, never about payments: while the provider is down, who is signed in works on.
package provider

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/sirupsen/logrus"
	"golang.org/x/oauth2"

	"causeway/app/people"
	"causeway/core/fault"
	"causeway/core/person"
	"causeway/ports"
)

// Config holds what the provider needs. All fields are required but RolesClaim and Scopes.
type Config struct {
	// Issuer is the address of the provider, as its tokens name it.
	Issuer                 string
	ClientID, ClientSecret string
	// ReturnURL is where the provider sends browsers back.
	ReturnURL string
	// RolesClaim is the claim of the ID token that has the roles; parts of a path in objects are separated by dots.
	RolesClaim string
	// Scopes are those that are asked for besides openid, email and profile.
	Scopes []string
	Clock  ports.Clock
	Log    *logrus.Logger
}

// Provider implements people.Provider.
type Provider struct {
	Config
	client *http.Client
	// known holds what the provider has said about itself; one caller at a time takes it out.
	known chan *discovered
}

type discovered struct {
	*oidc.Provider
	at time.Time
}

var _ people.Provider = (*Provider)(nil)

const (
	// callTimeout bounds each request to the provider.
	callTimeout = 10 * time.Second
	// discoveryLifetime is how long what the provider says about itself is used, also its keys.
	discoveryLifetime = time.Hour
	maxAnswer         = 1 << 20 // bytes
)

// New returns a provider, which is not called yet: the service starts also while it is down.
func New(c Config) *Provider {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	known := make(chan *discovered, 1)
	known <- nil
	return &Provider{Config: c, known: known, client: &http.Client{Timeout: callTimeout, Transport: limited{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// limited limits the size of what is read.
type limited struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, maxAnswer), response.Body}
	}
	return response, err
}

// ParseIssuer returns why an address cannot be that of a provider.
func ParseIssuer(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return errors.New("a URL such as https://login.example.com, without a user, query or fragment; http is for loopback addresses only")
	}
	return nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// discover returns what the provider says about itself. What it has said before is used on while it does not answer.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	var last *discovered
	select {
	case last = <-p.known:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { p.known <- last }()
	now := p.Clock.Now()
	if last != nil && now.Sub(last.at) < discoveryLifetime {
		return last.Provider, nil
	}
	// The keys are read with the client of this context, and whatever later context.
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.Issuer)
	if err == nil {
		last = &discovered{found, now}
	} else if last == nil {
		return nil, err
	}
	return last.Provider, nil
}

func (p *Provider) oauth(found *oidc.Provider) oauth2.Config {
	return oauth2.Config{ClientID: p.ClientID, ClientSecret: p.ClientSecret, RedirectURL: p.ReturnURL, Endpoint: found.Endpoint(),
		Scopes: append([]string{oidc.ScopeOpenID, "email", "profile"}, p.Scopes...)}
}

// URL implements people.Provider.
func (p *Provider) URL(ctx context.Context, f people.ProviderFlow, anew bool) (string, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", p.failed(err)
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)}
	if anew {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	oauth := p.oauth(found)
	return oauth.AuthCodeURL(f.State, options...), nil
}

// Claims implements people.Provider.
func (p *Provider) Claims(ctx context.Context, f people.ProviderFlow, code string) (c person.Claims, err error) {
	found, err := p.discover(ctx)
	if err != nil {
		return c, p.failed(err)
	}
	ctx = oidc.ClientContext(ctx, p.client)
	oauth := p.oauth(found)
	exchanged, err := oauth.Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return c, p.failed(err)
	}
	raw, ok := exchanged.Extra("id_token").(string)
	if !ok {
		return c, p.failed(errors.New("the answer has no id_token"))
	}
	token, err := found.Verifier(&oidc.Config{ClientID: p.ClientID, Now: p.Clock.Now}).Verify(ctx, raw)
	if err != nil {
		return c, p.failed(err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1 {
		return c, p.failed(errors.New("the token has another nonce"))
	}
	if c, err = p.claimsOf(token); err != nil {
		return c, p.failed(err)
	}
	return c, nil
}

// flag is a boolean that some providers write as a text.
type flag bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *flag) UnmarshalJSON(text []byte) error {
	*f = flag(slices.Contains([]string{"true", `"true"`}, string(text)))
	return nil
}

func (p *Provider) claimsOf(token *oidc.IDToken) (c person.Claims, err error) {
	var known struct {
		Email           string `json:"email"`
		IsEmailVerified flag   `json:"email_verified"`
		Name            string `json:"name"`
		AuthTime        int64  `json:"auth_time"`
		AuthorizedParty string `json:"azp"`
	}
	var all map[string]any
	if err := errors.Join(token.Claims(&known), token.Claims(&all)); err != nil {
		return c, err
	}
	if known.AuthorizedParty != "" && known.AuthorizedParty != p.ClientID {
		return c, errors.New("the token was issued to another client")
	}
	c = person.Claims{Identity: person.Identity{Issuer: token.Issuer, Subject: token.Subject}, Email: known.Email,
		IsEmailVerified: bool(known.IsEmailVerified), Name: known.Name, Roles: valuesOf(all, p.RolesClaim)}
	if known.AuthTime > 0 {
		c.AuthenticatedAt = time.Unix(known.AuthTime, 0)
	}
	return c, nil
}

// valuesOf returns the texts of a claim, by its name or by its path in objects; none if it is missing.
func valuesOf(claims map[string]any, name string) (values []string) {
	value, ok := claims[name]
	for rest := name; !ok; {
		head, tail, isPath := strings.Cut(rest, ".")
		inner, isObject := claims[head].(map[string]any)
		if !isPath || !isObject {
			return nil
		}
		claims, rest = inner, tail
		value, ok = claims[rest]
	}
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		for _, item := range value {
			if text, ok := item.(string); ok {
				values = append(values, text)
			}
		}
	}
	return values
}

// failed logs why a provider signs nobody in, for the operator, and returns what the person gets to know.
func (p *Provider) failed(err error) error {
	p.Log.WithError(err).WithField("issuer", p.Issuer).Warn("single sign-on failed")
	var refused *oauth2.RetrieveError
	var network *url.Error
	var syntax *json.SyntaxError
	isDown := errors.As(err, &refused) && refused.Response.StatusCode >= http.StatusInternalServerError
	if isDown || errors.As(err, &network) || errors.As(err, &syntax) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled) || isDiscovery(err) {
		return fault.New(fault.ServiceUnavailable, "Single sign-on does not work just now. Try again in a few minutes.")
	}
	return person.ErrProvider
}

// isDiscovery reports whether the provider has not said what it is, for which the library has no type.
func isDiscovery(err error) bool {
	status := 0
	_, scanErr := fmt.Sscanf(err.Error(), "%d ", &status)
	return scanErr == nil && status >= http.StatusBadRequest
}
