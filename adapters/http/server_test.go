package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/platform"
)

// startServer serves the fixture on a real connection until the test ends.
func (f *fixture) startServer(timeouts Timeouts) (base string, stop context.CancelFunc, stopped <-chan error) {
	f.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Serve(ctx, listener, timeouts) }()
	f.t.Cleanup(cancel)
	return "http://" + listener.Addr().String(), cancel, done
}

func (f *fixture) send(method, url string, body io.Reader) reply {
	f.t.Helper()
	r, err := http.NewRequest(method, url, body)
	if err != nil {
		f.t.Fatal(err)
	}
	r.SetBasicAuth(clientID, secret)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	return f.decodeReply(response)
}

// endlessReader is a body without end that counts the bytes read.
type endlessReader struct{ bytesRead atomic.Int64 }

func (e *endlessReader) Read(p []byte) (int, error) {
	e.bytesRead.Add(int64(len(p)))
	return copy(p, bytes.Repeat([]byte{' '}, len(p))), nil
}

func TestReadBody_TooLargeIsRejectedEarly(t *testing.T) {
	t.Parallel()
	// A body of 20 MB is refused without reading it if its length is declared, and soon
	// after the limit otherwise; the client gets the error in both cases.
	f := newFixture(t)
	base, _, _ := f.startServer(DefaultTimeouts)

	declared := f.send("POST", base+BasePath+"/parcels", bytes.NewReader(make([]byte, 20<<20)))
	if declared.status != 413 || declared.error.Code != "PAYLOAD_TOO_LARGE" || !strings.Contains(declared.error.Message, "1 MiB") {
		t.Errorf("declared: %d %s", declared.status, declared.body)
	}

	source := &endlessReader{}
	streamed := f.send("POST", base+BasePath+"/parcels", io.LimitReader(source, 20<<20))
	if streamed.status != 413 || source.bytesRead.Load() > 12<<20 {
		t.Errorf("streamed: %d %s, %d bytes taken", streamed.status, streamed.body, source.bytesRead.Load())
	}
}

func TestReadBody_ExactLimitIsAccepted(t *testing.T) {
	t.Parallel()
	// A body of exactly the limit is accepted, one more byte is not; an operation can have
	// its own limit.
	f := newUnbuiltFixture(t)
	Post(f.API, Operation{ID: "echo", Path: "/echo", Summary: "Echo", Tag: "Parcels", Permission: platform.Transact, MaxBody: 100},
		func(_ context.Context, _ Call, in *struct{ Body struct{ Text string } }) (string, error) {
			return in.Body.Text, nil
		}, func(s string) label { return label{Color: s} })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	body := func(size int) string { return `{"Text":"` + strings.Repeat("x", size-11) + `"}` }

	if got := f.do("POST", "/echo", body(100)); got.status != 200 {
		t.Errorf("100 bytes: %d %s", got.status, got.body)
	}
	if got := f.do("POST", "/echo", body(101)); got.status != 413 || !strings.Contains(got.body, "100 bytes") {
		t.Errorf("101 bytes: %d %s", got.status, got.body)
	}
}

func TestReadBody_IncompleteBody(t *testing.T) {
	t.Parallel()
	// A client that sends less than it declared gets an error.
	f := newFixture(t)
	base, _, _ := f.startServer(Timeouts{ReadHeader: time.Minute, Read: 2 * time.Second, Write: time.Minute, Idle: time.Minute,
		Drain: time.Second})
	connection, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()

	fmt.Fprintf(connection, "POST %s/parcels HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\nContent-Length: 50\r\n\r\n{", BasePath,
		basicCredentials(clientID))
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}

	if got := f.decodeReply(response); got.status != 400 || got.error.Code != "INVALID_REQUEST_FORMAT" {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestReadBody_DeclaredLengthTakesNoMemory(t *testing.T) {
	// Not parallel: it measures all memory that is allocated meanwhile. Connections that declare
	// a body of 10 MB and send none of it cost a small part of that.
	const connections, declared = 1000, 10 << 20
	f := newUnbuiltFixture(t)
	Post(f.API, Operation{ID: "store", Path: "/depot", Summary: "Store", Tag: "Parcels", Permission: platform.Transact, MaxBody: 64 << 20},
		func(_ context.Context, _ Call, in *struct{ Body struct{ Text string } }) (string, error) {
			return in.Body.Text, nil
		},
		func(s string) label { return label{Color: s} })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	base, _, _ := f.startServer(Timeouts{ReadHeader: 10 * time.Second, Read: 3 * time.Second, Write: time.Minute, Idle: time.Minute,
		Drain: time.Second})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)

	open := make([]net.Conn, connections)
	for i := range open {
		connection, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		fmt.Fprintf(connection, "POST %s/depot HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\nContent-Length: %d\r\n\r\n", BasePath,
			basicCredentials(clientID), declared)
		open[i] = connection
	}
	for _, connection := range open {
		response, err := http.ReadResponse(bufio.NewReaderSize(connection, 512), nil)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != 400 {
			t.Fatalf("status %d, want that the body is incomplete", response.StatusCode)
		}
	}

	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > connections*128<<10 {
		t.Errorf("%d connections that sent no body took %d MB", connections, used>>20)
	}
}

