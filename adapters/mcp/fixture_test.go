package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// waitTimeout ends a test that waits for what does not happen.
const waitTimeout = 3 * time.Minute

const (
	agentToken = "agt_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	testAgent  = "Agent:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e01"
	testQuote  = "Quote:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e02"
	testAction = "AgentAction:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e03"
	walletID   = "InternalAccount:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e04"
	bankID     = "ExternalAccount:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e05"
)

var allPermissions = []string{viewTransactions, createTransfers, createQuotes, executeQuotes, manageAccounts}

// fakeService answers as the service does to one agent, with responses that the test sets.
type fakeService struct {
	*httptest.Server
	mu        sync.Mutex
	agent     map[string]any
	deleted   bool
	failures  int                     // authentications that failed before
	responses map[string]fakeResponse // by method and path
	calls     []fakeCall              // but those that read the agent
	stored    map[string]fakeStored   // by idempotency key
}

type fakeResponse struct {
	status int
	body   string
}

type fakeCall struct {
	operation, key, signature, query string
	body                             map[string]any
}

type fakeStored struct {
	request  string
	response fakeResponse
}

func newFakeService(t *testing.T) *fakeService {
	t.Helper()
	f := &fakeService{responses: map[string]fakeResponse{}, stored: map[string]fakeStored{}}
	f.agent = map[string]any{
		"id": testAgent, "name": "Assistant", "isPaused": false,
		"policy": map[string]any{
			"permissions": allPermissions, "defaultExecutionMode": "AUTO",
			"spendingLimits":      map[string]any{"currency": "USD", "perTransactionLimit": 50_00, "dailyLimit": 200_00},
			"accountRestrictions": map[string]any{"accountRules": []any{}},
			"approvalThresholds":  map[string]any{"currency": "USD", "amount": 20_00},
		},
		"usage": map[string]any{"dailyTransactionCount": 2, "dailySpend": 50_00, "monthlySpend": 50_00},
	}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

// change changes what the service does while a test runs.
func (f *fakeService) change(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// policy changes a field of the policy.
func (f *fakeService) policy(name string, value any) {
	f.change(func() { f.agent["policy"].(map[string]any)[name] = value })
}

func (f *fakeService) respond(operation string, status int, body string) {
	f.change(func() { f.responses[operation] = fakeResponse{status, body} })
}

func (f *fakeService) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	operation := r.Method + " " + r.URL.Path
	body, _ := io.ReadAll(r.Body)
	redeems := strings.HasSuffix(operation, "/redeem")
	if !redeems && (f.deleted || r.Header.Get("Authorization") != "Bearer "+agentToken) {
		if f.failures > 10 {
			w.WriteHeader(429)
			fmt.Fprint(
				w, `{"status": 429, "code": "RATE_LIMITED", "message": "Too many requests with invalid credentials.", "reason": "Too many failed authentications"}`)
			return
		}
		w.WriteHeader(401)
		fmt.Fprint(w, `{"status": 401, "code": "UNAUTHORIZED", "message": "The access token is not valid."}`)
		return
	}
	if operation == "GET /agents/me" {
		_ = json.NewEncoder(w).Encode(f.agent)
		return
	}
	call := fakeCall{operation: operation, key: r.Header.Get("Idempotency-Key"), signature: r.Header.Get("Service-Wallet-Signature"),
		query: r.URL.Query().Encode()}
	_ = json.Unmarshal(body, &call.body)
	f.calls = append(f.calls, call)
	response, found := f.responses[operation]
	if !found {
		response = fakeResponse{404, `{"status": 404, "code": "NOT_FOUND", "message": "No such endpoint"}`}
	}
	if call.key != "" {
		request := operation + string(body)
		switch stored, found := f.stored[call.key]; {
		case found && stored.request != request:
			response = fakeResponse{422, `{"status": 422, "code": "IDEMPOTENCY_KEY_REUSED", "message": "The key was used for another request."}`}
		case found:
			response = stored.response
			w.Header().Set("Idempotent-Replayed", "true")
		case response.status < 500:
			f.stored[call.key] = fakeStored{request, response}
		}
	}
	w.WriteHeader(response.status)
	fmt.Fprint(w, response.body)
}

// received returns the calls of an operation.
func (f *fakeService) received(operation string) []fakeCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	var calls []fakeCall
	for _, call := range f.calls {
		if call.operation == operation {
			calls = append(calls, call)
		}
	}
	return calls
}

