package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestIsolation_IDsOfOtherPlatformsDoNotExist(t *testing.T) {
	t.Parallel()
	// Two platforms do the same. Then each operation of the description is called by one of them
	// with an id of the other, in every place of the path, the query and the body that takes an
	// id: the response is the same as for an id that does not exist, and contains nothing of the
	// other platform.
	victim := newExampleRecorder(t)
	victim.recordAll()
	caller := victim.onOtherPlatform()
	caller.recordAll()
	operations := fuzzOperations(caller.get("/openapi.json"))
	caller.addCalls(operations)
	own, foreign := newValuePool(), newValuePool()
	own.learnCalls(caller.calls)
	foreign.learnCalls(victim.calls)
	for kind, values := range foreign.values { // what both have, such as the keys of the service
		foreign.values[kind] = slices.DeleteFunc(values, func(value string) bool { return slices.Contains(own.values[kind], value) })
	}
	foreignIDs := map[string]bool{}
	for _, values := range foreign.values {
		for _, value := range values {
			for _, id := range idText.FindAllString(value, -1) {
				foreignIDs[id] = true
			}
		}
	}

	i := isolation{t: t, caller: caller, foreign: foreign, foreignIDs: foreignIDs, statuses: map[int]int{}}
	g := &generator{r: rand.New(rand.NewPCG(1, 1)), components: caller.schemas.components, pool: own}
	for _, op := range operations {
		if len(op.calls) == 0 && op.method == "GET" { // operations without examples return files
			op.calls = []recordedCall{i.findCall(g, op)}
		}
		for _, place := range i.places(op) {
			i.check(op, place)
		}
	}

	t.Logf("%d requests to %d places of %d operations, by status: %v", i.requests, i.tested, len(operations), i.statuses)
	if i.statuses[404] < i.tested {
		t.Errorf("only %d of the responses are 404, for %d places: the requests are not what the operations expect", i.statuses[404], i.tested)
	}
}

// onOtherPlatform returns a recorder with another platform on the same service.
func (s *exampleRecorder) onOtherPlatform() *exampleRecorder {
	env := *s.testEnv
	env.tenant = s.createPlatform("Other", "SANDBOX")
	return &exampleRecorder{testEnv: &env, operations: s.operations, webhooks: s.webhooks, schemas: s.schemas, mask: newMask(),
		examples: map[string][]example{}}
}

// isolation calls operations with ids of another platform.
type isolation struct {
	t          *testing.T
	caller     *exampleRecorder
	foreign    *valuePool
	foreignIDs map[string]bool
	statuses   map[int]int
	requests   int
	tested     int // places
}

// findCall generates requests until one succeeds.
func (i *isolation) findCall(g *generator, op *fuzzOperation) recordedCall {
	i.t.Helper()
	const attempts = 500
	for range attempts {
		path, query := g.address(op)
		call := recordedCall{operation: op.id, path: path + "?" + query}
		if i.send(op, call).status == 200 {
			return call
		}
	}
	i.t.Fatalf("%s: none of %d generated requests succeeded", op.id, attempts)
	return recordedCall{}
}

// idPlace is where a request has an id.
type idPlace struct {
	in    string   // "path", "query", "form" or "body"
	path  []string // the name of the parameter, or the names of the fields
	kinds []string // types of ids, or other kinds of the pool
}

func (p idPlace) String() string { return p.in + " " + strings.Join(p.path, ".") }

// untypedPlaces are parameters and fields that take ids, although their schemas do not say so.
var untypedPlaces = map[string][]string{
	"accountIdentifier": {"InternalAccount", "ExternalAccount"}, "senderAccountIdentifier": {"InternalAccount"},
	"receiverAccountIdentifier": {"ExternalAccount"},
	"customerId":                {"Customer", "PlatformConfig"}, "account": {"account"}, "reference": {"reference"}, "cursor": {"cursor"},
}

// places returns where an operation takes ids.
func (i *isolation) places(op *fuzzOperation) (places []idPlace) {
	add := func(in, name string, schema any, path []string) {
		s, _ := schema.(map[string]any)
		pattern, _ := s["pattern"].(string)
		kinds := patternTypes(pattern)
		if kinds == nil && !slices.Contains(path, "originator") { // whose account is one of another bank
			kinds = untypedPlaces[name]
		}
		if kinds != nil {
			places = append(places, idPlace{in, path, kinds})
		}
	}
	for _, p := range op.parameters {
		name, _ := p["name"].(string)
		if in, _ := p["in"].(string); in == "path" || in == "query" {
			add(in, name, p["schema"], []string{name})
		}
	}
	if len(op.body) == 1 { // a form whose parts are no parameters
		i.walkFields(op.body["multipart/form-data"], nil, func(path []string, schema any) { add("form", path[0], schema, path) })
	}
	i.walkFields(op.body["application/json"], nil, func(path []string, schema any) {
		add("body", path[len(path)-1], schema, path)
	})
	return places
}

