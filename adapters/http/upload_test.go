package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"causeway/core/platform"
)

// newUploadFixture returns an API with one operation that accepts a file and returns what
// it received.
func newUploadFixture(t *testing.T, change ...func(*Operation)) *fixture {
	t.Helper()
	f := newUnbuiltFixture(t)
	op := Operation{ID: "store", Path: "/depot", Summary: "Store a file", Description: "Keeps it.", Tag: "Parcels",
		Permission: platform.Manage,
		MaxBody:    400, Timeout: time.Minute, Upload: &Upload{Types: []string{"text/csv"}, Description: "The file."}}
	for _, change := range change {
		change(&op)
	}
	type wanted struct {
		Shelf string `query:"shelf" required:"true" maxLength:"5" doc:"Where to put it."`
	}
	type stored struct {
		Shelf   string `json:"shelf" doc:"Where it is."`
		Content string `json:"content" doc:"What is in it."`
	}
	Post(f.API, op,
		func(_ context.Context, call Call, in *wanted) (stored, error) {
			content, err := io.ReadAll(call.File)
			return stored{in.Shelf, string(content)}, err
		}, func(s stored) stored { return s })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	return f
}

func multipartForm(boundary string, parts ...string) string {
	return "--" + boundary + "\r\n" + strings.Join(parts, "\r\n--"+boundary+"\r\n") + "\r\n--" + boundary + "--\r\n"
}

const (
	csvFilePart = "Content-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\na,b\n"
	shelfPart   = "Content-Disposition: form-data; name=\"shelf\"\r\n\r\ntop"
)

func TestUpload_FileOrForm(t *testing.T) {
	t.Parallel()
	// A file is sent as the body or in a form, whose other parts are query parameters; any
	// other body is refused.
	f := newUploadFixture(t)
	csv, multi := withHeader("Content-Type", "text/csv; charset=utf-8"), withHeader("Content-Type", "multipart/form-data; boundary=xyz")
	for name, c := range map[string]struct {
		path, body string
		kind       requestOption
		status     int
		want       string
	}{
		"as it is":                  {"/depot?shelf=top", "a,b\n", csv, 200, `{"shelf":"top","content":"a,b\n"}`},
		"in a form":                 {"/depot", multipartForm("xyz", shelfPart, csvFilePart), multi, 200, `{"shelf":"top","content":"a,b\n"}`},
		"in a form, with the query": {"/depot?shelf=low", multipartForm("xyz", csvFilePart), multi, 200, `{"shelf":"low","content":"a,b\n"}`},
		"nothing":                   {"/depot?shelf=top", "", csv, 200, `{"shelf":"top","content":""}`},
		"without a parameter":       {"/depot", "a,b\n", csv, 400, "shelf"},
		"a parameter too long": {"/depot", multipartForm("xyz", strings.Replace(shelfPart, "top", "cellar", 1), csvFilePart),
			multi, 400, "shelf"},
		"a form without a file": {"/depot", multipartForm("xyz", shelfPart), multi, 400, "file"},
		"no form":               {"/depot", "a,b\n", multi, 400, "file"},
		"a form cut off": {"/depot", strings.TrimSuffix(multipartForm("xyz", csvFilePart), "\r\n--xyz--\r\n"), multi, 400,
			"INVALID_REQUEST_FORMAT"},
		"JSON":      {"/depot?shelf=top", "{}", withHeader("Content-Type", "application/json"), 415, "UNSUPPORTED_MEDIA_TYPE"},
		"too large": {"/depot?shelf=top", strings.Repeat("a", 401), csv, 413, "PAYLOAD_TOO_LARGE"},
		"no text in a part": {"/depot", multipartForm("xyz", strings.Replace(shelfPart, "top", "\xff", 1), csvFilePart), multi, 400,
			"INVALID_REQUEST_FORMAT"},
	} {
		got := f.do("POST", c.path, c.body, c.kind)
		if got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: %d %s, want %d %s", name, got.status, got.body, c.status, c.want)
		}
	}
}

func TestUpload_IdempotentAcrossFormEncodings(t *testing.T) {
	t.Parallel()
	// The same file with the same key is the same request, whatever the form boundary;
	// another file is not.
	f := newUploadFixture(t)
	send := func(boundary, file string) reply {
		return f.do("POST", "/depot", multipartForm(boundary, shelfPart, file),
			withHeader("Content-Type", "multipart/form-data; boundary="+boundary), withKey("k"))
	}
	first, again, other := send("one", csvFilePart), send("two", csvFilePart), send("two", csvFilePart+"c")
	if first.status != 200 || again.body != first.body || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%+v, and again %+v", first, again)
	}
	if other.status != 422 {
		t.Errorf("another file: %d %s", other.status, other.body)
	}
}

func TestUpload_IsDescribed(t *testing.T) {
	t.Parallel()
	// The document describes the file and the other form fields.
	got := newUploadFixture(t).do("GET", "/openapi.json", "")
	var document any
	if err := json.Unmarshal([]byte(got.body), &document); err != nil {
		t.Fatal(err)
	}
	content := lookup(document, "paths", "/depot", "post", "requestBody", "content")
	if format := jsonText(lookup(content, "text/csv", "schema", "format")); format != `"binary"` {
		t.Errorf("a file is %s", format)
	}
	if shelf := jsonText(lookup(content, "multipart/form-data", "schema", "properties", "shelf",
		"description")); shelf != `"Where to put it."` {
		t.Errorf("a form has the shelf %s", shelf)
	}
}
