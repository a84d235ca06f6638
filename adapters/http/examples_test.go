package httpapi

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// exampleFiles are recorded examples by the name of their file.
func exampleFiles(examples map[string]string) fstest.MapFS {
	recorded := fstest.MapFS{}
	for name, text := range examples {
		recorded[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return recorded
}

const (
	sendParcelExamples = `[{"title": "To Bo's", "method": "POST", "path": "/parcels", "body": {"weight": 7, "note": "it's"}, "status": 201, "response": {"weight": 7, "id": "a"}},
		{"title": "A light one", "method": "POST", "path": "/parcels", "body": {"weight": 1}, "status": 201, "response": {"weight": 1, "id": "b"}},
		{"title": "Too late", "method": "POST", "path": "/parcels", "body": {"weight": 8}, "status": 409, "response": {"status": 409, "code": "QUOTE_EXPIRED"}}]`
	parcelArrivedExamples = `[{"title": "It is there", "method": "POST", "body": {"id": "a"}, "status": 202}]`
)

func TestExamples_RecordedExamplesArePublished(t *testing.T) {
	t.Parallel()
	// What was recorded of an operation stands in the description, requests that succeed
	// with the request and every answer with its status, in the order of the record; the
	// page shows each request as a command beside its answer; and nothing of it is kept.
	f := newUnbuiltFixture(t)
	Webhook[parcelBody](f.API, "parcelArrived", "Parcels", "A parcel arrived", "Sent when it is there.")
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
	for got, want := range map[string]string{
		jsonText(lookup(post, "requestBody", "content", "application/json", "examples")):                                                                  `{"a-light-one":{"summary":"A light one","value":{"weight":1}},"to-bo-s":{"summary":"To Bo's","value":{"note":"it's","weight":7}}}`,
		jsonText(lookup(post, "responses", "201", "content", "application/json", "examples", "to-bo-s", "value")):                                         `{"id":"a","weight":7}`,
		jsonText(lookup(post, "responses", "409", "content", "application/json", "examples", "too-late", "value", "code")):                                `"QUOTE_EXPIRED"`,
		jsonText(lookup(document, "webhooks", "parcelArrived", "post", "requestBody", "content", "application/json", "examples", "it-is-there", "value")): `{"id":"a"}`,
		jsonText(lookup(document, "paths", "/parcels", "get", "responses", "200", "content", "application/json", "examples", "example", "value")):         `{"data":[]}`,
		jsonText(lookup(document, "paths", "/parcels/{parcelId}", "get", "responses", "200", "content", "application/json", "examples")):                  `null`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if first, second := strings.Index(published, `"to-bo-s"`), strings.Index(published, `"a-light-one"`); first < 0 || first > second {
		t.Errorf("the examples are in another order: at %d and %d", first, second)
	}
	rest := page
	for _, want := range []string{
		"To Bo'sRequest", "curl -X POST 'http://localhost:8080/2025-10-13/parcels' \\\n  -u \"$CLIENT_ID:$CLIENT_SECRET\" \\\n  -H \"Idempotency-Key: $(uuidgen)\"",
		"-d '{\n  \"weight\": 7,\n  \"note\": \"it'\\''s\"\n}'", "Response 201", "{\n  \"weight\": 7,\n  \"id\": \"a\"\n}", "A light oneRequest", "Too lateRequest", "Response 409",
		"curl 'http://localhost:8080/2025-10-13/parcels?limit=2&sortOrder=asc'", "-X DELETE 'http://localhost:8080/2025-10-13/parcels/Quote:1'", "Response 204",
		"It is thereBody", "Your response 202",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("no %q after what was before it", want)
			continue
		}
		rest = after
	}
	kept, err := json.Marshal(f.document.openapi)
	if err != nil || bytes.Contains(kept, []byte(`"to-bo-s"`)) || bytes.Contains(kept, []byte(`"it-is-there"`)) {
		t.Errorf("the examples are kept after they were published: %v", err)
	}
}

func TestExamples_GeneratedFromSchemaWhenNotRecorded(t *testing.T) {
	t.Parallel()
	// An operation that nobody has recorded yet is shown with a request and an answer made
	// from its schemas.
	f := newFixture(t)
	r := &referenceRenderer{api: f.document.openapi, variants: map[string]bool{}}
	for _, op := range f.document.operations {
		made := r.examplesFor(op.Method, op.Path, op)

		if len(made) != 1 || made[0].Status == 0 || strings.Contains(made[0].Path, "{") || !pathPattern(op.Path).MatchString(made[0].Path) {
			t.Errorf("%s: %+v", op.OperationID, made)
		}
		if op.RequestBody != nil && (!json.Valid(made[0].Body) || !bytes.Contains(made[0].Body, []byte(`"weight"`))) {
			t.Errorf("%s is sent %s", op.OperationID, made[0].Body)
		}
		if made[0].Status != 204 && !json.Valid(made[0].Response) {
			t.Errorf("%s answers %s", op.OperationID, made[0].Response)
		}
	}
}

func TestExamples_StaleExampleFailsBuild(t *testing.T) {
	t.Parallel()
	// An example of what is not there, or that contradicts the description, keeps the
	// service from being built, with the name of the file.
	for name, c := range map[string]struct{ file, text, says string }{
		"gone operation": {"mailParcel.json", `[]`, "no such operation"},
		"no list":        {"sendParcel.json", `{}`, "cannot unmarshal"},
		"other method":   {"sendParcel.json", `[{"method": "PUT", "path": "/parcels", "status": 201}]`, "PUT /parcels is not POST /parcels"},
		"other path":     {"getParcel.json", `[{"method": "GET", "path": "/parcels/a/b", "status": 200}]`, "is not GET /parcels/{parcelId}"},
		"other status":   {"sendParcel.json", `[{"method": "POST", "path": "/parcels", "status": 302}]`, "does not return 302"},
		"body of none":   {"dropParcel.json", `[{"method": "DELETE", "path": "/parcels/a", "status": 204, "response": {}}]`, "where none is described"},
		"same title":     {"sendParcel.json", strings.ReplaceAll(sendParcelExamples, "A light one", "To Bo's"), `two examples have the name "to-bo-s"`},
	} {
		f := newUnbuiltFixture(t)
		f.Examples(exampleFiles(map[string]string{c.file: c.text}))

		err := f.Build()

		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