// walkFields calls visit for the fields of a schema, with the names that lead to them.
func (i *isolation) walkFields(schema any, path []string, visit func(path []string, schema any)) {
	s, _ := schema.(map[string]any)
	if reference, ok := s["$ref"].(string); ok {
		i.walkFields(i.caller.schemas.components[strings.TrimPrefix(reference, "#/components/schemas/")], path, visit)
		return
	}
	forms, _ := s["oneOf"].([]any)
	for _, form := range forms {
		i.walkFields(form, path, visit)
	}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field := append(slices.Clone(path), name)
		visit(field, properties[name])
		i.walkFields(properties[name], field, visit)
	}
}

// check calls an operation with ids of the other platform in a place, and with ids that do not
// exist.
func (i *isolation) check(op *fuzzOperation, place idPlace) {
	tested := false
	for _, call := range op.calls {
		for _, kind := range place.kinds {
			for _, value := range sample(i.foreign.values[kind]) {
				request, ok := withID(op, call, place, value)
				if !ok {
					continue // the request has no such object
				}
				got := i.send(op, request)
				if slices.Contains(strings.Split(got.header.Get("Causeway-Ignored-Fields"), ", "), strings.Join(place.path, ".")) {
					continue // a field of another form
				}
				tested = true
				unknown := withNewIDs(value)
				other, _ := withID(op, call, place, unknown)
				i.compare(op, place, got, value, i.send(op, other), unknown)
			}
		}
	}
	if !tested {
		i.t.Errorf("%s: no request has an id of another platform in %s: record one in examples_script_test.go", op.id, place)
		return
	}
	i.tested++
}

func (i *isolation) send(op *fuzzOperation, call recordedCall) apiResponse {
	i.requests++
	by := i.caller.client
	if call.uploadType != "" {
		by = by.withHeader("Content-Type", call.uploadType)
	}
	if call.bearer != "" {
		by = by.withHeader("Authorization", "Bearer "+call.bearer)
	}
	var body any
	if call.body != "" {
		body = call.body
	}
	got := by.call(op.method, call.path, body)
	for n := 0; got.status == 429 && n < 10; n++ { // the platform has made too many requests a second
		time.Sleep(200 * time.Millisecond)
		got = by.call(op.method, call.path, body)
	}
	return got
}

func (i *isolation) compare(op *fuzzOperation, place idPlace, got apiResponse, foreign string, want apiResponse, unknown string) {
	i.statuses[got.status]++
	name := fmt.Sprintf("%s, %s = %s", op.id, place, foreign)
	if got.status >= 500 || got.status < 300 && op.method != "GET" {
		i.t.Errorf("%s: %d %.500s", name, got.status, got.body)
	}
	for _, id := range idText.FindAllString(string(got.body), -1) {
		if i.foreignIDs[id] && !strings.Contains(foreign, id) {
			i.t.Errorf("%s: the response has %s of the other platform: %.500s", name, id, got.body)
		}
	}
	if slices.Contains(place.kinds, "cursor") {
		return // a place in the order of the list, which every id has
	}
	first, second := strings.ReplaceAll(string(got.body), foreign, "<id>"), strings.ReplaceAll(string(want.body), unknown, "<id>")
	if got.status != want.status || first != second {
		i.t.Errorf("%s:\n%d %.500s\nand for an id that does not exist:\n%d %.500s", name, got.status, first, want.status, second)
	}
}

// sample returns the first, a middle and the last of a list.
func sample(values []string) []string {
	if len(values) < 3 {
		return values
	}
	return []string{values[0], values[len(values)/2], values[len(values)-1]}
}

// withNewIDs returns a value like another one, with ids or a reference that do not exist.
func withNewIDs(value string) string {
	if !idText.MatchString(value) {
		return strings.Repeat("Z", len(value))
	}
	return idText.ReplaceAllStringFunc(value, func(id string) string { return idType(id) + ":" + uuid.Must(uuid.NewV7()).String() })
}

// withID returns a recorded call with another value in a place, or false if it has no such
// place.
func withID(op *fuzzOperation, call recordedCall, place idPlace, value string) (recordedCall, bool) {
	path, query, _ := strings.Cut(call.path, "?")
	switch place.in {
	case "path":
		segments := strings.Split(path, "/")
		for n, segment := range strings.Split(op.path, "/") {
			if segment == "{"+place.path[0]+"}" {
				segments[n] = url.PathEscape(value)
			}
		}
		call.path = strings.Join(segments, "/")
		if query != "" {
			call.path += "?" + query
		}
	case "query":
		values, err := url.ParseQuery(query)
		if err != nil {
			return call, false
		}
		values.Set(place.path[0], value)
		call.path = path + "?" + values.Encode()
	case "form":
		start := fmt.Sprintf("name=%q\r\n\r\n", place.path[0])
		before, rest, found := strings.Cut(call.body, start)
		_, after, ended := strings.Cut(rest, "\r\n")
		if !found || !ended {
			return call, false
		}
		call.body = before + start + value + "\r\n" + after
	case "body":
		if call.body == "" {
			return call, false
		}
		body := mustDecode(call.body)
		target, ok := body.(map[string]any)
		for _, name := range place.path[:len(place.path)-1] {
			if ok {
				target, ok = target[name].(map[string]any)
			}
		}
		if !ok {
			return call, false
		}
		target[place.path[len(place.path)-1]] = value
		text, err := json.Marshal(body)
		if err != nil {
			return call, false
		}
		call.body = string(text)
	}
	return call, true
}
