package httpapi

import (
	"bytes"
	"encoding/json"
	"html"
	"html/template"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// exampleFiles returns recorded examples by file name.
func exampleFiles(examples map[string]string) fstest.MapFS {
	recorded := fstest.MapFS{}
	for name, text := range examples {
		recorded[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return recorded
}

const (
	sendParcelExamples = `[{"title": "To Bo's", "method": "POST", "path": "/parcels", "body": {"weight": 7, "note": "it's"}, "headers": {"Request-Id": "it's"}, "status": 201, "response": {"weight": 7, "id": "a"}},
		{"title": "A light one", "method": "POST", "path": "/parcels", "body": {"weight": 1}, "status": 201, "response": {"weight": 1, "id": "b"}},
		{"title": "Too late", "method": "POST", "path": "/parcels", "body": {"weight": 8}, "status": 409, "response": {"status": 409, "code": "QUOTE_EXPIRED"}}]`
	parcelArrivedExamples = `[{"title": "Arrived", "method": "POST", "body": {"id": "a"}, "status": 202}]`
)

func TestExamples_RecordedExamplesArePublished(t *testing.T) {
	t.Parallel()
	// The document contains the recorded examples: request bodies of successful requests,
	// and all responses by status, in recording order. The page shows each request as a
	// curl command with its response, and no examples stay in memory.
	f := newUnbuiltFixture(t)
	Webhook[parcelBody](f.API, "parcelArrived", "Parcels", "Receive parcel events", "Sent when a parcel arrives.")
	f.Examples(exampleFiles(map[string]string{
		"sendParcel.json": sendParcelExamples, "parcelArrived.json": parcelArrivedExamples,
		"dropParcel.json":  `[{"method": "DELETE", "path": "/parcels/Quote:1", "status": 204}]`,
		"listParcels.json": `[{"method": "GET", "path": "/parcels?limit=2&sortOrder=asc", "status": 200, "response": {"data": []}}]`,
	}))
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	published := f.do("GET", "/openapi.json", "", withoutCredentials).body
	var document map[string]any
	if err := json.Unmarshal([]byte(published), &document); err != nil {
		t.Fatal(err)
	}
	page := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(f.do("GET", "/docs", "", withoutCredentials).body, ""))

	post := lookup(document, "paths", "/parcels", "post")
	for _, c := range []struct{ got, want string }{
		{jsonText(lookup(post, "requestBody", "content", "application/json", "examples")),
			`{"a-light-one":{"summary":"A light one","value":{"weight":1}},"to-bo-s":{"summary":"To Bo's","value":{"note":"it's","weight":7}}}`},
		{jsonText(lookup(post, "responses", "201", "content", "application/json", "examples", "to-bo-s", "value")), `{"id":"a","weight":7}`},
		{jsonText(lookup(post, "responses", "409", "content", "application/json", "examples", "too-late", "value", "code")), `"QUOTE_EXPIRED"`},
		{jsonText(lookup(document, "webhooks", "parcelArrived", "post", "requestBody", "content", "application/json", "examples", "arrived",
			"value")), `{"id":"a"}`},
		{jsonText(lookup(document, "paths", "/parcels", "get", "responses", "200", "content", "application/json", "examples", "example",
			"value")), `{"data":[]}`},
		{jsonText(lookup(document, "paths", "/parcels/{parcelId}", "get", "responses", "200", "content", "application/json", "examples")),
			`null`},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	if first, second := strings.Index(published, `"to-bo-s"`), strings.Index(published, `"a-light-one"`); first < 0 || first > second {
		t.Errorf("the examples are in another order: at %d and %d", first, second)
	}
	rest := page
	for _, want := range []string{
		"To Bo'sRequest", "curl -X POST 'http://localhost:8080/2025-10-13/parcels' \\\n  -u \"$CLIENT_ID:$CLIENT_SECRET\" \\\n  -H " +
			"\"Idempotency-Key: $(uuidgen)\" \\\n  -H 'Request-Id: it'\\''s'",
		"-d '{\n  \"weight\": 7,\n  \"note\": \"it'\\''s\"\n}'", "Response 201", "{\n  \"weight\": 7,\n  \"id\": \"a\"\n}", "A light oneRequest",
		"Too lateRequest", "Response 409",
		"curl 'http://localhost:8080/2025-10-13/parcels?limit=2&sortOrder=asc'", "-X DELETE 'http://localhost:8080/2025-10-13/parcels/Quote:1'",
		"Response 204",
		"ArrivedBody", "Your response 202",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("no %q after what was before it", want)
			continue
		}
		rest = after
	}
	kept, err := json.Marshal(f.document.openapi)
	if err != nil || bytes.Contains(kept, []byte(`"to-bo-s"`)) || bytes.Contains(kept, []byte(`"arrived"`)) {
		t.Errorf("the examples are kept after they were published: %v", err)
	}
}

func TestExamples_GeneratedFromSchemaWhenNotRecorded(t *testing.T) {
	t.Parallel()
	// An operation without recorded examples has one generated from its schemas.
	f := newFixture(t)
	r := &referenceRenderer{api: f.document.openapi, variants: map[string]bool{}, abouts: map[string]template.HTML{}}
	for _, op := range f.document.operations {
		example := r.examplesFor(op.Method, op.Path, op)

		if len(example) != 1 || example[0].Status == 0 || strings.Contains(example[0].Path, "{") ||
			!pathPattern(op.Path).MatchString(example[0].Path) {
			t.Errorf("%s: %+v", op.OperationID, example)
		}
		if op.RequestBody != nil && (!json.Valid(example[0].Body) || !bytes.Contains(example[0].Body, []byte(`"weight"`))) {
			t.Errorf("%s has the body %s", op.OperationID, example[0].Body)
		}
		if example[0].Status != 204 && !json.Valid(example[0].Response) {
			t.Errorf("%s has the response %s", op.OperationID, example[0].Response)
		}
	}
}

func TestExamples_StaleExampleFailsDescription(t *testing.T) {
	t.Parallel()
	// An example of an unknown operation, or one that contradicts the description, fails
	// Description with the file name.
	for name, c := range map[string]struct{ file, text, says string }{
		"gone operation": {"mailParcel.json", `[]`, "no such operation"},
		"no list":        {"sendParcel.json", `{}`, "cannot unmarshal"},
		"other method":   {"sendParcel.json", `[{"method": "PUT", "path": "/parcels", "status": 201}]`, "PUT /parcels is not POST /parcels"},
		"other path":     {"getParcel.json", `[{"method": "GET", "path": "/parcels/a/b", "status": 200}]`, "is not GET /parcels/{parcelId}"},
		"other status":   {"sendParcel.json", `[{"method": "POST", "path": "/parcels", "status": 302}]`, "does not return 302"},
		"body of none": {"dropParcel.json", `[{"method": "DELETE", "path": "/parcels/a", "status": 204, "response": {}}]`,
			"where none is described"},
		"same title": {"sendParcel.json", strings.ReplaceAll(sendParcelExamples, "A light one", "To Bo's"),
			`two examples have the name "to-bo-s"`},
	} {
		f := newFixture(t)
		f.Examples(exampleFiles(map[string]string{c.file: c.text}))

		_, err := f.Description()

		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
