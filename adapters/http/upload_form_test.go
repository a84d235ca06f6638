package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"causeway/core/fault"
	"causeway/core/platform"
)

// newFormFixture returns an API with one operation that accepts a form, calls handle with its file,
// and returns what it received.
func newFormFixture(t *testing.T, handle func(*FormFile), configure ...func(*Config)) *fixture {
	t.Helper()
	f := newUnbuiltFixture(t, configure...)
	type wanted struct {
		Shelf string `query:"shelf" required:"true" maxLength:"5" doc:"Where to put it."`
	}
	type stored struct {
		Shelf   string `json:"shelf" doc:"Where it is."`
		Name    string `json:"name" doc:"What it is called."`
		Content string `json:"content" doc:"What is in it."`
	}
	Post(f.API, Operation{ID: "frame", Path: "/frames", Summary: "Frame a picture", Description: "Keeps it.", Tag: "Parcels",
		Permission: platform.Manage,
		MaxBody:    1 << 20, Timeout: time.Minute, Upload: &Upload{Form: true, Description: "The picture."}},
		func(_ context.Context, call Call, in *wanted) (stored, error) {
			if handle != nil {
				handle(call.FormFile)
			}
			if call.FormFile == nil || in.Shelf == "" {
				return stored{}, fault.Invalid(fault.Field{Field: "file", Message: "is required"}, fault.Field{Field: "shelf", Message: "is required"})
			}
			content, err := io.ReadAll(io.NewSectionReader(call.FormFile, 0, min(call.FormFile.Size, 100)))
			return stored{in.Shelf, call.FormFile.Name, string(content)}, err
		}, func(s stored) stored { return s })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	return f
}

const picturePart = "Content-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\npicture"

func TestUploadForm_FieldsAndFileInAnyOrder(t *testing.T) {
	t.Parallel()
	// The fields of a form are parameters, before or after the file. A form is whole, and has each
	// part once; anything else is refused with what is wrong.
	f := newFormFixture(t, nil)
	multi := withHeader("Content-Type", "multipart/form-data; boundary=xyz")
	whole := multipartForm("xyz", shelfPart, picturePart)
	for name, c := range map[string]struct {
		path, body string
		kind       requestOption
		status     int
		want       string
	}{
		"the file last": {"/frames", whole, multi, 200, `{"shelf":"top","name":"a.png","content":"picture"}`},
		"the file first": {"/frames", multipartForm("xyz", picturePart, shelfPart), multi, 200,
			`{"shelf":"top","name":"a.png","content":"picture"}`},
		"a name beyond ASCII": {"/frames", strings.Replace(whole, `filename="a.png"`, "filename*=UTF-8''K%C3%B6ln.png", 1),
			multi, 200, `Köln.png`},
		"an empty file":          {"/frames", strings.Replace(whole, "picture\r", "\r", 1), multi, 200, `"content":""`},
		"no file":                {"/frames", multipartForm("xyz", shelfPart), multi, 400, "file"},
		"no field":               {"/frames", multipartForm("xyz", picturePart), multi, 400, "shelf"},
		"a field in the URL":     {"/frames?shelf=top", multipartForm("xyz", picturePart), multi, 400, "must be a part of the form"},
		"two files":              {"/frames", multipartForm("xyz", shelfPart, picturePart, picturePart), multi, 400, "file: must be one part"},
		"two fields":             {"/frames", multipartForm("xyz", shelfPart, shelfPart, picturePart), multi, 400, "shelf: must be one part"},
		"no text in a field":     {"/frames", strings.Replace(whole, "top", "\xff", 1), multi, 400, "INVALID_REQUEST_FORMAT"},
		"a part without a name":  {"/frames", strings.Replace(whole, `; name="shelf"`, "", 1), multi, 400, "INVALID_REQUEST_FORMAT"},
		"cut off in the file":    {"/frames", strings.TrimSuffix(whole, "ture\r\n--xyz--\r\n"), multi, 400, "INVALID_REQUEST_FORMAT"},
		"cut off after the file": {"/frames", strings.TrimSuffix(whole, "--\r\n"), multi, 400, "INVALID_REQUEST_FORMAT"},
		"too many fields": {"/frames", multipartForm("xyz", slices.Repeat([]string{strings.Replace(shelfPart, "shelf", "x", 1)}, 40)...),
			multi, 400, "x: must be one part"},
		"no boundary":           {"/frames", whole, withHeader("Content-Type", "multipart/form-data"), 400, "INVALID_REQUEST_FORMAT"},
		"JSON":                  {"/frames", "{}", withHeader("Content-Type", "application/json"), 415, "multipart/form-data"},
		"the file alone":        {"/frames", "picture", withHeader("Content-Type", "image/png"), 415, "multipart/form-data"},
		"a file of the maximum": {"/frames", strings.Replace(whole, "picture", strings.Repeat("p", 1<<20), 1), multi, 200, "pppp"},
		"a larger file":         {"/frames", strings.Replace(whole, "picture", strings.Repeat("p", 1<<20+1), 1), multi, 413, "1 MiB"},
		"a larger body":         {"/frames", strings.Replace(whole, "picture", strings.Repeat("p", 3<<20), 1), multi, 413, "1 MiB"},
		"a large field":         {"/frames", strings.Replace(whole, "top", strings.Repeat("t", 70<<10), 1), multi, 413, "PAYLOAD_TOO_LARGE"},
	} {
		got := f.do("POST", c.path, c.body, c.kind)
		if got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: %d %.300s, want %d %s", name, got.status, got.body, c.status, c.want)
		}
	}
}

