// Package readme runs the commands of the documents, as a reader who copies them would.
//
// The documents are README.md and every docs/*.md. In each, the fenced blocks that are
// marked sh are run by bash from top to bottom, in one shell, against a new service that
// nothing else uses. Blocks with any other mark, or none, are not run: use console for
// commands that a test cannot run (make run, causeway serve, production settings), text
// for output. A block marked text recorded is what the block before it printed, except for
// ids, times and rates: -update writes it, with those of that run.
//
// The shell starts in an empty folder with:
//
//   - bin/causeway, also found as causeway: the program;
//   - .causeway: the data folder of the running service, so that commands need no --data;
//   - BASE, CLIENT_ID, CLIENT_SECRET: where the service is, and the credentials of its
//     sandbox platform.
//
// The first command that fails ends the run (bash -euo pipefail) and fails the test. What
// a document must print in addition is in wantOutput.
package readme

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"causeway/e2e/kit"
)

// waitTimeout is the limit for a document, and for the end of its service. It only ends a test that would
// never end.
const waitTimeout = 5 * time.Minute

var update = flag.Bool("update", false, "write what commands print into the documents")

// wantOutput says how often an expression matches what a document's commands print.
var wantOutput = map[string]map[string]int{
	"agents.md": {`"redeemed":true`: 1, `"isConnected":true`: 2, `"isPaused":true`: 1,
		`"decision":"REFUSED","reasons":\[{"code":"PER_TRANSACTION_LIMIT"`: 1,
		`"status":"PENDING_APPROVAL"`:                                      1, `"status":"APPROVED","type":"TRANSFER_OUT"`: 3,
		`"operation":"APPROVE_ACTION"`: 1},
	"README.md": {
		`"status":"COMPLETED"`: 1, `delivered +transit/payouts +chains/LAYER2 +\d\.\d{8} +BTC`: 1,
	},
	"api-conventions.md": {`"code":"INVALID_INPUT"`: 1},
	"auditing.md":        {`All \d+ rules passed\.`: 3, `published checkpoints match the postings +\d+ +checkpoints +passed`: 2},
	"clients.md":         {`"status":"COMPLETED"`: 1},
	"customers.md": {`"isDeleted":true`: 1, `"verificationStatus":"RESOLVE_ERRORS"`: 1, `"kycUrl":"http`: 1, `"fileName":"bill.pdf"`: 2,
		`"currencies":\["USD","BTC"\]`: 3, `"successful":2,"failed":1.*"field":"birthDate"`: 1, `"status":"CLAIMED"`: 1},
	"exports.md":                        {`books\.journal: \d+ bytes`: 1},
	"books.md":                          {`"status":"EXECUTED"`: 1, `CLOSED +.*Reviewed and complete\.`: 2},
	"fees.md":                           {`"variableFeeBps":25`: 1},
	"contact-verification.md":           {`"phone":"VERIFIED"`: 1, `"kycUrl":"http`: 1},
	"strong-authentication.md":          {`"recoveryCodes":\[`: 1, `"sessionExpiresAt":"`: 1},
	"strong-authentication-payments.md": {`"code":"INVALID_INPUT"`: 1, `"purpose":"PAYOUT"`: 1, `"paymentInstructions":\[`: 1},
	"finance.md": {`"code":"REFERENCE_NOT_FOUND"`: 1, `CLOSED +.*Reviewed and complete\.`: 3, `SHORTFALL`: 1,
		`All \d+ rules passed`: 1},
	"getting-started.md": {`"status":"COMPLETED"`: 2, `fx/position +trading +250\.000000 +USDC`: 1, `"privateEnabled":true`: 1,
		`"encryptedSessionSigningKey":"`: 1},
	"operating.md": {`All \d+ rules passed\.`: 1, `Agreed in March`: 1, `Proposed by ana and approved by ben`: 1,
		`Encrypted \d+ rows with data key`: 1, `Z +newest `: 1},
	"rails.md": {`The rail SEPA is paused since .* by ana: Incident 12`: 1, `SEPA was never paused`: 1,
		`SEPA has 258 business days in 2027`: 1, `No payment waits`: 2},
	"receivables.md": {`"owed":8000`: 1, `"owed":3000`: 1, `"status":"WRITTEN_OFF".*"owed":0`: 1,
		`USD +1 +30\.00 +0\.00 +0\.00 +0\.00 +30\.00`: 1, `All \d+ rules passed\.`: 1},
	"reconciliation.md":   {`break MISSING_IN_LEDGER +1`: 1, `"id":"Reconciliation:`: 1},
	"wallet-ownership.md": {`"messageToSign":"Sandbox asks you`: 1, `"status":"ACTIVE"`: 1},
}

