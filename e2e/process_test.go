package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// waitTimeout is how long anything may take that is told by a signal.
const waitTimeout = 30 * time.Second

// masterKey is the same for every process, as it must be.
const masterKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// process is one running program.
type process struct {
	t           testing.TB
	cmd         *exec.Cmd
	baseURL     string // of the interface, version included; empty unless it serves
	output      *outputCapture
	exited      chan struct{}
	err         error // of its end; to be read after exited is closed
	endedByTest bool  // by the test, on purpose
}

// startServer starts a server on a free port of a database, and returns when it is ready.
// Options are flags, such as --no-workers.
func startServer(t testing.TB, database string, options ...string) *process {
	t.Helper()
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--sandbox-speed", "1000", "--log-format", "json", "--connections", "8"}, options...)
	p := startProcess(t, []string{"DATABASE_URL=" + database, "CAUSEWAY_MASTER_KEY=" + masterKey}, args...)
	line := p.awaitLogField("address")
	p.baseURL, _ = line["address"].(string)
	p.awaitReady()
	return p
}

// startProcess runs the program. When the test ends it is asked to stop, and must do so
// well and in time, unless the test has ended it.
func startProcess(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	p := startProcessNoCleanup(t, env, args...)
	t.Cleanup(func() {
		if !p.endedByTest {
			p.terminate()
		}
		if t.Failed() {
			t.Logf("the log of %s:\n%s", strings.Join(p.cmd.Args, " "), p.output.tail())
		}
	})
	return p
}

func startProcessNoCleanup(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(binary, args...), output: newOutputCapture(), exited: make(chan struct{})}
	p.cmd.Env = append(cleanEnv(), env...)
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		p.output.close()
		close(p.exited)
	}()
	return p
}

// cleanEnv is this program's environment without settings of the one under test.
func cleanEnv() []string {
	var kept []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "CAUSEWAY_") && !strings.HasPrefix(entry, "DATABASE_URL=") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// awaitLogField returns the first line of a JSON log that has a field.
func (p *process) awaitLogField(field string) map[string]any {
	p.t.Helper()
	var found map[string]any
	p.output.awaitLine(p.t, "a log line with "+field, func(line string) bool {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields[field] != nil {
			found = fields
		}
		return found != nil
	})
	return found
}

// awaitReady returns when the server takes requests.
func (p *process) awaitReady() {
	p.t.Helper()
	eventually(p.t, "readiness of "+p.baseURL, func() bool {
		response, err := http.Get(p.rootURL() + "/readyz")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// rootURL is the address without the version.
func (p *process) rootURL() string { return p.baseURL[:strings.LastIndex(p.baseURL, "/")] }

// terminate asks the program to stop, and checks that it does: well and in time.
func (p *process) terminate() {
	p.t.Helper()
	p.endedByTest = true
	began := time.Now()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	select {
	case <-p.exited:
	case <-time.After(waitTimeout):
		p.t.Errorf("still running %s after SIGTERM", waitTimeout)
		_ = p.cmd.Process.Kill()
		<-p.exited
		return
	}
	if p.err != nil {
		p.t.Errorf("after SIGTERM: %v", p.err)
	}
	if took := time.Since(began); took > 10*time.Second {
		p.t.Errorf("it took %s to stop", took)
	}
}

// kill ends the program without a warning.
func (p *process) kill() {
	p.endedByTest = true
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.exited
}

// awaitExit returns the exit status of a program that ends by itself.
func (p *process) awaitExit() int {
	p.t.Helper()
	select {
	case <-p.exited:
		p.endedByTest = true
	case <-time.After(waitTimeout):
		p.t.Fatalf("%s does not end", strings.Join(p.cmd.Args, " "))
	}
	return p.cmd.ProcessState.ExitCode()
}

// runCommand runs the program to its end, and returns what it wrote and its status.
func runCommand(t testing.TB, env []string, args ...string) (out, errOut string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Dir = append(cleanEnv(), env...), t.TempDir()
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		t.Fatalf("causeway %s: %v\n%s%s", strings.Join(args, " "), errors.Join(err, ctx.Err()), o.String(), e.String())
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// mustRunCommand is a command that has to succeed.
func mustRunCommand(t testing.TB, env []string, args ...string) string {
	t.Helper()
	out, errOut, status := runCommand(t, env, args...)
	if status != 0 {
		t.Fatalf("causeway %s: status %d\n%s%s", strings.Join(args, " "), status, out, errOut)
	}
	return out
}

// outputCapture keeps the lines that a program writes, and tells who waits for them.
type outputCapture struct {
	io.Writer
	pipe    *io.PipeWriter
	mu      sync.Mutex
	lines   []string
	changed chan struct{} // closed and replaced with each line
	closed  bool
}

func newOutputCapture() *outputCapture {
	reader, writer := io.Pipe()
	t := &outputCapture{Writer: writer, pipe: writer, changed: make(chan struct{})}
	go func() {
		lines := bufio.NewScanner(reader)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			t.add(lines.Text(), false)
		}
		t.add("", true)
	}()
	return t
}

func (t *outputCapture) add(line string, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last {
		t.closed = true
	} else {
		t.lines = append(t.lines, line)
	}
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *outputCapture) close() { _ = t.pipe.Close() }

// awaitLine returns the first line that matches, past or future.
func (t *outputCapture) awaitLine(tb testing.TB, what string, match func(line string) bool) string {
	tb.Helper()
	tooLong := time.After(waitTimeout)
	for i := 0; ; {
		t.mu.Lock()
		lines, more, closed := t.lines[i:], t.changed, t.closed
		t.mu.Unlock()
		for _, line := range lines {
			if match(line) {
				return line
			}
		}
		i += len(lines)
		if closed && len(lines) == 0 {
			tb.Fatalf("the program ended before %s:\n%s", what, t.tail())
		}
		select {
		case <-more:
		case <-tooLong:
			tb.Fatalf("no %s within %s:\n%s", what, waitTimeout, t.tail())
		}
	}
}

// tail is the last of what was written.
func (t *outputCapture) tail() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines[max(0, len(t.lines)-40):], "\n")
}

// text is everything that was written.
func (t *outputCapture) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}

// eventually looks again and again for what nothing tells of.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	eventuallyWithin(t, waitTimeout, what, holds)
}

func eventuallyWithin(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	tooLong := time.After(limit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-tooLong:
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}
