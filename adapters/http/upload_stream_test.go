package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"causeway/core/platform"
)

func streamed(op *Operation) { op.Upload.Stream = true }

func TestUploadStream_FileOrForm(t *testing.T) {
	t.Parallel()
	// A streamed file is sent as the body or in a form. A request that is too large or not complete
	// is refused, also if that is noticed only at the end of the file.
	f := newUploadFixture(t, streamed)
	csv, multi := withHeader("Content-Type", "text/csv; charset=utf-8"), withHeader("Content-Type", "multipart/form-data; boundary=xyz")
	unknownLength := func(r *http.Request) { r.ContentLength = -1 }
	for name, c := range map[string]struct {
		path, body string
		options    []requestOption
		status     int
		want       string
	}{
		"as it is": {"/depot?shelf=top", "a,b\n", []requestOption{csv}, 200, `{"shelf":"top","content":"a,b\n"}`},
		"in a form": {"/depot", multipartForm("xyz", shelfPart, csvFilePart), []requestOption{multi}, 200,
			`{"shelf":"top","content":"a,b\n"}`},
		"with parts after it": {"/depot?shelf=low", multipartForm("xyz", csvFilePart, shelfPart), []requestOption{multi}, 200,
			`{"shelf":"low","content":"a,b\n"}`},
		"nothing":             {"/depot?shelf=top", "", []requestOption{csv}, 200, `{"shelf":"top","content":""}`},
		"without a parameter": {"/depot", "a,b\n", []requestOption{csv}, 400, "shelf"},
		"two files":           {"/depot?shelf=low", multipartForm("xyz", csvFilePart, csvFilePart), []requestOption{multi}, 400, "file"},
		"without a file":      {"/depot", multipartForm("xyz", shelfPart), []requestOption{multi}, 400, "file"},
		"no boundary": {"/depot", "a,b\n", []requestOption{withHeader("Content-Type", "multipart/form-data")}, 400,
			"INVALID_REQUEST_FORMAT"},
		"no form": {"/depot", "a,b\n", []requestOption{multi}, 400, "INVALID_REQUEST_FORMAT"},
		"a form cut off": {"/depot?shelf=low", strings.TrimSuffix(multipartForm("xyz", csvFilePart), "\r\n--xyz--\r\n"),
			[]requestOption{multi}, 400, "INVALID_REQUEST_FORMAT"},
		"cut off after a part": {"/depot?shelf=low", strings.TrimSuffix(multipartForm("xyz", csvFilePart, shelfPart), "--xyz--\r\n"),
			[]requestOption{multi}, 400, "INVALID_REQUEST_FORMAT"},
		"JSON": {"/depot?shelf=top", "{}", []requestOption{withHeader("Content-Type", "application/json")}, 415,
			"UNSUPPORTED_MEDIA_TYPE"},
		"too large":            {"/depot?shelf=top", strings.Repeat("a", 401), []requestOption{csv}, 413, "PAYLOAD_TOO_LARGE"},
		"too large at its end": {"/depot?shelf=top", strings.Repeat("a", 401), []requestOption{csv, unknownLength}, 413, "PAYLOAD_TOO_LARGE"},
		"form too large": {"/depot?shelf=top", multipartForm("xyz", csvFilePart+strings.Repeat("a", 401)),
			[]requestOption{multi, unknownLength}, 413, "PAYLOAD_TOO_LARGE"},
		"field too large": {"/depot", multipartForm("xyz", shelfPart+strings.Repeat("a", maxFormFieldBytes), csvFilePart),
			[]requestOption{multi, unknownLength}, 413, "PAYLOAD_TOO_LARGE"},
		"no text in a part": {"/depot", multipartForm("xyz", strings.Replace(shelfPart, "top", "\xff", 1), csvFilePart),
			[]requestOption{multi}, 400, "INVALID_REQUEST_FORMAT"},
		"many parts": {"/depot?shelf=low",
			multipartForm("xyz", append(strings.Split(strings.Repeat("\r\n-", 40), "-"), csvFilePart)...), []requestOption{multi, unknownLength},
			400, "INVALID_REQUEST_FORMAT"},
	} {
		f := f
		if name == "field too large" || name == "many parts" {
			f = newUploadFixture(t, streamed, func(op *Operation) { op.MaxBody = 1 << 20 })
		}
		got := f.do("POST", c.path, c.body, c.options...)
		if got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: %d %s, want %d %s", name, got.status, got.body, c.status, c.want)
		}
	}
}

