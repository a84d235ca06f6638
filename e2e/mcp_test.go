package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"causeway/e2e/kit"
)

// newAgent creates an agent that may do everything, and returns its id and device code.
func (h *testEnv) newAgent(customer string) (id, code string) {
	h.t.Helper()
	created := h.post("/agents", agentBody(customer, object{"policy": object{
		"permissions":          allAgentPermissions,
		"defaultExecutionMode": "AUTO", "spendingLimits": object{"currency": "USD", "perTransactionLimit": 50_00, "dailyLimit": 200_00},
	}})).wantStatus(201)
	return created.text("agent.id"), created.text("deviceCode.code")
}

// accessToken redeems the device code of a new agent.
func (h *testEnv) accessToken(customer string) string {
	h.t.Helper()
	_, code := h.newAgent(customer)
	return h.anonymous().post("/agents/device-codes/"+code+"/redeem", nil).wantStatus(200).text("accessToken")
}

func TestMCP_NodeClientPaysUnderItsPolicy(t *testing.T) {
	t.Parallel()
	// The client library of the protocol from npm pairs, previews, meets each limit, waits for approval, pays once
	// although it repeats itself, is paused, and is deleted while it pays.
	h := newTestEnv(t)
	story, err := kit.MustSucceed(waitContext(t), nodeProgram(t, []string{
		"BASE_URL=" + h.BaseURL, "CLIENT_ID=" + h.ClientID, "CLIENT_SECRET=" + h.ClientSecret,
		"CAUSEWAY=" + binary, "TOKEN_FILE=" + filepath.Join(t.TempDir(), "paired", "tokens.json"),
	}, "mcp.mjs"))
	if err != nil {
		t.Fatal(err)
	}

	var got struct{ Paid, Outputs int }
	if err := json.Unmarshal([]byte(story.Output), &got); err != nil || got.Paid < 3 || got.Outputs < 50 {
		t.Errorf("%v: %s", err, story.Output)
	}
}

func TestMCP_InspectorListsAndCallsTools(t *testing.T) {
	t.Parallel()
	// The inspector of the protocol, in its command-line mode, lists the tools and calls one, over both transports.
	h := newTestEnv(t)
	token := h.accessToken(h.createCustomer())
	address := startMCP(t, h)
	inspect := func(transport []string, args ...string) string {
		t.Helper()
		inspector := nodeProgram(t, []string{"CAUSEWAY_URL=" + h.BaseURL, "CAUSEWAY_AGENT_TOKEN=" + token},
			slices.Concat([]string{"cli.js", "--cli"}, transport, args)...)
		inspector.Dir = filepath.Join(inspector.Dir, "node_modules/@modelcontextprotocol/inspector-cli/build") // it reads ../package.json
		got, err := kit.MustSucceed(waitContext(t), inspector)
		if err != nil {
			t.Fatal(err)
		}
		return got.Output
	}
	stdio := []string{binary, "mcp"}
	overHTTP := []string{address, "--transport", "http", "--header", "Authorization: Bearer " + token}
	for _, transport := range [][]string{stdio, overHTTP} {
		var list struct {
			Tools []struct {
				Name        string
				InputSchema struct{ Type string }
			}
		}
		if err := json.Unmarshal([]byte(inspect(transport, "--method", "tools/list")), &list); err != nil || len(list.Tools) != 18 ||
			list.Tools[0].InputSchema.Type != "object" {
			t.Errorf("%v: %+v", err, list)
		}
		var result mcp.CallToolResult
		if err := json.Unmarshal([]byte(inspect(transport, "--method", "tools/call", "--tool-name", "get_agent")), &result); err != nil ||
			result.IsError ||
			!strings.Contains(toolText(&result), "$200.00 left today") {
			t.Errorf("%v: %+v", err, result)
		}
	}
}

