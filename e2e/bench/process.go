package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// process is a program of ours that runs beside the generator.
type process struct {
	name    string
	cmd     *exec.Cmd
	logPath string // the file its words go to
	exited  chan struct{}
	err     error // how it ended; to be read after exited is closed
}

// startProcess runs a program in a session of its own, so that Ctrl-C reaches the
// generator alone, which stops things in their order. If the generator is killed,
// the kernel stops the program.
func startProcess(name, log string, env []string, program string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own handle
	p := &process{name: name, cmd: exec.Command(program, args...), logPath: log, exited: make(chan struct{})}
	p.cmd.Env = append(cleanEnvironment(), env...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	go func() {
		// The kernel sends that signal when the thread ends that made the child.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// cleanEnvironment is ours without the settings of the service, of Postgres and of the
// Go runtime, so that every run measures the same.
func cleanEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		switch name {
		case "CAUSEWAY_POSTGRES_BIN":
			return false
		case "DATABASE_URL", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK":
			return true
		}
		return strings.HasPrefix(name, "CAUSEWAY_") || strings.HasPrefix(name, "PG")
	})
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// stopTimeout is how long the service may take to stop.
const stopTimeout = 15 * time.Second

// stop asks the program to end, and ends it when it does not.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.exited
		return fmt.Errorf("%s did not stop in %s and was killed", p.name, stopTimeout)
	}
	if p.err != nil {
		return fmt.Errorf("%s: %w; it said:\n%s", p.name, p.err, p.lastLines())
	}
	return nil
}

// lastLines are the last lines that the program said.
func (p *process) lastLines() string {
	text, err := os.ReadFile(p.logPath)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

var errExitedCleanly = errors.New("without saying that anything is wrong")

// awaitReady returns when /readyz of the service is 200.
func (p *process) awaitReady(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	asker := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s was not ready: %w; it said:\n%s", p.name, context.Cause(ctx), p.lastLines())
		case <-p.exited:
			return fmt.Errorf("%s ended while it started: %w; it said:\n%s", p.name, cmp.Or(p.err, errExitedCleanly), p.lastLines())
		case <-look.C:
		}
		if isReady(ctx, asker, address) {
			return nil
		}
	}
}

func isReady(ctx context.Context, asker *http.Client, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	answer, err := asker.Do(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode == http.StatusOK
}

// freeAddress is an address on loopback that nobody listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
