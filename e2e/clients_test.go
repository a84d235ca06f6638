package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"causeway/e2e/kit"
)

// storyInput is what the story of a client is given: a platform with a customer and accounts, and a webhook that it received.
type storyInput struct {
	BaseURL      string       `json:"baseUrl"`
	BreakingURL  string       `json:"breakingUrl"` // loses the first response to POST /transfer-out
	ClientID     string       `json:"clientId"`
	ClientSecret string       `json:"clientSecret"`
	Customer     string       `json:"customer"`
	Source       string       `json:"source"` // dollars of the customer
	Bank         string       `json:"bank"`
	Wallet       string       `json:"wallet"`
	Webhook      storyWebhook `json:"webhook"`
}

// storyWebhook is a delivery with all signatures. It was received just now.
type storyWebhook struct {
	Headers map[string]string `json:"headers"` // names in lower case
	Body    []byte            `json:"body"`
	Secret  string            `json:"secret"`
}

// storyOutput is what a story prints.
type storyOutput struct {
	Customers                                           []string
	QuoteID, Rate, TransactionID, TransferID, WebhookID string
	Error                                               struct {
		Status          int
		Code, RequestID string
		Fields          []string
	}
}

// testClient runs the story of a client, and checks what it did: it has listed three customers, made a payment, made one
// transfer although the response was lost, read an error, and verified a webhook. It refuses changed webhooks itself.
func testClient(t *testing.T, newCommand func(input string) kit.Command) {
	t.Helper()
	h := newTestEnv(t)
	h.patch("/config", object{"webhookSignatures": []string{"HMAC_SHA256", "ECDSA_P256_SHA256", "ED25519"}}).wantStatus(200)
	received := h.startReceiver().awaitDelivery("the TEST event", func(d delivery) bool { return d.event == "TEST" })
	customer := h.createCustomer()
	breaking := newBreakingProxy(t, h.server.rootURL(), "/transfer-out")
	given := storyInput{BaseURL: h.BaseURL, BreakingURL: strings.Replace(h.BaseURL, h.server.rootURL(), breaking.URL, 1), ClientID: h.ClientID,
		ClientSecret: h.ClientSecret, Customer: customer, Source: h.fundedAccount(customer), Bank: h.createBankAccount(customer),
		Wallet:  h.createWallet(customer, ""),
		Webhook: storyWebhook{Headers: map[string]string{}, Body: received.body, Secret: h.webhookSecret}}
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature", "service-webhook-signature"} {
		given.Webhook.Headers[name] = received.header.Get(name)
	}
	input, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}

	ran, err := kit.MustSucceed(waitContext(t), newCommand(string(input)))
	if err != nil {
		t.Fatal(err)
	}

	var got storyOutput
	if err := json.Unmarshal([]byte(ran.Output), &got); err != nil {
		t.Fatalf("%v: %s", err, ran.Output)
	}
	if want := []string{"Ana Lima", "Mia Lind", "Ada Lovelace"}; !slices.Equal(got.Customers, want) {
		t.Errorf("the client listed the customers %q, want %q", got.Customers, want)
	}
	var quote struct{ ExchangeRate json.Number }
	err = json.Unmarshal(h.get("/quotes/"+got.QuoteID).wantStatus(200).body, &quote)
	if err != nil || got.Rate != quote.ExchangeRate.String() {
		t.Errorf("%v: the client has the rate %s, want %s", err, got.Rate, quote.ExchangeRate)
	}
	eventually(t, "the payment of the client", func() bool {
		return h.get("/transactions/"+got.TransactionID).text("status") == "COMPLETED"
	})
	keys := breaking.keys()
	if transfers := h.get("/transactions?accountIdentifier=" + given.Bank).wantStatus(200).list("data"); len(transfers) != 1 ||
		h.get("/transactions/"+got.TransferID).wantStatus(200).int("sentAmount.amount") != 1000 || len(keys) != 2 || keys[0] == "" ||
		keys[0] != keys[1] {
		t.Errorf("the client made %d transfers, with the keys %q", len(transfers), keys)
	}
	if got.Error.Status != 400 || got.Error.Code != "INVALID_INPUT" || got.Error.RequestID == "" || !slices.Contains(got.Error.Fields,
		"accountInfo") {
		t.Errorf("the client read the error %+v", got.Error)
	}
	if got.WebhookID != received.id {
		t.Errorf("the client read the webhook %s, want %s", got.WebhookID, received.id)
	}
}

