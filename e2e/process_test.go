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

// patience is how long anything may take that is told by a signal.
const patience = 30 * time.Second

// masterKey is the same for every process, as it must be.
const masterKey = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// process is one running program.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	base   string // of the interface, version included; empty unless it serves
	log    *transcript
	exited chan struct{}
	err    error // of its end; to be read after exited is closed
	ended  bool  // by the test, on purpose
}

// serve starts a server on a free port of a database, and returns when it is ready.
// Options are flags, such as --no-workers.
func serve(t testing.TB, database string, options ...string) *process {
	t.Helper()
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--sandbox-speed", "1000", "--log-format", "json", "--connections", "8"}, options...)
	p := start(t, []string{"DATABASE_URL=" + database, "CAUSEWAY_MASTER_KEY=" + masterKey}, args...)
	line := p.await("address")
	p.base, _ = line["address"].(string)
	p.ready()
	return p
}

// start runs the program. When the test ends it is asked to stop, and must do so
// well and in time, unless the test has ended it.
func start(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	p := launch(t, env, args...)
	t.Cleanup(func() {
		if !p.ended {
			p.terminate()
		}
		if t.Failed() {
			t.Logf("the log of %s:\n%s", strings.Join(p.cmd.Args, " "), p.log.tail())
		}
	})
	return p
}

func launch(t testing.TB, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(binary, args...), log: newTranscript(), exited: make(chan struct{})}
	p.cmd.Env = append(cleanEnv(), env...)
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		p.log.close()
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

// await returns the first line of a JSON log that has a field.
func (p *process) await(field string) map[string]any {
	p.t.Helper()
	var found map[string]any
	p.log.await(p.t, "a log line with "+field, func(line string) bool {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields[field] != nil {
			found = fields
		}
		return found != nil
	})
	return found
}

// ready returns when the server takes requests.
func (p *process) ready() {
	p.t.Helper()
	until(p.t, "readiness of "+p.base, func() bool {
		response, err := http.Get(p.root() + "/readyz")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// root is the address without the version.
func (p *process) root() string { return p.base[:strings.LastIndex(p.base, "/")] }

// terminate asks the program to stop, and checks that it does: well and in time.
func (p *process) terminate() {
	p.t.Helper()
	p.ended = true
	began := time.Now()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Errorf("still running %s after SIGTERM", patience)
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
	p.ended = true
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.exited
}

// wait returns the exit status of a program that ends by itself.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.exited:
		p.ended = true
	case <-time.After(patience):
		p.t.Fatalf("%s does not end", strings.Join(p.cmd.Args, " "))
	}
	return p.cmd.ProcessState.ExitCode()
}

// command runs the program to its end, and returns what it wrote and its status.
func command(t testing.TB, env []string, args ...string) (out, errOut string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
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

// must is a command that has to succeed.
func must(t testing.TB, env []string, args ...string) string {
	t.Helper()
	out, errOut, status := command(t, env, args...)
	if status != 0 {
		t.Fatalf("causeway %s: status %d\n%s%s", strings.Join(args, " "), status, out, errOut)
	}
	return out
}

// transcript keeps the lines that a program writes, and tells who waits for them.
type transcript struct {
	io.Writer
	pipe   *io.PipeWriter
	mu     sync.Mutex
	lines  []string
	more   chan struct{} // closed and replaced with each line
	closed bool
}

func newTranscript() *transcript {
	reader, writer := io.Pipe()
	t := &transcript{Writer: writer, pipe: writer, more: make(chan struct{})}
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

func (t *transcript) add(line string, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last {
		t.closed = true
	} else {
		t.lines = append(t.lines, line)
	}
	close(t.more)
	t.more = make(chan struct{})
}

func (t *transcript) close() { _ = t.pipe.Close() }

// await returns the first line that matches, past or future.
func (t *transcript) await(tb testing.TB, what string, match func(line string) bool) string {
	tb.Helper()
	tooLong := time.After(patience)
	for i := 0; ; {
		t.mu.Lock()
		lines, more, closed := t.lines[i:], t.more, t.closed
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
			tb.Fatalf("no %s within %s:\n%s", what, patience, t.tail())
		}
	}
}

// tail is the last of what was written.
func (t *transcript) tail() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines[max(0, len(t.lines)-40):], "\n")
}

// all is everything that was written.
func (t *transcript) all() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}

// until looks again and again for what nothing tells of.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	untilWithin(t, patience, what, holds)
}

func untilWithin(t testing.TB, limit time.Duration, what string, holds func() bool) {
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
