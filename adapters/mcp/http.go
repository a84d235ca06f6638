package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is the path of the endpoint.
const Path = "/mcp"

const (
	maxSessions      = 1000             // of all agents
	maxAgentSessions = 16               // of one token; the oldest one ends when another begins
	maxInFlight      = 256              // requests at once
	maxAgentInFlight = 32               // of one token
	sessionTimeout   = 30 * time.Minute // without a request
	readTimeout      = 15 * time.Second // of the header, and of the body
	writeTimeout     = 2*callTimeout + 15*time.Second
	drainTimeout     = 20 * time.Second
)

// HTTPServer serves clients over streamable HTTP. Each sends the access token of its own agent.
type HTTPServer struct {
	options Options
	origins []string
	hosts   []string
	handler http.Handler
	slots   chan struct{}
	// unused has no tools. The SDK asks it for the versions of the protocol at requests of existing sessions.
	unused *sdk.Server

	mu       sync.Mutex
	draining bool
	starting int // sessions that are being created
	sessions []*httpSession
	running  map[string]int // requests that are running, by user
	requests sync.WaitGroup
}

// httpSession is a session of a client.
type httpSession struct {
	user    string
	session *sdk.ServerSession
}

// NewHTTPServer returns a server. Browsers may call it only from the allowed origins, such as https://app.example.com,
// whose hosts may also be its name.
func NewHTTPServer(o Options, allowedOrigins []string) (*HTTPServer, error) {
	return newHTTPServer(o, allowedOrigins, sessionTimeout)
}

func newHTTPServer(o Options, allowedOrigins []string, sessionTimeout time.Duration) (*HTTPServer, error) {
	h := &HTTPServer{options: o, slots: make(chan struct{}, maxInFlight), running: map[string]int{},
		unused: sdk.NewServer(&sdk.Implementation{Name: "causeway", Version: o.Version}, nil)}
	for _, origin := range allowedOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" || u.RawQuery != "" || u.User != nil {
			return nil, fmt.Errorf("must be origins such as https://app.example.com, not %q", origin)
		}
		h.origins, h.hosts = append(h.origins, strings.ToLower(origin)), append(h.hosts, strings.ToLower(u.Hostname()))
	}
	stream := sdk.NewStreamableHTTPHandler(h.serverOf, &sdk.StreamableHTTPOptions{
		JSONResponse: true, Logger: o.libraryLog(), SessionTimeout: sessionTimeout, MaxRequestBodyBytes: maxMessage,
		DisableLocalhostProtection: true, // checkHost does more
	})
	// The SDK ties a session to the user that it finds here, so that nobody else can use it.
	h.handler = auth.RequireBearerToken(tokenInfo, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(stream)
	return h, nil
}