// breakingProxy forwards requests. It closes the connection of the first one whose path has an ending when the service has
// carried it out, and returns no response.
type breakingProxy struct {
	*httptest.Server

	mu      sync.Mutex
	sent    []string // idempotency keys of these requests
	service *httputil.ReverseProxy
}

func newBreakingProxy(t *testing.T, service, ending string) *breakingProxy {
	t.Helper()
	target, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	p := &breakingProxy{service: httputil.NewSingleHostReverseProxy(target)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ending) && p.count(r) == 1 {
			p.service.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		p.service.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// count records a request, and returns its number.
func (p *breakingProxy) count(r *http.Request) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, r.Header.Get("Idempotency-Key"))
	return len(p.sent)
}

func (p *breakingProxy) keys() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

func TestClients_TypeScript(t *testing.T) {
	t.Parallel()
	// The client in TypeScript does what its story says, in Node.js.
	testClient(t, func(input string) kit.Command {
		return clientProgram(t, "typescript", []string{"GIVEN=" + input}, "node", "build/story.js")
	})
}

func TestClients_Go(t *testing.T) {
	t.Parallel()
	// The client in Go does what its story says.
	testClient(t, func(input string) kit.Command {
		return clientProgram(t, "go", []string{"GIVEN=" + input}, "go", "run", "./internal/story")
	})
}

func TestClients_Python(t *testing.T) {
	t.Parallel()
	// The client in Python does what its story says.
	testClient(t, func(input string) kit.Command {
		return clientProgram(t, "python", []string{"GIVEN=" + input, "PYTHONPATH=src"}, python, "tests/story.py")
	})
}

// python is that for which .ci/need installs the packages.
const python = "/usr/bin/python3"

func TestClients_GeneratedGoIsCurrent(t *testing.T) {
	t.Parallel()
	// The committed package api is what the generator makes of the description.
	dir := t.TempDir()
	description, generated := filepath.Join(dir, "openapi.json"), filepath.Join(dir, "api.gen.go")
	if err := os.WriteFile(description, []byte(mustRunCommand(t, nil, "openapi")), 0o600); err != nil {
		t.Fatal(err)
	}
	generator := strings.TrimSpace(run(t, "..", "go", "tool", "-modfile=tools.mod", "-n", "oapi-codegen"))
	run(t, "../clients/go", generator, "-config", "api/config.yaml", "-o", generated, description)
	want, err := os.ReadFile(generated)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("../clients/go/api/api.gen.go"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("clients/go/api/api.gen.go is not current: run make clients, and commit it (%v)", err)
	}
}

