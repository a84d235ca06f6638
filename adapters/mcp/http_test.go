package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// httpServer is a server over HTTP in front of a fake service.
type httpServer struct {
	t    *testing.T
	url  string
	stop func() error
	*HTTPServer
}

func newTestHTTPServer(t *testing.T, f *fakeService, origins ...string) *httpServer {
	t.Helper()
	return serveHTTP(t, f, origins, time.Minute)
}

func serveHTTP(t *testing.T, f *fakeService, origins []string, sessionTimeout time.Duration) *httpServer {
	t.Helper()
	server, err := newHTTPServer(Options{Client: f.client(t), Version: "test", Log: slog.New(slog.DiscardHandler)}, origins, sessionTimeout)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	stop := func() error { cancel(); err := <-ended; ended <- nil; return err }
	t.Cleanup(func() { _ = stop() })
	return &httpServer{t: t, url: "http://" + listener.Addr().String() + Path, stop: stop, HTTPServer: server}
}

// headers sends headers with each request.
type headers map[string]string

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (s *httpServer) connect(token string) (*model, error) {
	m := &model{t: s.t, changed: make(chan struct{}, 100)}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { m.changed <- struct{}{} },
	})
	session, err := client.Connect(s.t.Context(), &sdk.StreamableClientTransport{Endpoint: s.url,
		HTTPClient: &http.Client{Transport: headers{"Authorization": "Bearer " + token}}}, nil)
	m.session = session
	return m, err
}

func (s *httpServer) mustConnect(token string) *model {
	s.t.Helper()
	m, err := s.connect(token)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = m.session.Close() })
	return m
}

// send sends a message without the library.
func (s *httpServer) send(method, body string, h headers) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+agentToken)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range h {
		if name == "Host" {
			r.Host = value
		} else if value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Set(name, value)
		}
	}
	got, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = got.Body.Close() })
	return got
}

