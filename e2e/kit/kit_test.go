package kit

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func shell(script string, env ...string) Command {
	return Command{Program: "/bin/sh", Args: []string{"-c", script}, Env: env}
}

func TestRun_ReportsOutputTimeAndMemory(t *testing.T) {
	t.Parallel()
	// The output, status, time and memory of a program are reported; one that fails has its
	// output in the error.
	result, err := MustSucceed(t.Context(), shell("echo $WORD; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", "WORD=hello"))
	if err != nil || result.Output != "hello\n" || result.Duration <= 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if result.PeakMemory < 100_000 || result.PeakMemory > 50_000_000 {
		t.Errorf("a shell used %d bytes", result.PeakMemory)
	}
	if _, err := MustSucceed(t.Context(), shell("echo in trouble >&2; exit 3")); err == nil || !strings.Contains(err.Error(), "in trouble") {
		t.Errorf("got %v; want the output", err)
	}
	if result, err := Run(t.Context(), shell("exit 3")); err != nil || result.ExitCode != 3 {
		t.Errorf("%+v, %v", result, err)
	}
	if _, err := Run(t.Context(), Command{Program: "/does/not/exist"}); err == nil {
		t.Error("a program that does not exist was run")
	}
}

func TestProcess_Stop(t *testing.T) {
	t.Parallel()
	// A program stops on SIGTERM; one that failed has its output in the error; one
	// that ignores the signal is killed.
	start := func(script, first string, env ...string) *Process {
		t.Helper()
		p, err := Start(shell(script, env...))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.AwaitLine(t.Context(), func(line string) bool { return line == first }); err != nil {
			t.Fatal(err)
		}
		return p
	}
	if err := start("trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done", "up").Stop(time.Minute); err != nil {
		t.Error(err)
	}
	failed := start("echo in $WORD; exit 3", "in trouble", "WORD=trouble")
	<-failed.Exited
	if err := failed.Stop(time.Minute); err == nil || !strings.Contains(err.Error(), "in trouble") {
		t.Errorf("got %v; want the output", err)
	}
	if err := start("trap '' TERM; echo up; while :; do sleep 0.01; done", "up").Stop(time.Millisecond); err == nil ||
		!strings.Contains(err.Error(), "killed") {
		t.Errorf("got %v; want that it was killed", err)
	}
	if _, err := Start(Command{Program: "/does/not/exist"}); err == nil {
		t.Error("a program that does not exist was started")
	}
}

func TestProcess_AwaitLine(t *testing.T) {
	t.Parallel()
	// A line is found whether it was written before or is written later; if the program ends
	// without it, the error has the output.
	p, err := Start(shell(`echo '{"level":"info"}'; echo '{"address":"here"}'; echo last`))
	if err != nil {
		t.Fatal(err)
	}
	if fields, err := p.AwaitLogField(t.Context(), "address"); err != nil || fields["address"] != "here" {
		t.Errorf("%v, %v", fields, err)
	}
	<-p.Exited
	for range 2 { // the second time, all output has been read
		if _, err := p.AwaitLine(t.Context(), func(line string) bool { return line == "never" }); err == nil ||
			!strings.Contains(err.Error(), "last") {
			t.Errorf("got %v; want the output", err)
		}
	}
}

func TestProcess_AwaitReady(t *testing.T) {
	t.Parallel()
	// A server is ready when /readyz returns 200, not before; a program that ends never is.
	var requests atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || requests.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer service.Close()
	p, err := Start(shell("exec sleep 600"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.AwaitReady(t.Context(), service.URL); err != nil || requests.Load() != 3 {
		t.Errorf("%v after %d requests; want 3", err, requests.Load())
	}
	p.Kill()
	requests.Store(-1 << 40)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := p.AwaitReady(ctx, service.URL); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("got %v; want how it ended", err)
	}
}

func TestFreeAddress_IsReserved(t *testing.T) {
	// Servers can listen there, one after the other, and meanwhile no other socket gets the port. Not in
	// parallel: a program that another test starts has a copy of the server's socket for a moment.
	address, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		server, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		client, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(server.Close(), client.Close()); err != nil {
			t.Fatal(err)
		}
		other, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Bind(other, &syscall.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}}); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("another socket is bound to %s: %v", address, err)
		}
		if err := syscall.Close(other); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCleanEnv_DropsSettings(t *testing.T) {
	// Settings of the service, of Postgres and of Go do not reach the program.
	t.Setenv("CAUSEWAY_LOG_LEVEL", "debug")
	t.Setenv("CAUSEWAY_POSTGRES_BIN", "/opt/postgres")
	t.Setenv("PGHOST", "elsewhere")
	t.Setenv("GOMAXPROCS", "1")
	t.Setenv("GOGC", "50")
	t.Setenv("DATABASE_URL", "postgres://elsewhere")
	t.Setenv("LANG", "C")

	env := strings.Join(CleanEnv(), "\n") + "\n"

	for setting, want := range map[string]bool{"CAUSEWAY_LOG_LEVEL=": false, "CAUSEWAY_POSTGRES_BIN=/opt/postgres\n": true,
		"PGHOST=": false, "GOMAXPROCS=": false, "GOGC=": false, "DATABASE_URL=": false, "LANG=C\n": true, "PATH=": true} {
		if strings.Contains(env, setting) != want {
			t.Errorf("%q is kept: %v; want %v", setting, !want, want)
		}
	}
}