func basicCredentials(client string) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(client, secret)
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")
}

func TestServe_ReadHeaderTimeout(t *testing.T) {
	t.Parallel()
	// A connection that never finishes its headers is closed.
	f := newFixture(t)
	base, _, _ := f.startServer(Timeouts{ReadHeader: 50 * time.Millisecond, Read: time.Minute, Write: time.Minute, Idle: time.Minute,
		Drain: time.Second})
	connection, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "GET %s/parcels HTTP/1.1\r\nHost:", BasePath)
	if err := connection.SetReadDeadline(time.Now().Add(3 * time.Minute)); err != nil {
		t.Fatal(err)
	}

	_, err = io.ReadAll(connection)

	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Error("the connection is still open")
	}
}

func TestServe_ShutdownCompletesRunningRequests(t *testing.T) {
	t.Parallel()
	// A stopping server is not ready, accepts no new requests, waits for the running
	// request and returns nil.
	f := newFixture(t)
	entered, proceed := make(chan struct{}), make(chan struct{})
	ran := f.handler
	f.handler = func(ctx context.Context, call Call, in *sendParcel) (parcel, error) {
		close(entered)
		<-proceed
		if ctx.Err() != nil {
			t.Error("the running request was cut off")
		}
		return ran(ctx, call, in)
	}
	base, stop, stopped := f.startServer(DefaultTimeouts)
	answer := make(chan reply)
	go func() { answer <- f.send("POST", base+BasePath+"/parcels", strings.NewReader(validParcel)) }()
	<-entered

	stop()
	<-f.draining.started
	readyStatus, readyBody := f.readyz()
	close(proceed)

	if got := <-answer; got.status != 201 {
		t.Errorf("the running request: %d %s", got.status, got.body)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if readyStatus != 503 || readyBody != `{"status":"not ready"}` {
		t.Errorf("readyz: %d %s", readyStatus, readyBody)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(base, "http://")); err == nil {
		t.Error("new connections are still taken")
	}
}

func TestServe_ShutdownTimesOut(t *testing.T) {
	t.Parallel()
	// A request that does not finish in time is aborted, and Serve returns an error.
	f := newFixture(t)
	entered, proceed := make(chan struct{}), make(chan struct{})
	defer close(proceed)
	f.handler = func(context.Context, Call, *sendParcel) (parcel, error) {
		close(entered)
		<-proceed
		return parcel{}, nil
	}
	timeouts := DefaultTimeouts
	timeouts.Drain = 10 * time.Millisecond
	base, stop, stopped := f.startServer(timeouts)
	go func() {
		r, _ := http.NewRequest("POST", base+BasePath+"/parcels", strings.NewReader(validParcel))
		r.SetBasicAuth(clientID, secret)
		if response, err := http.DefaultClient.Do(r); err == nil {
			response.Body.Close()
		}
	}()
	<-entered

	stop()

	if err := <-stopped; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve: %v", err)
	}
}

func TestServe_ShutdownClosesUnusedConnections(t *testing.T) {
	t.Parallel()
	// A connection without a request neither delays the shutdown nor counts as aborted.
	f := newFixture(t)
	base, stop, stopped := f.startServer(Timeouts{Drain: 2 * time.Second})
	spare, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer spare.Close()
	f.send("GET", base+BasePath+"/parcels", nil) // the server has taken the spare before this

	stop()

	if err := <-stopped; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := spare.Read(make([]byte, 1)); err == nil {
		t.Error("the spare connection is still there")
	}
}

