// Package kit is what the end-to-end tests and the benchmark share: it builds and runs the
// program, creates platforms with it, and prepares request bodies. Requests and webhooks
// are those of adapters/apiclient.
package kit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Command is a program to run.
type Command struct {
	Program string
	Args    []string
	Env     []string // in addition to CleanEnv
	Dir     string
	User    *syscall.Credential // nil is the current user
}

func (c Command) String() string { return filepath.Base(c.Program) + " " + strings.Join(c.Args, " ") }

// gcPercent is GOGC of the programs, if it is not 0: the service collects garbage often while it starts, to keep its memory small, which
// takes a third of the time of its start.
var gcPercent int

// CleanEnv returns the environment without the settings of the service, of Postgres and of
// the Go runtime, so that every run is the same.
func CleanEnv() []string {
	env := slices.DeleteFunc(os.Environ(), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		switch name {
		case "CAUSEWAY_POSTGRES_BIN":
			return false
		case "DATABASE_URL", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK":
			return true
		}
		return strings.HasPrefix(name, "CAUSEWAY_") || strings.HasPrefix(name, "PG")
	})
	if gcPercent != 0 {
		env = append(env, "GOGC="+strconv.Itoa(gcPercent))
	}
	return env
}

// Process is a running program. Its output is kept line by line.
type Process struct {
	Command Command
	Exited  <-chan struct{} // closed when it has ended

	cmd    *exec.Cmd
	err    error // how it ended
	output *io.PipeWriter

	mu      sync.Mutex
	lines   []string
	closed  bool
	changed chan struct{} // closed and replaced with each line
}

// Start starts a program in a session of its own, so that Ctrl-C does not reach it. If this
// process is killed, the kernel stops the program.
func Start(c Command) (*Process, error) {
	reader, writer := io.Pipe()
	exited := make(chan struct{})
	p := &Process{Command: c, Exited: exited, cmd: exec.Command(c.Program, c.Args...), output: writer, changed: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = append(CleanEnv(), c.Env...), c.Dir
	p.cmd.Stdout, p.cmd.Stderr = writer, writer
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM, Credential: c.User}
	started := make(chan error)
	go func() {
		// The kernel sends that signal when the thread ends that started the program.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			_ = writer.Close()
			close(exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c, err)
	}
	go p.readLines(reader)
	return p, nil
}

func (p *Process) readLines(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.addLine(lines.Text(), false)
	}
	p.addLine("", true)
}

func (p *Process) addLine(line string, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed = last; !last {
		p.lines = append(p.lines, line)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal. It does nothing if the process has ended.
func (p *Process) Signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill ends the process at once.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.Exited
}

// Stop sends SIGTERM and returns how the process ended. If it has not ended within the
// limit, it is killed and Stop returns an error.
func (p *Process) Stop(limit time.Duration) error {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.Exited:
	case <-time.After(limit):
		p.Kill()
		return fmt.Errorf("%s did not stop within %s after SIGTERM and was killed", p.Command, limit)
	}
	if p.err != nil {
		return fmt.Errorf("%s: %w; its last output:\n%s", p.Command, p.err, p.Tail())
	}
	return nil
}

// ExitCode returns the exit status of a process that has ended.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Output returns everything that the process has written.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// Tail returns the last lines that the process has written.
func (p *Process) Tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines[max(0, len(p.lines)-40):], "\n")
}

// AwaitLine returns the first line of the output that matches, past or future.
func (p *Process) AwaitLine(ctx context.Context, match func(line string) bool) (string, error) {
	for i := 0; ; {
		p.mu.Lock()
		lines, changed, closed := p.lines[i:], p.changed, p.closed
		p.mu.Unlock()
		for _, line := range lines {
			if match(line) {
				return line, nil
			}
		}
		i += len(lines)
		if closed {
			return "", fmt.Errorf("%s ended before it wrote the line; its last output:\n%s", p.Command, p.Tail())
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return "", fmt.Errorf("%s did not write the line: %w; its last output:\n%s", p.Command, context.Cause(ctx), p.Tail())
		}
	}
}

// AwaitLogField returns the first line of a JSON log that has a field.
func (p *Process) AwaitLogField(ctx context.Context, field string) (fields map[string]any, err error) {
	_, err = p.AwaitLine(ctx, func(line string) bool {
		fields = nil
		return json.Unmarshal([]byte(line), &fields) == nil && fields[field] != nil
	})
	return fields, err
}

var errExitedCleanly = errors.New("exit status 0")

// AwaitReady returns when GET /readyz of the server returns 200. The root URL is that
// without the version.
func (p *Process) AwaitReady(ctx context.Context, rootURL string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w; its last output:\n%s", p.Command, context.Cause(ctx), p.Tail())
		case <-p.Exited:
			return fmt.Errorf("%s ended while it started: %w; its last output:\n%s", p.Command, errors.Join(p.err, errExitedCleanly), p.Tail())
		case <-poll.C:
		}
		if isReady(ctx, client, rootURL) {
			return nil
		}
	}
}

func isReady(ctx context.Context, client *http.Client, rootURL string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, rootURL+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode == http.StatusOK
}

// FreeAddress returns an address of the loopback interface for a server that a test starts, and may
// start again. A socket that does not listen reserves the port until this process ends: the kernel
// gives it to no other program that asks for any port, and to no connection.
func FreeAddress() (string, error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", os.NewSyscallError("socket", err)
	}
	// Both sockets need this option. Servers set it.
	err = os.NewSyscallError("setsockopt", syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	if err == nil {
		err = os.NewSyscallError("bind", syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	}
	if err != nil {
		return "", errors.Join(err, syscall.Close(socket))
	}
	bound, err := syscall.Getsockname(socket)
	if err != nil {
		return "", os.NewSyscallError("getsockname", err)
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(bound.(*syscall.SockaddrInet4).Port)).String(), nil
}