func TestUploadForm_UnknownFieldsAreNamed(t *testing.T) {
	t.Parallel()
	// Parts of the form that the operation does not know are ignored and named, and misspelt ones are
	// refused. The form has the fields of the body, so a parameter of the URL is refused whatever its name.
	f := newFormFixture(t, nil)
	send := func(query, part string) reply {
		return f.do("POST", "/frames"+query, multipartForm("xyz", shelfPart, strings.Replace(shelfPart, "shelf", part, 1), picturePart),
			withHeader("Content-Type", "multipart/form-data; boundary=xyz"))
	}
	if got := send("", "colour"); got.status != 200 || got.header.Get(ignoredHeader) != "colour" {
		t.Errorf("%d %s, ignored %q", got.status, got.body, got.header.Get(ignoredHeader))
	}
	if got := send("", "shefl"); got.status != 400 || got.fields["shefl"] != "is not a known field; did you mean shelf?" {
		t.Errorf("a misspelt part: %d %s", got.status, got.body)
	}
	for _, name := range []string{"utm_source", "shefl"} {
		if got := send("?"+name+"=x", "colour"); got.status != 400 || got.fields[name] != "is not a known parameter; this operation has none" {
			t.Errorf("%s in the URL: %d %s", name, got.status, got.body)
		}
	}
}

func TestUploadForm_IdempotencyKeyCoversForm(t *testing.T) {
	t.Parallel()
	// The same fields and file with the same key are the same request, whatever the boundary and the
	// order; another file or field is not.
	f := newFormFixture(t, nil)
	send := func(boundary string, parts ...string) reply {
		return f.do("POST", "/frames", multipartForm(boundary, parts...), withHeader("Content-Type", "multipart/form-data; boundary="+boundary),
			withKey("k"))
	}
	first, again := send("one", shelfPart, picturePart), send("two", picturePart, shelfPart)
	if first.status != 200 || again.body != first.body || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%+v, and again %+v", first, again)
	}
	for name, parts := range map[string][]string{"file": {shelfPart, picturePart + "s"},
		"field": {strings.Replace(shelfPart, "top", "low", 1), picturePart}} {
		if other := send("two", parts...); other.status != 422 {
			t.Errorf("another %s: %d %s", name, other.status, other.body)
		}
	}
}

