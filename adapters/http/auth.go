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
	"causeway/ports"
)

// Authenticator returns the principal of credentials, or UNAUTHORIZED. It is called for
// every request, so that a deleted token stops working.
type Authenticator interface {
	Authenticate(ctx context.Context, clientID, secret string) (platform.Principal, error)
}

// AgentAuthenticator returns the principal of the access token of an agent, or UNAUTHORIZED. It is
// called for every request, so that the token of a deleted agent stops working at once.
type AgentAuthenticator interface {
	Authenticate(ctx context.Context, accessToken string) (platform.Principal, error)
}

// authorize checks credentials, rate limits, permission and environment of a request.
// It is the only place where a permission is checked.
func (x *exchange) authorize() error {
	rt := x.route
	if rt.public {
		return x.limitPublic()
	}
	principal, err := x.authenticate()
	if err != nil {
		return err
	}
	x.call.Principal = principal
	x.ctx.Context = ports.ForPlatform(x.ctx.Context, principal.Platform)
	x.r = x.r.WithContext(ports.ForPlatform(x.r.Context(), principal.Platform))
	if refused, wait := x.api.callerLimiters.take(principal, x.started); wait > 0 {
		return &fault.Error{
			Code:       fault.RateLimited,
			Message:    refused + " made too many requests. Wait for the number of seconds in Retry-After and try again.",
			RetryAfter: wait,
		}
	}
	if rt.agent {
		err = principal.CheckAgentPermission(rt.agentPermissions...)
	} else {
		err = principal.CheckPermission(rt.permission)
	}
	if err != nil {
		return err
	}
	if rt.sandboxOnly {
		return principal.CheckSandbox()
	}
	return nil
}

// authenticate returns the caller: an agent for an operation of agents, and otherwise a token.
func (x *exchange) authenticate() (platform.Principal, error) {
	header := x.r.Header["Authorization"]
	if x.isForAgent(header) {
		accessToken, err := bearerToken(header)
		if err != nil {
			return platform.Principal{}, err
		}
		principal, err := x.api.config.AgentAuthenticator.Authenticate(&x.ctx, accessToken)
		if err != nil {
			return platform.Principal{}, x.failedLogin(accessToken, "Check the access token", err)
		}
		return principal, nil
	}
	clientID, secret, err := credentials(header)
	if err != nil {
		return platform.Principal{}, err
	}
	principal, err := x.api.config.Authenticator.Authenticate(&x.ctx, clientID, secret)
	if err != nil {
		return platform.Principal{}, x.failedLogin(clientID, "Check the client id and secret", err)
	}
	return principal, nil
}

// isForAgent reports whether an agent has to make the request. Without an operation, that follows from the credentials.
func (x *exchange) isForAgent(authorization []string) bool {
	if x.route != nil && x.route.op != nil {
		return x.route.agent
	}
	return x.api.config.AgentAuthenticator != nil && strings.HasPrefix(authorization[0], "Bearer ")
}

// failedLogin counts a failed authentication of a client, and returns its error or, after too many of
// them, RATE_LIMITED with what to check.
func (x *exchange) failedLogin(client, check string, err error) error {
	if f, ok := fault.As(err); !ok || f.Code.Status() != http.StatusUnauthorized {
		return err
	}
	x.noteRefused(err)
	wait := x.api.loginLimiter.recordFailure(client, x.api.remoteAddr(x.r), x.started)
	if wait == 0 {
		return err
	}
	x.refused = platform.Principal{} // or anyone could fill the log of a platform
	return &fault.Error{
		Code:       fault.RateLimited,
		Message:    "Too many requests with invalid credentials from this address. " + check + ", wait, and try again.",
		Reason:     "Too many failed authentications",
		RetryAfter: wait,
	}
}

const maxCredentialsLength = 1024

// credentials parses the Authorization header of HTTP Basic authentication.
func credentials(header []string) (clientID, secret string, err error) {
	if len(header) == 0 {
		return "", "", unauthorized("Missing credentials", "This operation requires credentials. Send the client id and secret of a token with "+
			"HTTP Basic authentication.")
	}
	if len(header) > 1 || len(header[0]) > maxCredentialsLength {
		return "", "", unauthorized("Malformed credentials", "Send exactly one Authorization header, with the client id and secret of a token.")
	}
	scheme, encoded, _ := strings.Cut(header[0], " ")
	if strings.EqualFold(scheme, "Bearer") {
		return "", "", unauthorized("Unsupported scheme", "This operation is not for agents, whose operations are below /agents/me. Send the "+
			"client id and secret of a token with HTTP Basic authentication.")
	}
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", unauthorized("Unsupported scheme",
			"Only HTTP Basic authentication is supported. Send the client id and secret of a token.")
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

// bearerToken parses the Authorization header of an agent (RFC 6750).
func bearerToken(header []string) (string, error) {
	if len(header) == 0 {
		return "", unauthorized("Missing credentials", "This operation requires the access token of an agent. Send it as Authorization: Bearer "+
			"ACCESS_TOKEN.")
	}
	if len(header) > 1 || len(header[0]) > maxCredentialsLength {
		return "", unauthorized("Malformed credentials", "Send exactly one Authorization header, with the access token of an agent.")
	}
	scheme, token, _ := strings.Cut(header[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", unauthorized("Unsupported scheme", "This operation is for agents only. Send the access token of an agent as Authorization: "+
			"Bearer ACCESS_TOKEN.")
	}
	if token = strings.TrimLeft(token, " "); token == "" || !isValidText(token) {
		return "", unauthorized("Malformed credentials", "The header must have the form Authorization: Bearer ACCESS_TOKEN, with the access "+
			"token of an agent.")
	}
	return token, nil
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

// loginLimiter limits failed authentications of a client id from an address, and of an address.
// It applies to failures only: valid credentials always pass, even if others fail with the same
// client id or behind the same proxy. A secret of 256 random bits cannot be guessed at any rate.
type loginLimiter struct {
	seed      maphash.Seed
	byClient  *limiters[loginKey]
	byAddress *limiters[netip.Addr]
}

type loginKey struct {
	client  uint64 // a hash, because client ids may be long
	address netip.Addr
}

// Failed authentications that return 401; further ones return 429.
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

// recordFailure counts a failure. It returns zero if it is within both limits, or else how long
// to wait before the next attempt.
func (g *loginLimiter) recordFailure(client string, address netip.Addr, now time.Time) time.Duration {
	return max(g.byClient.take(loginKey{maphash.String(g.seed, client), address}, now), g.byAddress.take(address, now))
}
