package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// modulesFolder holds the npm packages that the tests run, and toolsFile has the versions of the tools in Go. make faults sets both to
// the newest releases of what reads the description, so that one that breaks is seen there.
var (
	modulesFolder = cmp.Or(os.Getenv("CAUSEWAY_TEST_MODULES"), "node/node_modules")
	toolsFile     = cmp.Or(os.Getenv("CAUSEWAY_TEST_TOOLS"), "tools.mod")
)

// copyClients copies the programs that use generated clients, with the newest release of what the code of a newest generator imports.
func copyClients(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/clients")); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("CAUSEWAY_TEST_TOOLS") != "" {
		run(t, folder, "go", "get", "github.com/ogen-go/ogen@latest")
	}
	return folder
}

// runNode runs a program of an npm package and returns its output, also when it fails.
func runNode(t *testing.T, folder, name string, args ...string) (string, error) {
	t.Helper()
	program, err := filepath.Abs(filepath.Join(modulesFolder, ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is not installed; install it with make needs-node", name)
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	command.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	var failure strings.Builder
	command.Stderr = &failure
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, failure.String())
	}
	return string(out), err
}

// run runs a program in a folder, which must succeed, and returns its output.
func run(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = folder
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.4000s", command, err, out)
	}
	return string(out)
}

// downloadDescription stores a description that is published at a URL in a file.
func downloadDescription(t *testing.T, folder, url string) string {
	t.Helper()
	status, body := getText(t, url)
	if status != 200 {
		t.Fatalf("GET %s: status %d, want 200: %s", url, status, body)
	}
	path := filepath.Join(folder, "openapi.json")
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenAPICommand_PrintsWhatServersPublish(t *testing.T) {
	t.Parallel()
	// Without a database, the command prints the description of a server with the same URL.
	h := newTestEnv(t)
	_, published := getText(t, h.server.baseURL+"/openapi.json")
	if printed := mustRunCommand(t, nil, "openapi", "--public-url", h.server.rootURL()); printed != published+"\n" {
		t.Errorf("the command prints %d bytes, the server publishes %d", len(printed), len(published))
	}
}

func TestDescription_PassesLinters(t *testing.T) {
	t.Parallel()
	// The recommended rules of Spectral and of Redocly find nothing in the description of the API and in that of the
	// contract of partners, except the pairs of paths that docs/clients.md explains.
	h := newTestEnv(t)
	for name, published := range map[string]struct {
		url     string
		allowed []string
	}{"API": {h.server.baseURL + "/openapi.json", ambiguousPaths}, "partners": {h.server.rootURL() + "/rails/partner/openapi.json", nil}} {
		description := downloadDescription(t, t.TempDir(), published.url)
		t.Run(name, func(t *testing.T) { lintDescription(t, description, published.allowed) })
	}
}

// ambiguousPaths are the second paths of the pairs that Redocly calls ambiguous. No request matches both of a pair: a customer id
// begins with its type and is never "external-accounts", and a day is a date and never "accounts". The contract has the first.
var ambiguousPaths = []string{"/customers/{customerId}/kyc-link", "/customers/{customerId}/statement",
	"/customers/{customerId}/verify-email", "/customers/{customerId}/verify-phone",
	"/ledger/safeguarding/{day}/acknowledge", "/ledger/safeguarding/{day}/run"}

func lintDescription(t *testing.T, description string, ambiguous []string) {
	t.Helper()
	t.Run("Spectral", func(t *testing.T) {
		t.Parallel()
		out, err := runNode(t, "node", "spectral", "lint", "--ruleset", "spectral.yaml", "--format", "json", "--quiet", "--fail-severity",
			"hint", description)
		var found []any
		if decodeErr := json.Unmarshal([]byte(out), &found); err != nil || decodeErr != nil || len(found) > 0 {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("Redocly", func(t *testing.T) {
		t.Parallel()
		out, err := runNode(t, "node", "redocly", "lint", "--config", "redocly.yaml", "--format", "json", description)
		var found struct {
			Totals   struct{ Errors, Warnings int }
			Problems []struct{ RuleID, Message string }
		}
		decodeErr := json.Unmarshal([]byte(out), &found)
		var paths []string
		for _, problem := range found.Problems {
			_, path, _ := strings.Cut(problem.Message, "` and `")
			if problem.RuleID != "no-ambiguous-paths" {
				path = ""
			}
			paths = append(paths, strings.TrimSuffix(path, "`."))
		}
		slices.Sort(paths)
		if err != nil || decodeErr != nil || found.Totals.Errors > 0 || !slices.Equal(paths, ambiguous) {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

func TestDescription_GeneratedClientsPay(t *testing.T) {
	t.Parallel()
	// Clients that common generators make from the description compile, and each makes a
	// payment: it creates a quote, executes it and waits until the payment is completed. With the
	// access token of an agent, each makes a transfer.
	h := newTestEnv(t)
	agent := h.newPayingAgent()
	source, destination := agent.dollars, h.createWallet(agent.customer, "")
	checkPaid := func(t *testing.T, out string) {
		t.Helper()
		var actionID, actionStatus, id, status string
		_, err := fmt.Sscan(out, &actionID, &actionStatus, &id, &status)
		if err != nil || status != "COMPLETED" || h.get("/transactions/"+id).wantStatus(200).text("source.accountId") != source ||
			actionStatus != "APPROVED" || agent.get("/agents/me/actions/"+actionID).wantStatus(200).text("status") != actionStatus {
			t.Errorf("%v: the client printed %q", err, out)
		}
	}
	arguments := []string{h.BaseURL, h.ClientID, h.ClientSecret, source, destination, agent.bank,
		strings.TrimPrefix(agent.Header.Get("Authorization"), "Bearer ")}

	// The Go clients are built in a module of their own, with the dependencies of their code.
	clients := copyClients(t)
	description := downloadDescription(t, clients, h.server.baseURL+"/openapi.json")
	tool := func(t *testing.T, name string, args ...string) {
		t.Helper()
		run(t, "..", "go", append([]string{"tool", "-modfile=" + toolsFile, name}, args...)...)
	}
	pay := func(t *testing.T, name string) {
		t.Helper()
		program := filepath.Join(clients, name, name)
		run(t, clients, "go", "build", "-trimpath", "-buildvcs=false", "-o", program, "./"+name)
		checkPaid(t, run(t, clients, program, arguments...))
	}
	t.Run("oapi-codegen", func(t *testing.T) {
		t.Parallel()
		folder := filepath.Join(clients, "oapi", "client")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		tool(t, "oapi-codegen", "-generate", "types,client", "-package", "client", "-o", filepath.Join(folder, "client.go"), description)
		pay(t, "oapi")
	})
	t.Run("ogen", func(t *testing.T) {
		t.Parallel()
		folder := filepath.Join(clients, "ogen")
		tool(t, "ogen", "--config", filepath.Join(folder, "config.yaml"), "--package", "client", "--target", filepath.Join(folder, "client"),
			description)
		pay(t, "ogen")
	})
	t.Run("openapi-typescript", func(t *testing.T) {
		t.Parallel()
		folder := filepath.Join(clients, "typescript")
		modules, err := filepath.Abs(modulesFolder)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
			t.Fatal(err)
		}
		for _, command := range [][]string{
			{"openapi-typescript", description, "--output", "schema.d.ts"},
			{"tsc", "--project", "tsconfig.json"},
		} {
			if out, err := runNode(t, folder, command[0], command[1:]...); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		checkPaid(t, run(t, folder, "node", append([]string{"pay.js"}, arguments...)...))
	})
}