const initialize = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}`

func TestHTTP_EachClientIsItsAgent(t *testing.T) {
	t.Parallel()
	// A client sends the token of its agent, gets its limits and tools, and is notified of changes.
	f := newFakeService(t)
	s := newTestHTTPServer(t, f)
	m := s.mustConnect(agentToken)
	contains(t, m.session.InitializeResult().Instructions, "$150.00 left today")
	f.respond("POST /agents/me/transfer-out", 201, action("APPROVED"))

	summary, _ := m.mustCall("transfer_out", transferArguments("rent", 10_00))
	contains(t, summary, "It has started")
	f.policy("permissions", []string{viewTransactions})
	m.mustCall("get_agent", nil)

	select {
	case <-m.changed:
	case <-time.After(waitTimeout):
		t.Error("the client was not notified")
	}
	if m.names()["transfer_out"] {
		t.Error("transfer_out is still listed")
	}
	f.change(func() { f.deleted = true })
	if _, err := m.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "get_agent"}); err == nil {
		t.Error("a deleted agent can call")
	}
}

func TestHTTP_UnknownTokensAreRefused(t *testing.T) {
	t.Parallel()
	// Without a token that the service accepts, the response is 401 with a challenge.
	f := newFakeService(t)
	s := newTestHTTPServer(t, f)
	other := strings.Replace(agentToken, "0", "f", 1)
	for name, authorization := range map[string]string{"none": "", "basic": "Basic YTpi", "another form": "Bearer abc",
		"unknown": "Bearer " + other} {
		got := s.send("POST", initialize, headers{"Authorization": authorization})
		if challenge := got.Header.Get("WWW-Authenticate"); got.StatusCode != 401 || !strings.HasPrefix(challenge, `Bearer realm="causeway"`) ||
			strings.Contains(challenge, "invalid_token") != (name != "none") || got.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %d, %q", name, got.StatusCode, challenge)
		}
	}
	if _, err := s.connect(other); err == nil {
		t.Error("connected with an unknown token")
	}
	f.Close()
	if got := s.send("POST", initialize, nil); got.StatusCode != 503 || got.Header.Get("Retry-After") == "" {
		t.Errorf("without the service: %d", got.StatusCode)
	}
}

func TestHTTP_SessionBelongsToItsToken(t *testing.T) {
	t.Parallel()
	// Another token cannot use the session of an agent.
	f := newFakeService(t)
	s := newTestHTTPServer(t, f)
	started := s.send("POST", initialize, nil)
	session := started.Header.Get("Mcp-Session-Id")
	if started.StatusCode != 200 || session == "" {
		t.Fatalf("status %d, session %q", started.StatusCode, session)
	}
	list := `{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}`

	if got := s.send("POST", list, headers{"Mcp-Session-Id": session}); got.StatusCode != 200 {
		t.Errorf("own session: %d", got.StatusCode)
	}
	other := "cwa_" + strings.TrimPrefix(agentToken, "agt_")
	f.Config.Handler = withToken(f, other)
	if got := s.send("POST", list, headers{"Mcp-Session-Id": session, "Authorization": "Bearer " + other}); got.StatusCode != 403 {
		t.Errorf("the session of another token: %d", got.StatusCode)
	}
	if got := s.send("POST", list, headers{"Mcp-Session-Id": "unknown"}); got.StatusCode != 404 {
		t.Errorf("unknown session: %d", got.StatusCode)
	}
	if got := s.send("DELETE", "", headers{"Mcp-Session-Id": session}); got.StatusCode != 204 {
		t.Errorf("end: %d", got.StatusCode)
	}
	if got := s.send("POST", list, headers{"Mcp-Session-Id": session}); got.StatusCode != 404 {
		t.Errorf("ended session: %d", got.StatusCode)
	}
}

// withToken accepts another token than that of the agent.
func withToken(f *fakeService, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+token {
			r.Header.Set("Authorization", "Bearer "+agentToken)
		}
		f.serve(w, r)
	})
}

func TestHTTP_ForeignPagesAreRefused(t *testing.T) {
	t.Parallel()
	// Pages of other origins, and names that only resolve to this machine, are refused before the token is used.
	f := newFakeService(t)
	s := newTestHTTPServer(t, f, "https://app.example.com")
	for name, c := range map[string]struct {
		headers headers
		status  int
	}{
		"no origin":            {nil, 200},
		"allowed origin":       {headers{"Origin": "https://app.example.com"}, 200},
		"another origin":       {headers{"Origin": "https://evil.example"}, 403},
		"another port":         {headers{"Origin": "https://app.example.com:444"}, 403},
		"null origin":          {headers{"Origin": "null"}, 403},
		"rebound name":         {headers{"Host": "evil.example:8090"}, 403},
		"rebound name, origin": {headers{"Host": "evil.example", "Origin": "http://evil.example"}, 403},
		"behind a proxy":       {headers{"Host": "app.example.com"}, 200},
		"localhost":            {headers{"Host": "localhost:8090"}, 200},
		"address":              {headers{"Host": "[::1]:8090"}, 200},
	} {
		got := s.send("POST", initialize, c.headers)
		if got.StatusCode != c.status {
			t.Errorf("%s: %d", name, got.StatusCode)
		}
		if allowed := got.Header.Get("Access-Control-Allow-Origin"); allowed != "" && (c.status != 200 || allowed != c.headers["Origin"]) {
			t.Errorf("%s: allows %s", name, allowed)
		}
	}
	preflight := s.send("OPTIONS", "", headers{"Origin": "https://app.example.com", "Authorization": "",
		"Access-Control-Request-Method": "POST"})
	if preflight.StatusCode != 204 || !strings.Contains(preflight.Header.Get("Access-Control-Allow-Headers"), "Mcp-Session-Id") {
		t.Errorf("preflight: %d %v", preflight.StatusCode, preflight.Header)
	}
	for _, origin := range []string{"app.example.com", "https://app.example.com/path", "*", "ftp://x"} {
		if _, err := NewHTTPServer(Options{Client: f.client(t), Log: slog.New(slog.DiscardHandler)}, []string{origin}); err == nil {
			t.Errorf("%s was accepted", origin)
		}
	}
}

func TestHTTP_RequestsAndSessionsAreBounded(t *testing.T) {
	t.Parallel()
	// Large bodies, and more sessions than there may be, are refused; an agent's oldest session ends for a new one.
	f := newFakeService(t)
	s := newTestHTTPServer(t, f)
	if got := s.send("POST", `{"x": "`+strings.Repeat("x", maxMessage)+`"}`, nil); got.StatusCode != 413 {
		t.Errorf("a large body: %d", got.StatusCode)
	}
	if got := s.send("POST", `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`, nil); got.StatusCode >= 500 || s.count() != 0 {
		t.Errorf("a list without a session: %d, %d sessions", got.StatusCode, s.count())
	}
	var sessions []string
	for range maxAgentSessions + 2 {
		sessions = append(sessions, s.send("POST", initialize, nil).Header.Get("Mcp-Session-Id"))
	}
	for deadline := time.Now().Add(waitTimeout); s.count() != maxAgentSessions; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions", s.count())
		}
	}
	ping := `{"jsonrpc": "2.0", "id": 3, "method": "ping"}`
	for i, want := range map[int]int{0: 404, 1: 404, 2: 200, len(sessions) - 1: 200} {
		if got := s.send("POST", ping, headers{"Mcp-Session-Id": sessions[i]}); got.StatusCode != want {
			t.Errorf("session %d: %d, want %d", i, got.StatusCode, want)
		}
	}

	s.HTTPServer.mu.Lock()
	s.HTTPServer.starting = maxSessions
	s.HTTPServer.mu.Unlock()
	if got := s.send("POST", initialize, nil); got.StatusCode != 503 {
		t.Errorf("too many sessions: %d", got.StatusCode)
	}
	for range maxInFlight {
		s.slots <- struct{}{}
	}
	if got := s.send("POST", ping, headers{"Mcp-Session-Id": sessions[2]}); got.StatusCode != 503 {
		t.Errorf("too many requests: %d", got.StatusCode)
	}
	for range maxInFlight {
		<-s.slots
	}
}

func TestHTTP_AgentLeavesPlacesToOthers(t *testing.T) {
	t.Parallel()
	// An agent whose bodies arrive slowly takes some of the places, and no more.
	s := newTestHTTPServer(t, newFakeService(t))
	for i := range maxAgentInFlight + 1 {
		connection, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), Path))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		_ = connection.SetDeadline(time.Now().Add(waitTimeout))
		fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: "+
			"application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", Path, agentToken)
		want := "HTTP/1.1 100" // the server waits for the body
		if i == maxAgentInFlight {
			want = "HTTP/1.1 429"
		}
		if line, err := bufio.NewReader(connection).ReadString('\n'); err != nil || !strings.HasPrefix(line, want) {
			t.Fatalf("request %d: %q, %v, want %s", i, line, err, want)
		}
	}
}

func TestHTTP_UnknownCallerIsRefusedBeforeItsBody(t *testing.T) {
	t.Parallel()
	// Who has no token gets 401 before the body arrives, and so cannot take places with bodies that arrive slowly.
	s := newTestHTTPServer(t, newFakeService(t))
	connection, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), Path))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(waitTimeout))
	fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: "+
		"100-continue\r\n\r\n", Path)

	line, err := bufio.NewReader(connection).ReadString('\n')

	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 401") {
		t.Errorf("%q, %v", line, err)
	}
}

func TestHTTP_IdleSessionEnds(t *testing.T) {
	t.Parallel()
	// A session without requests ends by itself.
	s := serveHTTP(t, newFakeService(t), nil, 50*time.Millisecond)
	session := s.send("POST", initialize, nil).Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatal("no session")
	}

	for deadline := time.Now().Add(waitTimeout); s.count() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the session does not end")
		}
	}

	if got := s.send("POST", `{"jsonrpc": "2.0", "id": 3, "method": "ping"}`, headers{"Mcp-Session-Id": session}); got.StatusCode != 404 {
		t.Errorf("status %d", got.StatusCode)
	}
}

func (s *httpServer) count() int {
	s.HTTPServer.mu.Lock()
	defer s.HTTPServer.mu.Unlock()
	return len(s.HTTPServer.sessions)
}

func TestHTTP_StopFinishesCalls(t *testing.T) {
	t.Parallel()
	// A call that is running when the server is asked to stop gets its answer; streams end.
	f := newFakeService(t)
	arrived, proceed := make(chan struct{}), make(chan struct{})
	f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			close(arrived)
			<-proceed
		}
		f.serve(w, r)
	})
	f.respond("POST /agents/me/transfer-out", 201, action("APPROVED"))
	s := newTestHTTPServer(t, f)
	m := s.mustConnect(agentToken) // has a stream of notifications
	answer := make(chan error, 1)
	go func() {
		got, err := m.session.CallTool(context.Background(), &sdk.CallToolParams{Name: "transfer_out",
			Arguments: transferArguments("rent", 10_00)})
		if err == nil && got.IsError {
			err = fmt.Errorf("refused: %v", got.Content[0])
		}
		answer <- err
	}()
	<-arrived
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	for { // until new requests are refused
		s.HTTPServer.mu.Lock()
		draining := s.draining
		s.HTTPServer.mu.Unlock()
		if draining {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if got := s.send("POST", initialize, nil); got.StatusCode != 503 {
		body, _ := io.ReadAll(got.Body)
		t.Errorf("while stopping: %d %s", got.StatusCode, body)
	}

	close(proceed)

	if err := <-answer; err != nil {
		t.Error(err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