func TestUploadStream_IdempotencyKeyCoversFile(t *testing.T) {
	t.Parallel()
	// The same file with the same key is the same request, whatever the form; another file is not,
	// and the key of a request that did not arrive whole stays free.
	f := newUploadFixture(t, streamed)
	send := func(boundary, file string) reply {
		return f.do("POST", "/depot?shelf=low", multipartForm(boundary, file),
			withHeader("Content-Type", "multipart/form-data; boundary="+boundary), withKey("k"))
	}
	cut := f.do("POST", "/depot?shelf=low", multipartForm("one", csvFilePart)[:20], withHeader("Content-Type", "multipart/form-data; "+
		"boundary=one"), withKey("k"))
	first, again, other := send("one", csvFilePart), send("two", csvFilePart), send("two", csvFilePart+"c")
	if cut.status != 400 || first.status != 200 || again.body != first.body || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("cut %+v\nfirst %+v\nagain %+v", cut, first, again)
	}
	if other.status != 422 {
		t.Errorf("another file: %d %s", other.status, other.body)
	}
	asFile := f.do("POST", "/depot?shelf=low", "a,b\n", withHeader("Content-Type", "text/csv"), withKey("k"))
	if asFile.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the file as the body: %d %s", asFile.status, asFile.body)
	}
}

func TestUploadStreamBody_FormInAnyOrder(t *testing.T) {
	t.Parallel()
	// A file that is the body is streamed. A form may have its file before the parameters, and is the
	// same request as the file alone.
	f := newUploadFixture(t, func(op *Operation) { op.Upload.StreamBody = true })
	form := multipartForm("xyz", csvFilePart, shelfPart)
	inForm := f.do("POST", "/depot", form, withHeader("Content-Type", "multipart/form-data; boundary=xyz"), withKey("k"))
	asBody := f.do("POST", "/depot?shelf=top", "a,b\n", withHeader("Content-Type", "text/csv"), withKey("k"))
	if inForm.status != 200 || asBody.body != inForm.body || asBody.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("form %+v\nbody %+v", inForm, asBody)
	}
	if other := f.do("POST", "/depot?shelf=top", "a,b\n", withHeader("Content-Type", "image/png")); other.status != 415 {
		t.Errorf("another type: %+v", other)
	}
}

func TestUploadStream_ArrivesWhileSent(t *testing.T) {
	t.Parallel()
	// The handler reads the beginning of a file while the client has not sent its end. A client that
	// then sends nothing is given up after the stall timeout.
	f := newUnbuiltFixture(t, func(c *Config) { c.StallTimeout = 100 * time.Millisecond })
	arrived, failed := make(chan string, 1), make(chan error, 1)
	Post(f.API, Operation{ID: "store", Path: "/depot", Summary: "Store", Description: "Keeps it.", Tag: "Parcels", Permission: platform.Manage,
		MaxBody: 1 << 20,
		Timeout: time.Minute, Upload: &Upload{Types: []string{"text/csv"}, Description: "The file.", Stream: true}},
		func(_ context.Context, call Call, _ *struct{}) (label, error) {
			line, err := bufio.NewReaderSize(call.File, 16).ReadString('\n')
			arrived <- line
			if err == nil {
				_, err = io.Copy(io.Discard, call.File)
			}
			failed <- err
			return label{}, err
		}, func(l label) label { return l })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- f.Serve(ctx, listener, DefaultTimeouts) }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r, _ := http.NewRequest("POST", "http://"+listener.Addr().String()+BasePath+"/depot", nil)
	r.SetBasicAuth(clientID, secret)
	fmt.Fprintf(client, "POST %s/depot HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: text/csv\r\nContent-Length: "+
		"1000\r\n\r\na,b\n0123456789ab", BasePath, r.Header.Get("Authorization"))

	if line := <-arrived; line != "a,b\n" {
		t.Errorf("arrived %q", line)
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "16 bytes of the file arrived") {
		t.Errorf("after the stall: %v", err)
	}
	response, err := http.ReadResponse(bufio.NewReader(client), r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 400 || !response.Close {
		t.Errorf("status %d, closed %v", response.StatusCode, response.Close)
	}
	stop()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