// started is the data folder that each document has a copy of.
var started kit.StartedFolder

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	program, remove, err := kit.Prepare()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	defer started.Remove()
	started.Program = program
	return m.Run()
}

func TestDocuments_CommandsWork(t *testing.T) {
	t.Parallel()
	// Every command of every document works, in the order of the page.
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(documents, "../../README.md") {
		blocks := commands(t, path)
		if len(blocks) == 0 {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			outputs := runScript(t, blocks)
			output := strings.Join(outputs, "")
			for expression, want := range wantOutput[filepath.Base(path)] {
				if got := len(regexp.MustCompile(expression).FindAllString(output, -1)); got != want {
					t.Errorf("%s matches %d times, want %d, in\n%s", expression, got, want, output)
				}
			}
			compareRecorded(t, path, outputs)
		})
	}
}

// documentBlocks are the blocks of a document that are marked sh, each with the recorded one after it.
var documentBlocks = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$(?:\n\n```text recorded\n(.*?)^```$)?")

// commands returns the blocks of a document that are marked sh, in order.
func commands(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, block := range documentBlocks.FindAllSubmatch(text, -1) {
		blocks = append(blocks, string(block[1]))
	}
	return blocks
}

// endOfBlock is printed after each block.
const endOfBlock = "\x1e"

// runScript runs blocks of commands beside a new service, and returns what each prints.
func runScript(t *testing.T, blocks []string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	dir, credentials := startServer(ctx, t)
	printEnd := "\nprintf '" + endOfBlock + "'\n"
	shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail")
	shell.Dir, shell.Stdin = dir, strings.NewReader(strings.Join(blocks, printEnd)+printEnd)
	shell.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"),
		"BASE="+credentials.BaseURL, "CLIENT_ID="+credentials.ClientID, "CLIENT_SECRET="+credentials.ClientSecret)
	// What runs in the background when the shell ends, such as after a failure, ends with it.
	shell.SysProcAttr, shell.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, 5*time.Second
	output, err := shell.CombinedOutput()
	_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return strings.Split(strings.TrimSuffix(string(output), endOfBlock), endOfBlock)
}

// startServer runs the program in a folder of its own until the test ends, as `make run`
// does, and returns the folder.
func startServer(ctx context.Context, t *testing.T) (string, kit.Credentials) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "bin", "causeway")
	if err := os.Symlink(started.Program, binary); err != nil {
		t.Fatal(err)
	}
	if err := started.Copy(ctx, filepath.Join(dir, ".causeway")); err != nil {
		t.Fatal(err)
	}
	server, err := kit.Start(kit.Command{Program: binary, Dir: dir,
		Args: []string{"dev", "--no-demo", "--listen", "127.0.0.1:0", "--data", ".causeway", "--seal-every", "1s"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(waitTimeout); err != nil || t.Failed() {
			t.Errorf("the server ended with %v and wrote\n%s", err, server.Tail())
		}
	})
	// Once it writes this line, the credentials are written and it listens.
	if _, err := server.AwaitLine(ctx, func(line string) bool { return strings.Contains(line, " serves ") }); err != nil {
		t.Fatal(err)
	}
	var written kit.Credentials
	text, err := os.ReadFile(filepath.Join(dir, ".causeway", "credentials.json"))
	if err == nil {
		err = json.Unmarshal(text, &written)
	}
	if err != nil || written.BaseURL == "" {
		t.Fatalf("credentials.json: %v, %q", err, written.BaseURL)
	}
	return dir, written
}