// Serve serves until the context ends. It then finishes the calls that are running, and ends all sessions.
func (h *HTTPServer) Serve(ctx context.Context, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle(Path, h)
	// ReadTimeout ends requests that are refused before their body is read; readBody gives the others a deadline of their own.
	server := &http.Server{Handler: mux, ReadHeaderTimeout: readTimeout, ReadTimeout: callTimeout + readTimeout, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // until Close
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	h.mu.Lock()
	h.draining = true
	h.mu.Unlock()
	finished := make(chan struct{})
	go func() { h.requests.Wait(); close(finished) }() // each request has a deadline
	select {
	case <-finished:
	case <-time.After(drainTimeout):
	}
	h.mu.Lock()
	sessions := slices.Clone(h.sessions)
	h.mu.Unlock()
	for _, s := range sessions {
		_ = s.session.Close() // ends its stream of notifications
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(closing); err != nil {
		return server.Close()
	}
	return nil
}

// ServeHTTP checks who calls, and from where, before the SDK sees the request.
func (h *HTTPServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if cause := recover(); cause != nil {
			h.options.Log.Error("a request panicked", "cause", fmt.Sprint(cause))
			panic(http.ErrAbortHandler)
		}
	}()
	if !h.checkHost(r.Host) {
		http.Error(w, "This server does not have this name. Start it with --allowed-origin for it.", http.StatusForbidden)
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if !slices.Contains(h.origins, strings.ToLower(origin)) {
			http.Error(w, "Pages of this origin may not call this server. Start it with --allowed-origin for it.", http.StatusForbidden)
			return
		}
		allowOrigin(w, origin)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	done, ok := h.admit()
	if !ok {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "The server is busy or stopping. Try again in a few seconds.", http.StatusServiceUnavailable)
		return
	}
	defer done()
	// Before the body is read: nobody but agents can take places with bodies that arrive slowly.
	if r, ok = h.authenticate(w, r); !ok {
		return
	}
	limits := http.NewResponseController(w)
	if r.Method == http.MethodGet {
		done() // the stream of notifications of a session, which has one; it ends with the session
	} else {
		leave, ok := h.enter(r)
		if !ok {
			w.Header().Set("Retry-After", "5")
			http.Error(w, "This agent makes too many calls at once. Try again in a few seconds.", http.StatusTooManyRequests)
			return
		}
		defer leave()
		_ = limits.SetWriteDeadline(time.Now().Add(writeTimeout))
	}
	if err := readBody(w, r, limits); err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	h.serveSession(w, r)
}

// checkHost reports whether the server may be called by this name, so that no page can reach it by a name of its own
// that resolves to this machine. An address is no name.
func (h *HTTPServer) checkHost(host string) bool {
	name := host
	if withoutPort, _, err := net.SplitHostPort(host); err == nil {
		name = withoutPort
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	return net.ParseIP(name) != nil || name == "localhost" || slices.Contains(h.hosts, name)
}

// allowOrigin lets the pages of an origin call the server, and read its responses.
func allowOrigin(w http.ResponseWriter, origin string) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Add("Vary", "Origin")
	header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version")
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After")
}

// admit takes a place for a request until done is called, unless the server is full or stopping.
func (h *HTTPServer) admit() (done func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining {
		return nil, false
	}
	select {
	case h.slots <- struct{}{}:
		h.requests.Add(1)
		return sync.OnceFunc(func() { <-h.slots; h.requests.Done() }), true
	default:
		return nil, false
	}
}

// enter counts a request of an agent until leave is called, unless the agent has too many, so that it leaves places to
// others.
func (h *HTTPServer) enter(r *http.Request) (leave func(), ok bool) {
	c, _ := r.Context().Value(callerKey{}).(*caller)
	user := userOf(c.token)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running[user] >= maxAgentInFlight {
		return nil, false
	}
	h.running[user]++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.running[user]--; h.running[user] == 0 {
			delete(h.running, user)
		}
	}, true
}

