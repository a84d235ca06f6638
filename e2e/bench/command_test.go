package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

func TestRunMeasured(t *testing.T) {
	// A program's words, time and memory are told; one that fails tells its words too.
	t.Parallel()
	done, err := runMeasured(t.Context(), []string{"WORD=hello"}, "/bin/sh", "-c", "echo $WORD; read -t 1 x </dev/null; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
	if err != nil || done.output != "hello\n" || done.duration <= 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if done.peakMemory < 100_000 || done.peakMemory > 50_000_000 {
		t.Errorf("a shell had %d bytes at its largest", done.peakMemory)
	}
	if _, err := runMeasured(t.Context(), nil, "/bin/sh", "-c", "echo in trouble >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "in trouble") {
		t.Errorf("got %v; want the last words", err)
	}
	if _, err := runMeasured(t.Context(), nil, "/does/not/exist"); err == nil {
		t.Error("a program that is not there was run")
	}
}

func TestMeasureMemoryGrowth(t *testing.T) {
	// What a process takes while something is done shows, and what it took before does not.
	var held []byte
	const large = 64 << 20
	g, err := measureMemoryGrowth(os.Getpid(), func() error {
		held = bytes.Repeat([]byte{1}, large)
		return nil
	})
	if err != nil || g.before <= 0 || g.peak-g.before < large/2 {
		t.Errorf("%+v, %v: %d bytes were taken", g, err, len(held))
	}
	if _, err := measureMemoryGrowth(1<<30, func() error { return nil }); err == nil {
		t.Error("a process that does not exist has grown")
	}
}

func TestTarget_Stream(t *testing.T) {
	// A document is counted as it comes; one that is refused or breaks off is an error.
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch id, _, _ := r.BasicAuth(); {
		case id != "id":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == basePath+"/whole":
			_, _ = w.Write([]byte("a,b\n1,2\n"))
		case r.URL.Path == basePath+"/broken":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("a,b\n"))
		case r.Method == http.MethodPost && r.Header.Get("Content-Type") == "text/csv":
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte("{}"))
		default:
			http.Error(w, "not that", http.StatusBadRequest)
		}
	}))
	defer service.Close()
	us := newTarget(service.Listener.Addr().String(), "id", "secret")

	var file bytes.Buffer
	d, err := us.stream(t.Context(), "/whole", &file)
	if err != nil || d.bytes != 8 || d.duration <= 0 || file.String() != "a,b\n1,2\n" {
		t.Errorf("%+v, %v: %q", d, err, &file)
	}
	if _, err := us.stream(t.Context(), "/broken", &file); err == nil {
		t.Error("a document that breaks off is whole")
	}
	if _, err := us.stream(t.Context(), "/other", &file); err == nil || !strings.Contains(err.Error(), "not that") {
		t.Errorf("got %v; want what was answered", err)
	}
	if status, body, err := us.upload(t.Context(), "/files", "text/csv", []byte("x")); status != 201 || string(body) != "{}" || err != nil {
		t.Errorf("%d %q %v", status, body, err)
	}
	if _, _, err := us.upload(t.Context(), "/files", "text/html", []byte("x")); err == nil {
		t.Error("a refused file is taken")
	}
}

func TestFormatDurationAndRate(t *testing.T) {
	// Times and rates have three digits that mean something.
	t.Parallel()
	for took, want := range map[time.Duration]string{
		1234 * time.Microsecond: "1.23 ms", 45 * time.Millisecond: "45.0 ms", 999 * time.Millisecond: "999 ms", time.Second: "1.00 s",
		9870 * time.Millisecond: "9.87 s", 64_321 * time.Millisecond: "64.3 s", 125 * time.Second: "125 s",
	} {
		if got := formatDuration(took); got != want {
			t.Errorf("%s: %s; want %s", took, got, want)
		}
	}
	for n, want := range map[int64]string{1: "1", 999: "999", 1234: "1230", 98_765: "98800"} {
		if got := formatRate(n, time.Second); got != want {
			t.Errorf("%d: %s; want %s", n, got, want)
		}
	}
}
