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

// authorize lets a request through to its operation, or says why not. An operation
// without a permission is closed to everybody unless it is public.
func (x *exchange) authorize() error {
	rt := x.route
	if rt.public {
		return nil
	}
	clientID, secret, err := credentials(x.r.Header["Authorization"])
	if err != nil {
		return err
	}
	from := x.api.remoteAddr(x.r)
	if wait := x.api.loginLimiter.wait(clientID, from, x.started); wait > 0 {
		return &fault.Error{
			Code:       fault.RateLimited,
			Message:    "Too many requests with wrong credentials came from here. Check the client id and secret, wait, and try again.",
			Reason:     "Too many failed authentications",
			RetryAfter: wait,
		}
	}
	principal, err := x.api.config.Authenticator.Authenticate(&x.ctx, clientID, secret)
	if err != nil {
		if f, ok := fault.As(err); ok && f.Code.Status() == http.StatusUnauthorized {
			x.api.loginLimiter.recordFailure(clientID, from, x.started)
		}
		return err
	}
	x.call.Principal = principal
	if wait := x.api.tokenLimiters.take(tokenKey(principal.Token.UUID()), x.started); wait > 0 {
		return &fault.Error{
			Code:       fault.RateLimited,
			Message:    "This token made too many requests. Wait as long as Retry-After says, and send fewer at a time.",
			RetryAfter: wait,
		}
	}
	if err := principal.CheckPermission(rt.permission); err != nil {
		return err
	}
	if rt.sandboxOnly {
		return principal.CheckSandbox()
	}
	return nil
}

const maxCredentialsLength = 1024

// credentials reads the Authorization header of HTTP Basic.
func credentials(header []string) (clientID, secret string, err error) {
	if len(header) == 0 {
		return "", "", unauthorized("Missing credentials", "This operation needs credentials. Send the client id and secret of a token with HTTP Basic authentication.")
	}
	if len(header) > 1 || len(header[0]) > maxCredentialsLength {
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
	if !ok || clientID == "" || secret == "" || !isValidText(clientID) || !isValidText(secret) {
		return "", "", unauthorized("Malformed credentials", "The credentials are not of the form clientId:clientSecret.")
	}
	return clientID, secret, nil
}

func unauthorized(reason, message string) error {
	return &fault.Error{Code: fault.Unauthorized, Message: message, Reason: reason}
}

// remoteAddr is where a request came from: the peer, or, behind a trusted proxy, the
// last address it was forwarded for that is no trusted proxy itself. Of an IPv6
// address only the network counts: one caller owns all of it.
func (a *API) remoteAddr(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	addr, _ := netip.ParseAddr(host)
	addr = addr.Unmap()
	if a.isTrustedProxy(addr) {
		forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for i := len(forwarded) - 1; i >= 0; i-- {
			hop, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
			if err != nil {
				break
			}
			if addr = hop.Unmap(); !a.isTrustedProxy(addr) {
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

func (a *API) isTrustedProxy(addr netip.Addr) bool {
	for _, network := range a.config.TrustedProxies {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// loginLimiter slows down whoever tries passwords. A client id is blocked only for the
// address that guessed, so that nobody can lock out somebody else.
type loginLimiter struct {
	seed      maphash.Seed
	byClient  *limiters[loginKey]
	byAddress *limiters[netip.Addr]
}

type loginKey struct {
	client  uint64 // a hash: client ids come from outside and may be long
	address netip.Addr
}

// How many wrong credentials are taken before the wait begins.
var (
	failedLoginsPerClient  = Rate{PerSecond: 0.2, Burst: 10}
	failedLoginsPerAddress = Rate{PerSecond: 2, Burst: 100}
)

func newLoginLimiter() *loginLimiter {
	return &loginLimiter{
		seed:      maphash.MakeSeed(),
		byClient:  newLimiters[loginKey](failedLoginsPerClient),
		byAddress: newLimiters[netip.Addr](failedLoginsPerAddress),
	}
}

// wait is how long this caller must wait before the next try; usually zero.
func (g *loginLimiter) wait(client string, from netip.Addr, now time.Time) time.Duration {
	return max(g.byClient.peek(g.key(client, from), now), g.byAddress.peek(from, now))
}

func (g *loginLimiter) recordFailure(client string, from netip.Addr, now time.Time) {
	g.byClient.take(g.key(client, from), now)
	g.byAddress.take(from, now)
}

func (g *loginLimiter) key(client string, from netip.Addr) loginKey {
	return loginKey{maphash.String(g.seed, client), from}
}