// readBody reads the body of a request while it has a deadline, which would otherwise end long responses.
func readBody(w http.ResponseWriter, r *http.Request, limits *http.ResponseController) error {
	_ = limits.SetReadDeadline(time.Now().Add(readTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if err != nil {
		return fmt.Errorf("the body must arrive within %s and have at most %d bytes", readTimeout, maxMessage)
	}
	_ = limits.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// caller is who sends a request.
type caller struct {
	token  Token
	agent  []byte  // what the service says of it
	server *server // of a new session
}

type callerKey struct{}

// authenticate checks the access token with the service, and adds the caller to the request.
func (h *HTTPServer) authenticate(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token, err := NewToken(text)
	if !strings.EqualFold(scheme, "Bearer") || err != nil {
		challenge := `Bearer realm="causeway"`
		if text != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, "Send the access token of an agent as Authorization: Bearer ACCESS_TOKEN.", http.StatusUnauthorized)
		return r, false
	}
	ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
	defer cancel()
	got, err := h.options.Client.do(ctx, token, request{method: http.MethodGet, path: agentPath})
	switch {
	case err == nil && got.deniesToken():
		w.Header().Set("WWW-Authenticate", `Bearer realm="causeway", error="invalid_token"`)
		http.Error(w, "The access token is not accepted: the agent was deleted, or the token is wrong.", http.StatusUnauthorized)
	case err == nil && got.status == http.StatusTooManyRequests:
		w.Header().Set("Retry-After", got.retryAfter)
		http.Error(w, "Too many requests.", http.StatusTooManyRequests)
	case err == nil && got.ok():
		return r.WithContext(context.WithValue(r.Context(), callerKey{}, &caller{token: token, agent: got.body})), true
	default:
		if err == nil {
			err = fmt.Errorf("status %d; is the URL of the service right, version included?", got.status)
		}
		h.options.Log.Warn("the access token could not be checked", "error", err.Error())
		w.Header().Set("Retry-After", "5")
		http.Error(w, "The service cannot be reached, so the access token was not checked. Try again in a few seconds.",
			http.StatusServiceUnavailable)
	}
	return r, false
}

// tokenInfo tells the SDK who calls; authenticate has checked it.
func tokenInfo(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	c, ok := ctx.Value(callerKey{}).(*caller)
	if !ok || c.token.secret != token {
		return nil, errors.New("the access token was not checked")
	}
	return &auth.TokenInfo{UserID: userOf(c.token), Extra: map[string]any{agentExtra: c.agent}}, nil
}

const agentExtra = "agent"

// userOf names the owner of a token without the token.
func userOf(token Token) string {
	sum := sha256.Sum256([]byte(token.secret))
	return hex.EncodeToString(sum[:])
}

// authenticated returns what the service said of the agent when it checked the token of a request over HTTP.
func authenticated(req sdk.Request) ([]byte, bool) {
	if req == nil || req.GetExtra() == nil || req.GetExtra().TokenInfo == nil {
		return nil, false
	}
	agent, ok := req.GetExtra().TokenInfo.Extra[agentExtra].([]byte)
	return agent, ok
}

// serverOf returns the server of a request: a new one for a request without a session.
func (h *HTTPServer) serverOf(r *http.Request) *sdk.Server {
	c, ok := r.Context().Value(callerKey{}).(*caller)
	if !ok || r.Header.Get(sessionHeader) != "" {
		return h.unused
	}
	if c.server == nil {
		c.server = newServer(h.options, c.token, nil)
	}
	return c.server.sdk
}

const sessionHeader = "Mcp-Session-Id"

// serveSession passes a request on, and keeps account of a session that it creates.
func (h *HTTPServer) serveSession(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.Header.Get(sessionHeader) != "" {
		h.handler.ServeHTTP(w, r)
		return
	}
	h.mu.Lock()
	full := len(h.sessions)+h.starting >= maxSessions
	if !full {
		h.starting++
	}
	h.mu.Unlock()
	if full {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "Too many sessions. End one, or try again later.", http.StatusServiceUnavailable)
		return
	}
	defer h.keepSession(r) // also after a panic
	h.handler.ServeHTTP(w, r)
}

// keepSession keeps account of the session that a request has created, if any.
func (h *HTTPServer) keepSession(r *http.Request) {
	c, _ := r.Context().Value(callerKey{}).(*caller)
	h.mu.Lock()
	h.starting--
	var oldest *httpSession
	if c.server != nil {
		for session := range c.server.sdk.Sessions() {
			oldest = h.add(&httpSession{user: userOf(c.token), session: session})
		}
	}
	h.mu.Unlock()
	if oldest != nil {
		_ = oldest.session.Close()
	}
}

// add keeps a session until it ends, and returns the session that has to end for it, if any. The caller holds the lock.
func (h *HTTPServer) add(s *httpSession) (oldest *httpSession) {
	count := 0
	for _, other := range slices.Backward(h.sessions) {
		if other.user == s.user {
			count++
			oldest = other
		}
	}
	if count < maxAgentSessions {
		oldest = nil
	}
	h.sessions = append(h.sessions, s)
	go func() {
		_ = s.session.Wait() // until the client, the timeout or the end of the server closes it
		h.mu.Lock()
		defer h.mu.Unlock()
		h.sessions = slices.DeleteFunc(h.sessions, func(other *httpSession) bool { return other == s })
	}()
	return oldest
}