func TestMCP_GoClientPaysOnceOverBothTransports(t *testing.T) {
	t.Parallel()
	// The command pair keeps the token in a file of its owner alone, with which the program pays. It writes nothing but
	// messages of the protocol, and ends with its client. Over HTTP the same intent is the same payment.
	h := newTestEnv(t)
	customer := h.createCustomer()
	account := h.get("/customers/internal-accounts?currency=USD&customerId=" + customer).wantStatus(200).text("data.0.id")
	h.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100_00}).wantStatus(200)
	bank := h.createBankAccount(customer)
	id, code := h.newAgent(customer)
	file := filepath.Join(t.TempDir(), "tokens.json")
	paired := mustRunCommand(t, []string{"CAUSEWAY_URL=" + h.BaseURL}, "mcp", "pair", code, "--token-file", file)
	if want := "Paired with " + id + ". Its access token is in " + file + ".\n"; paired != want {
		t.Errorf("pair printed %q, want %q", paired, want)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	_, failure, status := runCommand(t, []string{"CAUSEWAY_URL=" + h.BaseURL}, "mcp", "pair", code, "--token-file", file)
	if status != 1 || !strings.Contains(failure, "DEVICE_CODE_ALREADY_REDEEMED") {
		t.Errorf("status %d: %s", status, failure)
	}

	command := exec.Command(binary, "mcp", "--token-file", file)
	command.Env = append(kit.CleanEnv(), "CAUSEWAY_URL="+h.BaseURL)
	var log strings.Builder
	command.Stderr = &log
	transfer := map[string]any{"source": object{"accountId": account}, "destination": object{"accountId": bank}, "amount": 10_00,
		"intent": "the bicycle"}
	transactions := map[string]bool{}
	for _, transport := range []mcp.Transport{
		&mcp.CommandTransport{Command: command},
		&mcp.StreamableClientTransport{Endpoint: startMCP(t, h), HTTPClient: &http.Client{Transport: bearer(storedToken(t, file))}},
	} {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, nil).Connect(waitContext(t), transport, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := session.CallTool(waitContext(t), &mcp.CallToolParams{Name: "transfer_out", Arguments: transfer})
			if err != nil || got.IsError {
				t.Fatalf("%v: %+v", err, got)
			}
			transactions[regexp.MustCompile(`Transaction:[0-9a-f-]{36}`).FindString(toolText(got))] = true
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}

	list := h.get("/transactions?type=OUTGOING&customerId=" + customer).wantStatus(200)
	if len(transactions) != 1 || !transactions[list.text("data.0.id")] || list.text("data.1.id") != "" {
		t.Errorf("transactions %v; the platform has %s", transactions, list.body)
	}
	if !strings.Contains(log.String(), "tool=transfer_out") || strings.Contains(log.String(), "agt_") ||
		strings.Contains(log.String(), "bicycle") {
		t.Errorf("log:\n%s", log.String())
	}
}

func TestMCP_WrongSettingsAreNamed(t *testing.T) {
	t.Parallel()
	// A wrong setting is named, without a token that it has.
	const token = "agt_0123456789abcdef0123456789abcdef"
	url := "CAUSEWAY_URL=http://127.0.0.1:1/2025-10-13"
	for name, c := range map[string]struct {
		env, args []string
		want      string
	}{
		"url":            {[]string{"CAUSEWAY_URL=localhost"}, nil, "CAUSEWAY_URL"},
		"token":          {[]string{url, "CAUSEWAY_AGENT_TOKEN=x" + token}, nil, "CAUSEWAY_AGENT_TOKEN"},
		"token and http": {[]string{url, "CAUSEWAY_AGENT_TOKEN=" + token}, []string{"--listen", "127.0.0.1:0"}, "unset --agent-token"},
		"origin":         {[]string{url}, []string{"--listen", "127.0.0.1:0", "--allowed-origin", "example"}, "--allowed-origin"},
		"origin alone":   {[]string{url}, []string{"--allowed-origin", "https://example.com"}, "needs --listen"},
	} {
		out, errOut, status := runCommand(t, c.env, append([]string{"mcp"}, c.args...)...)
		if status == 0 || out != "" || !strings.Contains(errOut, c.want) || strings.Contains(errOut, "0123456789") {
			t.Errorf("%s: status %d, %q, %q", name, status, out, errOut)
		}
	}
}

// storedToken returns the access token in a file of tokens.
func storedToken(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`agt_[0-9a-f]+`).FindString(string(text))
}

// bearer sends an access token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// startMCP starts a server over HTTP, and returns its endpoint.
func startMCP(t *testing.T, h *testEnv) string {
	t.Helper()
	p := startProcess(t, []string{"CAUSEWAY_URL=" + h.BaseURL}, "mcp", "--listen", "127.0.0.1:0")
	return regexp.MustCompile(`http://[^ ]+`).FindString(p.awaitLine("address="))
}

// toolText returns the text of a result.
func toolText(result *mcp.CallToolResult) string {
	text := ""
	for _, content := range result.Content {
		if content, ok := content.(*mcp.TextContent); ok {
			text += content.Text
		}
	}
	return text
}