func TestUploadForm_TooManyAtOnce(t *testing.T) {
	t.Parallel()
	// One platform has three quarters of the slots. A form without a slot is answered at once with a
	// time to retry, and slots are free again when their requests end.
	entered, release := make(chan struct{}), make(chan struct{})
	f := newFormFixture(t, func(*FormFile) { entered <- struct{}{}; <-release }, func(c *Config) { c.MaxUploads = 4 })
	send := func(client string) reply {
		return f.do("POST", "/frames", multipartForm("xyz", shelfPart, picturePart), withHeader("Content-Type", "multipart/form-data; "+
			"boundary=xyz"),
			func(r *http.Request) { r.SetBasicAuth(client, secret) })
	}
	done := make(chan reply)
	for _, client := range []string{clientID, clientID, clientID, "foreign"} {
		go func() { done <- send(client) }()
		<-entered
	}

	for _, client := range []string{clientID, "foreign"} {
		if got := send(client); got.status != 503 || got.header.Get("Retry-After") != "2" || !strings.Contains(got.body, "Too many uploads") {
			t.Errorf("%s: %d %s", client, got.status, got.body)
		}
	}
	for range 4 {
		release <- struct{}{}
		if got := <-done; got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	go func() { <-entered; release <- struct{}{} }()
	if got := send(clientID); got.status != 200 {
		t.Errorf("afterwards: %d %s", got.status, got.body)
	}
}

func TestUploadForm_SlowSenderIsGivenUp(t *testing.T) {
	t.Parallel()
	// A client that stops in the middle of a file is answered after the stall timeout, its connection is
	// closed, and its slot is free again.
	f := newFormFixture(t, nil, func(c *Config) { c.MaxUploads, c.StallTimeout = 1, 100*time.Millisecond })
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
	r := httptest.NewRequest("POST", BasePath+"/frames", nil)
	r.SetBasicAuth(clientID, secret)
	fmt.Fprintf(client, "POST %s/frames HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: multipart/form-data; "+
		"boundary=xyz\r\nContent-Length: 100000\r\n\r\n--xyz\r\n%s",
		BasePath, r.Header.Get("Authorization"), picturePart)

	response, err := http.ReadResponse(bufio.NewReader(client), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.decodeReply(response); got.status != 400 || !response.Close || !strings.Contains(got.body, "INVALID_REQUEST_FORMAT") {
		t.Errorf("%d %s, closed %v", got.status, got.body, response.Close)
	}
	if got := f.do("POST", "/frames", multipartForm("xyz", shelfPart, picturePart), withHeader("Content-Type", "multipart/form-data; "+
		"boundary=xyz")); got.status != 200 {
		t.Errorf("afterwards: %d %s", got.status, got.body)
	}
	stop()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestUploadForm_IsDescribed(t *testing.T) {
	t.Parallel()
	// The document has the fields of the form with those that are required, and no parameters.
	got := newFormFixture(t, nil).do("GET", "/openapi.json", "")
	var document any
	if err := json.Unmarshal([]byte(got.body), &document); err != nil {
		t.Fatal(err)
	}
	operation := lookup(document, "paths", "/frames", "post")
	form := lookup(operation, "requestBody", "content", "multipart/form-data", "schema")
	if required := jsonText(lookup(form, "required")); required != `["file","shelf"]` {
		t.Errorf("required are %s", required)
	}
	if length := jsonText(lookup(form, "properties", "shelf", "maxLength")); length != "5" {
		t.Errorf("the shelf has the length %s", length)
	}
	if parameters := jsonText(lookup(operation, "parameters")); strings.Contains(parameters, "shelf") {
		t.Errorf("parameters are %s", parameters)
	}
}

func TestUploadForm_IsInReference(t *testing.T) {
	t.Parallel()
	// The reference page has the fields of the form, and a command that sends the recorded example.
	f := newUnbuiltFixture(t)
	f.Examples(
		fstest.MapFS{
			"frame.json": {
				Data: []byte(
					`[{"method": "POST", "path": "/frames", "status": 200, "body": {"shelf": "top 'left'", "file": "a.png"}, "response": {}}]`)}})
	type wanted struct {
		Shelf string `query:"shelf" required:"true" doc:"Where to hang it."`
	}
	Post(f.API, Operation{ID: "frame", Path: "/frames", Summary: "Frame a picture", Description: "Keeps it.", Tag: "Parcels",
		Permission: platform.Manage,
		Upload:     &Upload{Form: true, Description: "The picture."}},
		func(context.Context, Call, *wanted) (label, error) { return label{}, nil }, func(l label) label { return l })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	page := html.UnescapeString(f.do("GET", "/docs", "").body)
	for _, want := range []string{"Where to hang it.", `-F 'file=@a.png'`, `-F 'shelf=top '\''left'\'''`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if document := f.do("GET", "/openapi.json", "").body; !strings.Contains(document, `"shelf":"top 'left'"`) {
		t.Error("the example is not in the description")
	}
}

func TestSpool_ReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	// Any part of a spool is read as it was written, in pieces of any size; the file on disk shows
	// none of it and has no name.
	s, err := newSpool()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	random := rand.New(rand.NewPCG(1, 2))
	content := bytes.Repeat([]byte("passport "), 30_000)
	for rest := content; len(rest) > 0; {
		n := min(len(rest), 1+random.IntN(70_000))
		if _, err := s.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}

	for range 200 {
		from := random.IntN(len(content))
		part := make([]byte, 1+random.IntN(1000))
		n, err := s.ReadAt(part, int64(from))
		if want := min(len(part), len(content)-from); n != want || !bytes.Equal(part[:n], content[from:from+n]) ||
			errors.Is(err, io.EOF) != (n < len(part)) {
			t.Fatalf("at %d: %d bytes, %v, want %d", from, n, err, want)
		}
	}
	if _, err := s.ReadAt(make([]byte, 1), int64(len(content))); !errors.Is(err, io.EOF) {
		t.Errorf("behind the end: %v", err)
	}
	stored := make([]byte, 1000)
	if _, err := s.file.ReadAt(stored, 0); err != nil || bytes.Contains(stored, []byte("pass")) {
		t.Errorf("stored in plain text, %v", err)
	}
}

func FuzzUploadForm(f *testing.F) {
	// No form makes the service panic or fail with an internal error.
	f.Add(multipartForm("xyz", shelfPart, picturePart))
	f.Add(multipartForm("xyz", picturePart, shelfPart, shelfPart))
	f.Add("--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename*=UTF-8''%ff\r\n\r\n\r\n--xyz--")
	f.Add("--xyz\n\n")
	var api *fixture
	f.Fuzz(func(t *testing.T, body string) {
		if api == nil {
			api = newFormFixture(t, nil)
		}
		api.t = t
		got := api.do("POST", "/frames", body, withHeader("Content-Type", "multipart/form-data; boundary=xyz"))
		if got.status >= 500 {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}