func (f *fakeService) client(t *testing.T) *Client {
	t.Helper()
	client, err := NewClient(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

// model is a client of the tools.
type model struct {
	t       *testing.T
	session *sdk.ClientSession
	log     *lockedBuffer
	changed chan struct{} // a notification that the tools have changed
}

// newModel connects a client to a server with the token of the agent.
func newModel(t *testing.T, f *fakeService) *model {
	t.Helper()
	token, err := NewToken(agentToken)
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, f, token, nil)
}

// newUnpairedModel connects a client to a server without a token, and returns the file in which tokens are kept.
func newUnpairedModel(t *testing.T, f *fakeService) (*model, *TokenStore) {
	t.Helper()
	store := &TokenStore{Path: filepath.Join(t.TempDir(), "settings", "tokens.json")}
	return connect(t, f, Token{}, store), store
}

func connect(t *testing.T, f *fakeService, token Token, store *TokenStore) *model {
	t.Helper()
	m := &model{t: t, log: &lockedBuffer{}, changed: make(chan struct{}, 100)}
	options := Options{Client: f.client(t), Version: "test", Log: slog.New(slog.NewTextHandler(m.log, nil))}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- ServeStdio(ctx, options, token, store, fromClient, toClient) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { m.changed <- struct{}{} },
	})
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.session = session
	t.Cleanup(func() {
		_ = session.Close()
		cancel()
		if err := <-ended; err != nil && !strings.Contains(err.Error(), "closed") {
			t.Errorf("the server ended with %v", err)
		}
		if strings.Contains(m.log.text(), "0123456789abcdef") {
			t.Errorf("the log has the access token:\n%s", m.log.text())
		}
	})
	return m
}

// names returns the names of the listed tools.
func (m *model) names() map[string]bool {
	m.t.Helper()
	list, err := m.session.ListTools(m.t.Context(), nil)
	if err != nil {
		m.t.Fatal(err)
	}
	names := map[string]bool{}
	for _, tool := range list.Tools {
		names[tool.Name] = true
	}
	return names
}

// call calls a tool, and returns its text.
func (m *model) call(name string, arguments map[string]any) (text string, isError bool) {
	m.t.Helper()
	got, err := m.session.CallTool(m.t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		m.t.Fatalf("%s: %v", name, err)
	}
	if len(got.Content) != 1 {
		m.t.Fatalf("%s: %d contents", name, len(got.Content))
	}
	text = got.Content[0].(*sdk.TextContent).Text
	if strings.Contains(text, agentToken) {
		m.t.Errorf("%s returns the access token", name)
	}
	return text, got.IsError
}

// mustCall calls a tool that has to succeed, and returns its summary and its data.
func (m *model) mustCall(name string, arguments map[string]any) (summary, data string) {
	m.t.Helper()
	text, isError := m.call(name, arguments)
	if isError {
		m.t.Fatalf("%s failed: %s", name, text)
	}
	return split(m.t, text)
}

// mustFail calls a tool that has to be refused, and returns its text.
func (m *model) mustFail(name string, arguments map[string]any, words ...string) string {
	m.t.Helper()
	text, isError := m.call(name, arguments)
	if !isError {
		m.t.Fatalf("%s succeeded: %s", name, text)
	}
	contains(m.t, text, words...)
	return text
}

func contains(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is not in: %s", word, text)
		}
	}
}

// split returns the summary of a result and the data between its marks.
func split(t *testing.T, text string) (summary, data string) {
	t.Helper()
	before, rest, found := strings.Cut(text, "\n<<<DATA ")
	if !found {
		return text, ""
	}
	mark, rest, _ := strings.Cut(rest, ">>>\n")
	data, after, found := strings.Cut(rest, "\n<<<END "+mark+">>>")
	if !found || after != "" || len(mark) < 20 || !strings.Contains(before, mark) {
		t.Fatalf("the marks are wrong: %s", text)
	}
	if !json.Valid([]byte(data)) {
		t.Errorf("the data is not JSON: %s", data)
	}
	summary, _, _ = strings.Cut(before, "\n\nBelow is what the service returned")
	return summary, data
}
