package e2e

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/e2e/kit"
)

// waitTimeout is the limit for everything that a test waits for. It only ends a test that would never
// end: nothing takes that long, also on a machine that is busy or slow.
const waitTimeout = 3 * time.Minute

// masterKey is the same for every process of a database, as it must be.
const masterKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// process is one running program of a test.
type process struct {
	*kit.Process
	t           testing.TB
	baseURL     string // of the interface, version included; empty unless it serves
	endedByTest bool
}

// startServer starts a server on a free port, and returns when it is ready. It does not log in
// as the owner of the database. Options are flags, such as --no-workers.
func startServer(t testing.TB, database string, options ...string) *process {
	t.Helper()
	url, err := kit.CreateServiceLogin(waitContext(t), database)
	if err != nil {
		t.Fatal(err)
	}
	return startServerAs(t, url, options...)
}

// startServerAs is startServer with the URL of the service's login.
func startServerAs(t testing.TB, databaseURL string, options ...string) *process {
	t.Helper()
	env, args := serveCommand(databaseURL, blobsFolder(t, databaseURL), options...)
	return startServerWith(t, env, args...)
}

func serveCommand(databaseURL, blobs string, options ...string) (env, args []string) {
	return []string{"DATABASE_URL=" + databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey},
		append([]string{"serve", "--listen", "127.0.0.1:0", "--sandbox-speed", "1000", "--log-format", "json", "--connections", "8",
			"--allow-private-webhooks", "--blobs", "folder:" + blobs}, options...)
}

// blobsFolders has the folders for the files of documents, by the database: its processes share one.
var blobsFolders sync.Map

func blobsFolder(t testing.TB, databaseURL string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	folder, _ := blobsFolders.LoadOrStore(u.Path, t.TempDir())
	return folder.(string)
}

// startServerWithKeyFile is startServer with the master key in a file.
func startServerWithKeyFile(t testing.TB, database, file string) *process {
	t.Helper()
	url, err := kit.CreateServiceLogin(waitContext(t), database)
	if err != nil {
		t.Fatal(err)
	}
	return startServerWith(t, []string{"DATABASE_URL=" + url, "CAUSEWAY_MASTER_KEY_FILE=" + file}, "serve", "--listen", "127.0.0.1:0",
		"--sandbox-speed", "1000", "--log-format", "json", "--connections", "8", "--allow-private-webhooks", "--rate-limit", "100000",
		"--rate-burst", "100000")
}

func startServerWith(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	p := startProcess(t, env, args...)
	line, err := p.AwaitLogField(waitContext(t), "address")
	if err != nil {
		t.Fatal(err)
	}
	p.baseURL, _ = line["address"].(string)
	p.awaitReady()
	return p
}

// startProcess runs the program. When the test ends it must stop cleanly and in time,
// unless the test has ended it.
func startProcess(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	p := startProcessNoCleanup(t, env, args...)
	t.Cleanup(func() {
		if !p.endedByTest {
			p.terminate()
		}
		if t.Failed() {
			t.Logf("the log of %s:\n%s", p.Command, p.Tail())
		}
	})
	return p
}

func startProcessNoCleanup(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	p, err := kit.Start(kit.Command{Program: binary, Args: args, Env: env, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return &process{Process: p, t: t}
}

// waitContext ends after waitTimeout.
func waitContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	t.Cleanup(cancel)
	return ctx
}

// awaitLine returns the first line of the output that contains a text, past or future.
func (p *process) awaitLine(text string) string {
	p.t.Helper()
	line, err := p.AwaitLine(waitContext(p.t), func(line string) bool { return strings.Contains(line, text) })
	if err != nil {
		p.t.Fatalf("%q: %v", text, err)
	}
	return line
}

// awaitReady returns when the server accepts requests.
func (p *process) awaitReady() {
	p.t.Helper()
	if err := p.AwaitReady(waitContext(p.t), p.rootURL()); err != nil {
		p.t.Fatal(err)
	}
}

// rootURL is the address without the version.
func (p *process) rootURL() string { return p.baseURL[:strings.LastIndex(p.baseURL, "/")] }

// terminate sends SIGTERM, and checks that the program ends cleanly. It would not if it had to abort
// requests because they took too long.
func (p *process) terminate() {
	p.t.Helper()
	p.endedByTest = true
	if err := p.Stop(waitTimeout); err != nil {
		p.t.Error(err)
	}
}

// kill ends the program without a warning.
func (p *process) kill() {
	p.endedByTest = true
	p.Kill()
}

// awaitExit returns the exit status of a program that ends by itself.
func (p *process) awaitExit() int {
	p.t.Helper()
	select {
	case <-p.Exited:
		p.endedByTest = true
	case <-time.After(waitTimeout):
		p.t.Fatalf("%s does not end", p.Command)
	}
	return p.ExitCode()
}

// runCommand runs the program to its end, and returns what it wrote and its exit status.
func runCommand(t testing.TB, env []string, args ...string) (out, errOut string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	result, err := kit.Run(ctx, kit.Command{Program: binary, Args: args, Env: env, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return result.Output, result.ErrorOutput, result.ExitCode
}

// mustRunCommand runs a command that has to succeed.
func mustRunCommand(t testing.TB, env []string, args ...string) string {
	t.Helper()
	out, errOut, status := runCommand(t, env, args...)
	if status != 0 {
		t.Fatalf("causeway %s: status %d\n%s%s", strings.Join(args, " "), status, out, errOut)
	}
	return out
}

// eventually polls for a condition that no signal reports, more and more rarely: it may be a command or an expensive request.
func eventually(t testing.TB, condition string, holds func() bool) {
	t.Helper()
	timeout := time.After(waitTimeout)
	for pause := 20 * time.Millisecond; !holds(); pause = min(pause*5/4, 300*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-timeout:
			t.Fatalf("%s: not within %s", condition, waitTimeout)
		}
	}
}
