package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

func TestProcess_Stop(t *testing.T) {
	// A program is asked to stop and does; one that ended badly tells its last words.
	t.Parallel()
	dir := t.TempDir()
	good, err := startProcess("good", filepath.Join(dir, "good"), nil, "/bin/sh", "-c", "trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done")
	if err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, good, "up")
	if err := good.stop(); err != nil {
		t.Error(err)
	}

	bad, err := startProcess("bad", filepath.Join(dir, "bad"), []string{"WORD=trouble"}, "/bin/sh", "-c", "echo in $WORD; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	<-bad.exited
	if err := bad.stop(); err == nil || !strings.Contains(err.Error(), "in trouble") {
		t.Errorf("got %v; want the last words", err)
	}

	if _, err := startProcess("none", filepath.Join(dir, "none"), nil, "/does/not/exist"); err == nil {
		t.Error("a program that is not there was started")
	}
}

// awaitOutput returns when the program has said something.
func awaitOutput(t *testing.T, p *process, words string) {
	t.Helper()
	for !strings.Contains(p.lastLines(), words) {
		select {
		case <-p.exited:
			t.Fatalf("%s ended: %v", p.name, p.err)
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		default:
		}
	}
}

func TestCleanEnvironment(t *testing.T) {
	// What is set for somebody else does not change what is measured.
	t.Setenv("CAUSEWAY_LOG_LEVEL", "debug")
	t.Setenv("CAUSEWAY_POSTGRES_BIN", "/opt/postgres")
	t.Setenv("PGHOST", "elsewhere")
	t.Setenv("GOMAXPROCS", "1")
	t.Setenv("DATABASE_URL", "postgres://elsewhere")
	t.Setenv("LANG", "C")

	kept := strings.Join(cleanEnvironment(), "\n") + "\n"

	for setting, want := range map[string]bool{"CAUSEWAY_LOG_LEVEL=": false, "CAUSEWAY_POSTGRES_BIN=/opt/postgres\n": true,
		"PGHOST=": false, "GOMAXPROCS=": false, "DATABASE_URL=": false, "LANG=C\n": true, "PATH=": true} {
		if strings.Contains(kept, setting) != want {
			t.Errorf("%q is kept: %v; want %v", setting, !want, want)
		}
	}
}

func TestProcess_AwaitReady(t *testing.T) {
	// Ready is when /readyz answers 200, not before; a program that ends will never be.
	t.Parallel()
	var asked atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer service.Close()
	p := &process{exited: make(chan struct{})}
	address := service.Listener.Addr().String()

	if err := p.awaitReady(t.Context(), address); err != nil || asked.Load() != 3 {
		t.Errorf("%v after %d questions; want 3", err, asked.Load())
	}

	asked.Store(-1 << 40)
	p.err = syscall.ECHILD
	close(p.exited)
	if err := p.awaitReady(t.Context(), address); err == nil || !strings.Contains(err.Error(), syscall.ECHILD.Error()) {
		t.Errorf("got %v; want why it ended", err)
	}
}
