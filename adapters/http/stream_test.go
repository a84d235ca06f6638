package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/platform"
)

// newFileFixture returns an API with one operation that returns a file.
func newFileFixture(t *testing.T, write func(ctx context.Context, out io.Writer) error, configure ...func(*Config)) *fixture {
	f := newUnbuiltFixture(t, configure...)
	GetFile(f.API, Operation{ID: "getBook", Path: "/books/{shelf}", Summary: "Get a book", Description: "A book.", Tag: "Parcels",
		Permission: platform.View,
		Errors:     []fault.Code{fault.QuoteNotFound}}, []string{"text/csv"}, func(_ context.Context, _ Call, in *struct {
		Shelf int `path:"shelf" minimum:"1" doc:"Number of the shelf."`
	}) (File, error) {
		if in.Shelf > 9 {
			return File{}, fault.New(fault.QuoteNotFound, "There is no such shelf.")
		}
		return File{Name: "a book.csv", ContentType: "text/csv; charset=utf-8", Write: write}, nil
	})
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestGetFile_StreamsLargeFile(t *testing.T) {
	t.Parallel()
	// A file of any size is streamed completely, with its type and name, even if this
	// takes longer than the timeouts of operations and connections.
	step := make(chan struct{})
	f := newFileFixture(t, func(ctx context.Context, out io.Writer) error {
		for range 3 {
			if _, err := out.Write(bytes.Repeat([]byte{'x'}, 2*streamBufferSize)); err != nil {
				return err
			}
			select {
			case <-step:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}, func(c *Config) { c.RequestTimeout = 50 * time.Millisecond })
	short := time.Second
	base, _, _ := f.startServer(Timeouts{ReadHeader: short, Read: short, Write: short, Idle: time.Minute, Drain: time.Second})

	response := getURL(t, base+BasePath+"/books/1")
	if got := response.Header.Get("Content-Disposition"); got != `attachment; filename="a book.csv"` {
		t.Error(got)
	}
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/csv; charset=utf-8" ||
		response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
	first := make([]byte, streamBufferSize)
	if _, err := io.ReadFull(response.Body, first); err != nil {
		t.Fatalf("the first part does not come while the second is made: %v", err)
	}
	time.AfterFunc(2*short, func() { close(step) }) // longer than any of the limits
	rest, err := io.ReadAll(response.Body)

	if err != nil || len(rest) != 5*streamBufferSize {
		t.Errorf("the rest: %d bytes, %v", len(rest), err)
	}
}

func getURL(t *testing.T, url string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(clientID, secret)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func TestGetFile_EarlyFailureReturnsError(t *testing.T) {
	t.Parallel()
	// An error before the first bytes becomes an error response without file content.
	for name, c := range map[string]struct {
		path   string
		failed error
		status int
		code   string
	}{
		"a fault":           {"/books/1", fault.Invalid(fault.Field{Field: "account", Message: "is not there"}), 400, "INVALID_INPUT"},
		"an error of ours":  {"/books/1", errors.New("secret"), 500, "INTERNAL_ERROR"},
		"before it is made": {"/books/10", nil, 404, "QUOTE_NOT_FOUND"},
		"a bad parameter":   {"/books/x", nil, 400, "INVALID_INPUT"},
	} {
		f := newFileFixture(t, func(_ context.Context, out io.Writer) error {
			_, err := out.Write(bytes.Repeat([]byte{'x'}, streamBufferSize/2))
			return errors.Join(err, c.failed)
		})
		got := f.do("GET", c.path, "")
		if got.status != c.status || got.error.Code != c.code || strings.Contains(got.body, "xx") || strings.Contains(got.body, "secret") ||
			got.header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

func TestGetFile_LateFailureAbortsConnection(t *testing.T) {
	t.Parallel()
	// If writing a file fails midway, by an error or a panic, the client sees an error,
	// and the reason is logged.
	for name, fail := range map[string]func() error{
		"an error": func() error { return errors.New("the ink is out") },
		"a panic":  func() error { panic("the ink is out") },
	} {
		f := newFileFixture(t, func(_ context.Context, out io.Writer) error {
			if _, err := out.Write(make([]byte, 10*streamBufferSize)); err != nil {
				return err
			}
			return fail()
		})
		base, _, _ := f.startServer(DefaultTimeouts)

		response := getURL(t, base+BasePath+"/books/1")
		_, err := io.ReadAll(response.Body)

		if response.StatusCode != 200 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %d, then %v", name, response.StatusCode, err)
		}
		logged := false
		for _, entry := range f.logs.AllEntries() {
			err, _ := entry.Data["error"].(error)
			logged = logged || err != nil && strings.Contains(err.Error(), "the ink is out")
		}
		if !logged {
			t.Errorf("%s: the log does not say why", name)
		}
	}
}

func TestGetFile_StalledReaderTimesOut(t *testing.T) {
	t.Parallel()
	// If the client does not read, writing fails after a while.
	ended := make(chan error, 1)
	f := newFileFixture(t, func(_ context.Context, out io.Writer) error {
		for {
			if _, err := out.Write(make([]byte, 1<<20)); err != nil {
				ended <- err
				return err
			}
		}
	}, func(c *Config) { c.StallTimeout = 100 * time.Millisecond })
	base, _, _ := f.startServer(DefaultTimeouts)

	getURL(t, base+BasePath+"/books/1") // and never read

	select {
	case <-ended:
	case <-time.After(3 * time.Minute):
		t.Error("it is still being written")
	}
}

func TestGetFile_SlowReaderIsEndedAtMaximumDuration(t *testing.T) {
	t.Parallel()
	// A client that reads a little now and then never stalls, and is disconnected after the
	// maximum duration of a file, with an error in the middle of the body.
	const timeout = 500 * time.Millisecond
	ended := make(chan error, 1)
	f := newFileFixture(t, func(ctx context.Context, out io.Writer) error {
		for {
			if _, err := out.Write(make([]byte, 1<<10)); err != nil {
				ended <- err
				return err
			}
		}
	}, func(c *Config) { c.FileTimeout = timeout })
	base, _, _ := f.startServer(DefaultTimeouts)
	begin := time.Now()
	response := getURL(t, base+BasePath+"/books/1")
	var failed error
	for failed == nil {
		select {
		case <-ended: // read what is on its way
			_, failed = io.Copy(io.Discard, response.Body)
		case <-time.After(20 * time.Millisecond):
			_, failed = response.Body.Read(make([]byte, 1))
		}
	}

	if !errors.Is(failed, io.ErrUnexpectedEOF) || time.Since(begin) < timeout {
		t.Errorf("after %s: %v, want an unexpected end", time.Since(begin), failed)
	}
}

func TestGetFile_LateStartIsAnErrorThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	// A file without a first byte at the maximum duration is an error response, also if the
	// write timeout of the server has passed.
	f := newFileFixture(t, func(ctx context.Context, _ io.Writer) error {
		<-ctx.Done()
		return ctx.Err()
	}, func(c *Config) { c.FileTimeout = 400 * time.Millisecond })
	short := 200 * time.Millisecond
	base, _, _ := f.startServer(Timeouts{ReadHeader: time.Minute, Read: time.Minute, Write: short, Idle: time.Minute, Drain: time.Second})

	got := f.decodeReply(getURL(t, base+BasePath+"/books/1"))

	if got.status != 503 || got.header.Get("Retry-After") == "" || !strings.Contains(got.error.Message, "Request a shorter period") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestGetFile_HTTP10IsRejected(t *testing.T) {
	t.Parallel()
	// HTTP/1.0 cannot signal a partial file, so files are refused.
	f := newFileFixture(t, func(_ context.Context, out io.Writer) error {
		_, err := out.Write([]byte("text"))
		return err
	})
	old := func(r *http.Request) { r.Proto, r.ProtoMinor = "HTTP/1.0", 0 }
	if got := f.do("GET", "/books/1", "", old); got.status != 400 || !strings.Contains(got.error.Message, "proxy_http_version 1.1") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := f.do("GET", "/books/1", ""); got.status != 200 || got.body != "text" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestGetFile_IsDescribed(t *testing.T) {
	t.Parallel()
	// The document describes the file response, its type and its errors.
	f := newFileFixture(t, nil)
	got := f.do("GET", "/openapi.json", "")
	var described struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Description string
				Content     map[string]struct{ Schema struct{ Type, Format string } }
			}
		}
	}
	if err := json.Unmarshal([]byte(got.body), &described); err != nil {
		t.Fatal(err)
	}
	responses := described.Paths["/books/{shelf}"]["get"].Responses
	if schema := responses["200"].Content["text/csv"].Schema; schema.Type != "string" || schema.Format != "binary" {
		t.Errorf("success is %+v", responses["200"])
	}
	if !strings.Contains(responses["404"].Description, "QUOTE_NOT_FOUND") || responses["204"].Description != "" {
		t.Errorf("responses are %+v", responses)
	}
}
