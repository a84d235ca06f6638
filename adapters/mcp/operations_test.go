package mcp

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus/hooks/test"

	httpapi "causeway/adapters/http"
	"causeway/adapters/http/api"
	"causeway/app/agents"
	"causeway/app/platforms"
)

// operation is an operation of the published description.
type operation struct {
	method, path string
	OperationID  string
	Permissions  []string `json:"x-agent-permissions"`
	Security     []map[string][]string
	Parameters   []parameter
	RequestBody  struct {
		Content map[string]struct{ Schema map[string]any }
	}
}

// parameter is a parameter of a path, a query or a header.
type parameter struct {
	Name   string
	Schema map[string]any
}

// parameter returns the schema of a parameter; nil if there is none with this name.
func (o operation) parameter(name string) map[string]any {
	for _, p := range o.Parameters {
		if p.Name == name {
			return p.Schema
		}
	}
	return nil
}

// describedOperations returns the operations for agents that the service publishes, and its schemas.
func describedOperations(t *testing.T) (map[string]operation, map[string]any) {
	t.Helper()
	log, _ := test.NewNullLogger()
	a := httpapi.New(httpapi.Config{
		Authenticator: &platforms.Authenticator{}, AgentAuthenticator: &agents.Service{}, IdempotencyStore: &platforms.IdempotencyStore{},
		Log: log, Metrics: prometheus.NewRegistry(), Rate: httpapi.Unlimited,
	})
	api.Register(a, api.Deps{})
	if err := a.Build(); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest(http.MethodGet, httpapi.BasePath+"/openapi.json", nil))
	var document struct {
		Paths      map[string]map[string]operation
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	operations := map[string]operation{}
	for path, item := range document.Paths {
		for method, o := range item {
			if slices.ContainsFunc(o.Security, func(scheme map[string][]string) bool { return scheme["AgentAuth"] != nil }) {
				o.method, o.path = strings.ToUpper(method), path
				operations[o.OperationID] = o
			}
		}
	}
	return operations, document.Components.Schemas
}

func TestTools_AreTheOperationsOfAgents(t *testing.T) {
	t.Parallel()
	// Every published operation with AgentAuth is a tool, and no other; its arguments are parameters and fields of
	// the operation, with their types and values, and it is offered with the permissions that the operation asks for.
	operations, schemas := describedOperations(t)
	offered := map[string]bool{}
	for i := range tools {
		tool := &tools[i]
		offered[tool.operation] = true
		o, published := operations[tool.operation]
		if !published || o.method != tool.method || o.path != tool.path {
			t.Errorf("%s is %s %s (%s), which is not published for agents", tool.name, tool.method, tool.path, tool.operation)
			continue
		}
		body := o.RequestBody.Content["application/json"].Schema
		if tool.body != nil { // the preview of a request
			wrapped, _ := tool.body(map[string]any{}).(map[string]any)
			for name := range wrapped {
				body, _ = properties(body, schemas)[name].(map[string]any)
			}
		}
		fields := properties(body, schemas)
		for _, f := range tool.arguments {
			published := fields[f.name]
			switch {
			case f.name == intentArgument:
				continue
			case f.name == signatureArgument:
				published = o.parameter("Service-Wallet-Signature")
			case o.parameter(f.name) != nil:
				published = o.parameter(f.name)
			}
			checkField(t, tool.name+"."+f.name, f, published, schemas)
		}
		for _, name := range required(body, schemas) {
			if !slices.ContainsFunc(tool.arguments, func(f field) bool { return f.name == name && f.required }) {
				t.Errorf("%s: %s is required by the service", tool.name, name)
			}
		}
		// A preview needs no permission, but without that of the payment its answer is known.
		if asked := slices.Sorted(slices.Values(o.Permissions)); !slices.Equal(asked, slices.Sorted(slices.Values(tool.permissions))) &&
			!strings.HasPrefix(tool.name, "preview_") {
			t.Errorf("%s is offered with %v, and the operation asks for one of %v", tool.name, tool.permissions, asked)
		}
	}
	for id := range operations {
		if !offered[id] {
			t.Errorf("%s is for agents, and no tool", id)
		}
	}
	if len(operations) < 10 {
		t.Errorf("only %d operations found: the test reads the description wrongly", len(operations))
	}
}

// checkField compares an argument with the field of the description.
func checkField(t *testing.T, path string, f field, schema any, schemas map[string]any) {
	t.Helper()
	published, ok := schema.(map[string]any)
	if !ok || published == nil {
		t.Errorf("%s is not a field of the operation", path)
		return
	}
	published = resolve(published, schemas)
	if items, isList := published["items"].(map[string]any); isList && f.kind == "string" { // a tool may take one value of a list
		published = resolve(items, schemas)
	}
	if kind, _ := published["type"].(string); kind != "" && kind != string(f.kind) {
		t.Errorf("%s is a %s in the description", path, kind)
	}
	if values, _ := published["enum"].([]any); len(f.enum) > 0 {
		listed := make([]any, len(f.enum))
		for i, value := range f.enum {
			listed[i] = value
		}
		if !slices.Equal(listed, values) {
			t.Errorf("%s is one of %v, and in the description of %v", path, listed, values)
		}
	}
	for _, inner := range f.fields {
		checkField(t, path+"."+inner.name, inner, properties(published, schemas)[inner.name], schemas)
	}
}

func resolve(schema, schemas map[string]any) map[string]any {
	for {
		reference, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		schema, _ = schemas[reference[strings.LastIndexByte(reference, '/')+1:]].(map[string]any)
	}
}

// properties returns the properties of an object, or of all branches of a union.
func properties(schema, schemas map[string]any) map[string]any {
	schema = resolve(schema, schemas)
	found := map[string]any{}
	own, _ := schema["properties"].(map[string]any)
	for name, property := range own {
		found[name] = property
	}
	for _, keyword := range []string{"oneOf", "allOf", "anyOf"} {
		branches, _ := schema[keyword].([]any)
		for _, branch := range branches {
			for name, property := range properties(branch.(map[string]any), schemas) {
				found[name] = property
			}
		}
	}
	return found
}

func required(schema, schemas map[string]any) (names []string) {
	list, _ := resolve(schema, schemas)["required"].([]any)
	for _, name := range list {
		names = append(names, name.(string))
	}
	return names
}