func TestClients_DocumentIsRight(t *testing.T) {
	t.Parallel()
	// In an empty folder, the commands of docs/clients.md install each client from the repository, and its example there makes the
	// payment.
	document, err := os.ReadFile("../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(t *testing.T, mark, containing string) string {
		t.Helper()
		var found []string
		for _, fenced := range regexp.MustCompile("(?s)\n```"+mark+"\n(.*?)```").FindAllSubmatch(document, -1) {
			if strings.Contains(string(fenced[1]), containing) {
				found = append(found, string(fenced[1]))
			}
		}
		if len(found) != 1 {
			t.Fatalf("%d blocks %s with %q, want 1", len(found), mark, containing)
		}
		return found[0]
	}
	h := newSharedEnv(t)
	customer := h.createCustomer()
	repository, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("../clients/openapi.json"); err != nil {
		t.Fatal("the clients are not generated; generate them with make clients")
	}
	env := append(os.Environ(), "CAUSEWAY="+repository, "BASE="+h.BaseURL, "CLIENT_ID="+h.ClientID, "CLIENT_SECRET="+h.ClientSecret,
		"SOURCE="+h.fundedAccount(customer), "WALLET="+h.createWallet(customer, ""),
		// The tests have all packages, and need no registry for those of Python.
		"PIP_NO_INDEX=1", "PIP_NO_BUILD_ISOLATION=0", "npm_config_prefer_offline=true", "npm_config_audit=false")
	for _, example := range []struct{ mark, installs, file, prepare, run string }{
		{"js", "npm install", "example.mjs", "npm init --yes", "node example.mjs"},
		{"go", "go mod edit", "main.go", "go mod init example.com/app", "go run ."},
		{"python", "pip install", "example.py", ":", ".venv/bin/python example.py"},
	} {
		t.Run(example.mark, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, example.file), []byte(block(t, example.mark, "CLIENT_ID")), 0o600); err != nil {
				t.Fatal(err)
			}
			install := strings.Replace(block(t, "console", example.installs), "python3 -m venv", python+" -m venv --system-site-packages", 1)
			command := exec.CommandContext(waitContext(t), "bash", "-euo", "pipefail", "-c",
				"{ "+example.prepare+"\n"+install+"} >installed.log 2>&1 || { cat installed.log; exit 1; }\n"+example.run)
			command.Dir, command.Env = folder, env
			output, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			_, id, _ := strings.Cut(strings.TrimSpace(string(output)), "COMPLETED ")
			got := h.get("/transactions/" + id).wantStatus(200)
			if got.int("sentAmount.amount") != 2500 || !strings.HasPrefix(string(output), customer) {
				t.Errorf("the example printed %s, and paid %s", output, got.body)
			}
		})
	}
}

// writeExample writes the source of an example into a folder below the client, where it finds it, until the test ends.
func writeExample(t *testing.T, folder, name, source string) (path string) {
	t.Helper()
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(folder, "example")
	if err != nil {
		t.Fatalf("%v; generate the clients with make clients", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// clientProgram is a program that runs in the folder of a client.
func clientProgram(t *testing.T, client string, env []string, name string, args ...string) kit.Command {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("../clients", client))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("../clients/openapi.json"); err != nil {
		t.Fatal("the clients are not generated; generate them with make clients")
	}
	program, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return kit.Command{Program: program, Args: args, Dir: folder, Env: env}
}

func TestGettingStarted_InEachLanguage(t *testing.T) {
	t.Parallel()
	// The first payment of docs/getting-started.md is made by the program that the guide shows in each language.
	document, err := os.ReadFile("../docs/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	h := newSharedEnv(t)
	env := []string{"BASE=" + h.BaseURL, "CLIENT_ID=" + h.ClientID, "CLIENT_SECRET=" + h.ClientSecret}
	for mark, program := range map[string]func(t *testing.T, source string) kit.Command{
		"js": func(t *testing.T, source string) kit.Command {
			path := writeExample(t, "../clients/typescript/build", "example.mjs", source)
			return clientProgram(t, "typescript", env, "node", path)
		},
		"python": func(t *testing.T, source string) kit.Command {
			path := writeExample(t, t.TempDir(), "example.py", source)
			return clientProgram(t, "python", append(env, "PYTHONPATH=src"), python, path)
		},
		"go": func(t *testing.T, source string) kit.Command {
			path := writeExample(t, "../clients/go/internal", "main.go", source)
			return clientProgram(t, "go", env, "go", "run", path)
		},
	} {
		t.Run(mark, func(t *testing.T) {
			t.Parallel()
			_, source, _ := strings.Cut(string(document), "\n### First payment in TypeScript\n")
			_, source, _ = strings.Cut(source, "\n```"+mark+"\n")
			source, _, found := strings.Cut(source, "```\n")
			if !found {
				t.Fatalf("the guide has no program in %s", mark)
			}
			out, err := kit.MustSucceed(waitContext(t), program(t, source))
			if err != nil {
				t.Fatal(err)
			}
			_, id, _ := strings.Cut(strings.TrimSpace(out.Output), "COMPLETED ")
			paid := h.get("/transactions/" + id).wantStatus(200)
			if paid.int("receivedAmount.amount") != 25000 || paid.text("receivedAmount.currency.code") != "USD" {
				t.Errorf("the program printed %s, and paid %s", out.Output, paid.body)
			}
		})
	}
}
