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

// Authenticator returns the principal of credentials, or UNAUTHORIZED. It is called for
// every request, so that a deleted token stops working at once.
type Authenticator interface {
	Authenticate(ctx context.Context, clientID, secret string) (platform.Principal, error)
}

// authorize checks credentials, rate limits, permission and environment of a request.
// It is the only place where a permission is checked.
func (x *exchange) authorize() error {
	rt := x.route
	if rt.public {
		return nil
	}
	clientID, secret, err := credentials(x.r.Header["Authorization"])
	if err != nil {
		return err
	}
	address := x.api.remoteAddr(x.r)
	if wait := x.api.loginLimiter.wait(clientID, address, x.started); wait > 0 {
		return &fault.Error{
			Code:       fault.RateLimited,
			Message:    "Too many requests with invalid credentials from this address. Check the client id and secret, wait, and try again.",
			Reason:     "Too many failed authentications",
			RetryAfter: wait,
		}
	}
	principal, err := x.api.config.Authenticator.Authenticate(&x.ctx, clientID, secret)
	if err != nil {
		if f, ok := fault.As(err); ok && f.Code.Status() == http.StatusUnauthorized {
			x.api.loginLimiter.recordFailure(clientID, address, x.started)
		}
		return err
	}
	x.call.Principal = principal
	if wait := x.api.tokenLimiters.take(tokenKey(principal.Token.UUID()), x.started); wait > 0 {
		return &fault.Error{
			Code:       fault.RateLimited,
			Message:    "This token made too many requests. Wait for the number of seconds in Retry-After and try again.",
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

// credentials parses the Authorization header of HTTP Basic authentication.
func credentials(header []string) (clientID, secret string, err error) {
	if len(header) == 0 {
		return "", "", unauthorized("Missing credentials", "This operation requires credentials. Send the client id and secret of a token with HTTP Basic authentication.")
	}
	if len(header) > 1 || len(header[0]) > maxCredentialsLength {
		return "", "", unauthorized("Malformed credentials", "Send exactly one Authorization header, with the client id and secret of a token.")
	}
	scheme, encoded, _ := strings.Cut(header[0], " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", unauthorized("Unsupported scheme", "Only HTTP Basic authentication is supported. Send the client id and secret of a token.")
	}
	text, err := base64.StdEncoding.DecodeString(strings.TrimLeft(encoded, " "))
	if err != nil {
		return "", "", unauthorized("Malformed credentials", "The credentials are not valid base64. Encode clientId:clientSecret.")
	}
	clientID, secret, ok := strings.Cut(string(text), ":")
	if !ok || clientID == "" || secret == "" || !isValidText(clientID) || !isValidText(secret) {
		return "", "", unauthorized("Malformed credentials", "The credentials must have the form clientId:clientSecret.")
	}
	return clientID, secret, nil
}

func unauthorized(reason, message string) error {
	return &fault.Error{Code: fault.Unauthorized, Message: message, Reason: reason}
}

// remoteAddr returns the address of the client: the peer or, behind a trusted proxy, the
// last forwarded address that is not itself a trusted proxy. An IPv6 address is reduced
// to its /64 network, because one client usually has all of it.
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

// loginLimiter limits failed authentications. A client id is blocked only for the
// address of the failures, so that an attacker cannot lock out its owner.
type loginLimiter struct {
	seed      maphash.Seed
	byClient  *limiters[loginKey]
	byAddress *limiters[netip.Addr]
}

type loginKey struct {
	client  uint64 // a hash, because client ids may be long
	address netip.Addr
}

// Failed authentications that are allowed before the client must wait.
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

// wait returns how long the client must wait before the next attempt; usually zero.
func (g *loginLimiter) wait(client string, address netip.Addr, now time.Time) time.Duration {
	return max(g.byClient.peek(g.key(client, address), now), g.byAddress.peek(address, now))
}

func (g *loginLimiter) recordFailure(client string, address netip.Addr, now time.Time) {
	g.byClient.take(g.key(client, address), now)
	g.byAddress.take(address, now)
}

func (g *loginLimiter) key(client string, address netip.Addr) loginKey {
	return loginKey{maphash.String(g.seed, client), address}
}