func TestServe_ListenerError(t *testing.T) {
	t.Parallel()
	// If the listener fails, Serve returns the error.
	f := newFixture(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()

	if err := f.Serve(t.Context(), listener, DefaultTimeouts); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve: %v", err)
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	// The UUID of the client is used as request id; any other value is replaced, for every
	// kind of response.
	f := newFixture(t)
	own := "0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"

	if got := f.do("GET", "/parcels", "", withHeader("Request-Id", own)); got.header.Get("Request-Id") != own {
		t.Errorf("own id: %q", got.header.Get("Request-Id"))
	}
	for _, given := range []string{"", "mine", own + "0", strings.Repeat("x", 36), "{" + own[:34] + "}", "Request:" + own} {
		for _, path := range []string{"/parcels", "/nowhere", "/news"} {
			got := f.do("GET", path, "", withHeader("Request-Id", given)).header.Get("Request-Id")
			if _, err := uuid.Parse(got); err != nil || got == given {
				t.Errorf("%s with %q: %q", path, given, got)
			}
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	// The process is alive, and ready if its dependencies are; the reason is only logged.
	var broken error
	f := newFixture(t, func(c *Config) { c.Ready = func(context.Context) error { return broken } })

	if got := f.request("GET", "/healthz", ""); got.status != 200 || got.body != `{"status":"ok"}` {
		t.Errorf("healthz: %d %s", got.status, got.body)
	}
	if status, body := f.readyz(); status != 200 || body != `{"status":"ready"}` {
		t.Errorf("readyz: %d %s", status, body)
	}
	broken = errors.New("postgres://hunter2 is down")
	if status, body := f.readyz(); status != 503 || body != `{"status":"not ready"}` {
		t.Errorf("readyz while broken: %d %s", status, body)
	}
	logged := false
	for _, entry := range f.logs.AllEntries() {
		err, _ := entry.Data["error"].(error)
		logged = logged || errors.Is(err, broken)
	}
	if !logged {
		t.Error("the reason is not in the log")
	}
}

func TestMount(t *testing.T) {
	t.Parallel()
	// A page gets its parameters, headers and status; a panic in it becomes an error
	// response unless the response has started.
	f := newUnbuiltFixture(t)
	f.Mount("GET", "/hosted/{code}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.PathValue("code") {
		case "broken":
			panic("page")
		case "late":
			w.WriteHeader(http.StatusAccepted)
			panic("after the head was sent")
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<p>%s</p>", r.PathValue("code"))
	}))
	f.MountNotFound("/hosted/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<p>no page</p>")
	}))
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/hosted/a/b", nil))
	if w.Code != http.StatusNotFound || w.Body.String() != "<p>no page</p>" {
		t.Errorf("a path without a page: %d %s", w.Code, w.Body)
	}
	if got := f.request("GET", "/other/a", ""); got.status != http.StatusNotFound || got.error.Code != string(fault.NotFound) {
		t.Errorf("a path beside them: %d %s", got.status, got.body)
	}
	if got := f.request("GET", "/hosted/a%20b", ""); got.status != 200 || got.body != "<p>a b</p>" ||
		got.header.Get("Content-Type") != "text/html" {
		t.Errorf("page: %d %v %s", got.status, got.header, got.body)
	}
	if got := f.request("GET", "/hosted/broken", ""); got.status != 500 || got.error.Code != string(fault.InternalError) {
		t.Errorf("broken page: %d %s", got.status, got.body)
	}
	if got := f.request("GET", "/hosted/late", ""); got.status != 202 {
		t.Errorf("page that breaks late: %d %s", got.status, got.body)
	}
}

func TestMultipartForm_FileUpload(t *testing.T) {
	t.Parallel()
	// An operation can accept a multipart form with a file; any other body is refused.
	f := newUnbuiltFixture(t)
	type upload struct {
		RawBody huma.MultipartFormFiles[struct {
			File huma.FormFile `form:"file" required:"true" doc:"The file."`
			Kind string        `form:"kind" enum:"A,B" doc:"What it is."`
		}]
	}
	Post(f.API, Operation{ID: "upload", Path: "/files", Summary: "Upload", Tag: "Parcels", Permission: platform.Manage, MaxBody: 10 << 20},
		func(_ context.Context, _ Call, in *upload) (string, error) {
			data := in.RawBody.Data()
			content, err := io.ReadAll(data.File)
			return fmt.Sprintf("%s of %d bytes", data.Kind, len(content)), err
		}, func(s string) label { return label{Color: s} })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	file, err := w.CreateFormFile("file", "a.pdf")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(make([]byte, 2<<20)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteField("kind", "A"), w.Close()); err != nil {
		t.Fatal(err)
	}

	got := f.do("POST", "/files", form.String(), withHeader("Content-Type", w.FormDataContentType()), withKey("k"))
	again := f.do("POST", "/files", form.String(), withHeader("Content-Type", w.FormDataContentType()), withKey("k"))
	bare := f.do("POST", "/files", "{}")

	if got.status != 200 || !strings.Contains(got.body, "A of 2097152 bytes") || again.body != got.body ||
		again.header.Get("Idempotent-Replayed") == "" {
		t.Errorf("got %d %s, again %s", got.status, got.body, again.body)
	}
	if bare.status != 400 || !strings.Contains(bare.error.Message, "multipart/form-data") {
		t.Errorf("without a form: %d %s", bare.status, bare.body)
	}
}
