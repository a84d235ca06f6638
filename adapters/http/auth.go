package httpapi

import (
	"context"
	"encoding/base64"
	"hash/maphash"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/platform"
)

// Authenticator says whose credentials these are, or UNAUTHORIZED. It is asked for
// every request: a deleted token must stop working at the next one.
type Authenticator interface {
	Authenticate(ctx context.Context, clientID, secret string) (platform.Principal, error)
}

// admit lets a request through to its operation, or says why not. An operation
// without a permission is closed to everybody unless it is public.
func (x *exchange) admit() error {
	rt := x.route
	if rt.public {
		return nil
	}
	clientID, secret, err := credentials(x.r.Header["Authorization"])
	if err != nil {
		return err
	}
	from := x.api.remote(x.r)
	if wait := x.api.guesses.wait(clientID, from, x.started); wait > 0 {
		return &fault.Error{
			Code:       fault.RateLimited,
			Message:    "Too many requests with wrong credentials came from here. Check the client id and secret, wait, and try again.",
			Reason:     "Too many failed authentications",
			RetryAfter: wait,
		}
	}
	principal, err := x.api.config.Authenticator.Authenticate(&x.ctx, clientID, secret)
	if err != nil {
		if f, ok := fault.Of(err); ok && f.Code.Status() == http.StatusUnauthorized {
			x.api.guesses.failed(clientID, from, x.started)
		}
		return err
	}
	x.call.Principal = principal
	if wait := x.api.tokens.take(tokenKey(principal.Token.UUID()), x.started); wait > 0 {
		return &fault.Error{
			Code:       fault.RateLimited,
			Message:    "This token made too many requests. Wait as long as Retry-After says, and send fewer at a time.",
			RetryAfter: wait,
		}
	}
	if err := principal.Must(rt.permission); err != nil {
		return err
	}
	if rt.sandbox {
		return principal.MustBeSandbox()
	}
	return nil
}

const maxCredentials = 1024

// credentials reads the Authorization header of HTTP Basic.
func credentials(header []string) (clientID, secret string, err error) {
	if len(header) == 0 {
		return "", "", unauthorized("Missing credentials", "This operation needs credentials. Send the client id and secret of a token with HTTP Basic authentication.")
	}
	if len(header) > 1 || len(header[0]) > maxCredentials {
		return "", "", unauthorized("Malformed credentials", "Send exactly one Authorization header, with the client id and secret of a token.")
	}
	scheme, encoded, _ := strings.Cut(header[0], " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", unauthorized("Unsupported scheme", "Only HTTP Basic authentication is understood here. Send the client id and secret of a token.")
	}
	text, err := base64.StdEncoding.DecodeString(strings.TrimLeft(encoded, " "))
	if err != nil {
		return "", "", unauthorized("Malformed credentials", "The credentials are not base64. Encode clientId:clientSecret.")
	}
	clientID, secret, ok := strings.Cut(string(text), ":")
	if !ok || clientID == "" || secret == "" || !isText(clientID) || !isText(secret) {
		return "", "", unauthorized("Malformed credentials", "The credentials are not of the form clientId:clientSecret.")
	}
	return clientID, secret, nil
}

func unauthorized(reason, message string) error {
	return &fault.Error{Code: fault.Unauthorized, Message: message, Reason: reason}
}

// remote is where a request came from: the peer, or, behind a trusted proxy, the
// last address it was forwarded for that is no trusted proxy itself. Of an IPv6
// address only the network counts: one caller owns all of it.
func (a *API) remote(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	addr, _ := netip.ParseAddr(host)
	addr = addr.Unmap()
	if a.trusted(addr) {
		forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for i := len(forwarded) - 1; i >= 0; i-- {
			hop, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
			if err != nil {
				break
			}
			if addr = hop.Unmap(); !a.trusted(addr) {
				break
			}
		}
	}
	if addr.Is6() {
		if network, err := addr.WithZone("").Prefix(64); err == nil {
			return network.Addr()
		}
	}
	return addr
}

func (a *API) trusted(addr netip.Addr) bool {
	for _, network := range a.config.TrustedProxies {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// guesses slows down whoever tries passwords. A client id is blocked only for the
// address that guessed, so that nobody can lock out somebody else.
type guesses struct {
	seed      maphash.Seed
	pairs     *limiters[guessKey]
	addresses *limiters[netip.Addr]
}

type guessKey struct {
	client uint64 // a hash: client ids come from outside and may be long
	from   netip.Addr
}

// How many wrong credentials are taken before the wait begins.
var (
	guessesPerClient  = Rate{PerSecond: 0.2, Burst: 10}
	guessesPerAddress = Rate{PerSecond: 2, Burst: 100}
)

func newGuesses() *guesses {
	return &guesses{
		seed:      maphash.MakeSeed(),
		pairs:     newLimiters[guessKey](guessesPerClient),
		addresses: newLimiters[netip.Addr](guessesPerAddress),
	}
}

// wait is how long this caller must wait before the next try; usually zero.
func (g *guesses) wait(client string, from netip.Addr, now time.Time) time.Duration {
	return max(g.pairs.peek(g.key(client, from), now), g.addresses.peek(from, now))
}

func (g *guesses) failed(client string, from netip.Addr, now time.Time) {
	g.pairs.take(g.key(client, from), now)
	g.addresses.take(from, now)
}

func (g *guesses) key(client string, from netip.Addr) guessKey {
	return guessKey{maphash.String(g.seed, client), from}
}
