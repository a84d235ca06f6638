package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	httpapi "causeway/adapters/http"
	"causeway/adapters/pgembed/pgtest"
)

func TestOpenAPI_EveryOperationAndFieldIsDescribed(t *testing.T) {
	t.Parallel()
	// Every operation, parameter and field of the published document has a description.
	var document struct {
		Paths      map[string]map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(fetchOpenAPI(t), &document); err != nil {
		t.Fatal(err)
	}

	operations := 0
	for path, item := range document.Paths {
		for method, operation := range item {
			operations++
			name := strings.ToUpper(method) + " " + path
			for _, word := range []string{"operationId", "summary", "description"} {
				if text, _ := operation[word].(string); text == "" {
					t.Errorf("%s has no %s", name, word)
				}
			}
			parameters, _ := operation["parameters"].([]any)
			for _, p := range parameters {
				parameter := p.(map[string]any)
				if parameter["$ref"] == nil && parameter["description"] == nil {
					t.Errorf("%s: the parameter %v is not described", name, parameter["name"])
				}
			}
		}
	}
	if operations < 20 {
		t.Errorf("only %d operations found: the test reads the description wrongly", operations)
	}
	for name, schema := range document.Components.Schemas {
		checkDescribed(t, name, schema)
	}
}

func TestOpenAPI_EveryProcessPublishesTheSame(t *testing.T) {
	t.Parallel()
	// The document depends on nothing but the program: another registration of the operations publishes the same bytes. A
	// default is stated as its value, also that of an optional field.
	first := fetchOpenAPI(t)
	w := httptest.NewRecorder()
	newTestServer(t, pgtest.New(t)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, httpapi.BasePath+"/openapi.json", nil))

	if second := w.Body.Bytes(); !bytes.Equal(first, second) {
		at := 0
		for at < min(len(first), len(second)) && first[at] == second[at] {
			at++
		}
		t.Errorf("the documents differ from byte %d: %.100s, and %.100s", at, first[at:], second[at:])
	}
	if !bytes.Contains(first, []byte("0 ends it at once. Defaults to 86400.")) {
		t.Error("the overlap of webhook secrets is described without its default")
	}
}

func TestOpenAPI_HasOnlyWhatToolsUnderstand(t *testing.T) {
	t.Parallel()
	// In the published schemas, lists are never null, requests are not open, unions have a
	// discriminator that all their branches require, numbers have a format, and no keyword is
	// one of our own.
	var document map[string]any
	if err := json.Unmarshal(fetchOpenAPI(t), &document); err != nil {
		t.Fatal(err)
	}
	schemas := document["components"].(map[string]any)["schemas"].(map[string]any)
	unions := 0
	walkSchemas(document, "", func(path string, schema map[string]any) {
		if _, isText := schema["type"].(string); schema["type"] != nil && !isText {
			t.Errorf("%s has the types %v", path, schema["type"])
		}
		if schema["additionalProperties"] == true || schema["patternDescription"] != nil {
			t.Errorf("%s: %v, %v", path, schema["additionalProperties"], schema["patternDescription"])
		}
		if schema["type"] == "number" && (schema["format"] != "double" || !strings.Contains(schema["description"].(string), "34 digits")) {
			t.Errorf("%s has the format %v and the description %v", path, schema["format"], schema["description"])
		}
		forms, isUnion := schema["oneOf"].([]any)
		if !isUnion {
			return
		}
		unions++
		discriminator, _ := schema["discriminator"].(map[string]any)
		for _, form := range forms {
			branch := schemas[strings.TrimPrefix(form.(map[string]any)["$ref"].(string), "#/components/schemas/")].(map[string]any)
			if required, _ := branch["required"].([]any); !slices.Contains(required, discriminator["propertyName"]) {
				t.Errorf("%s: a branch requires %v, without the discriminator %v", path, required, discriminator["propertyName"])
			}
		}
	})
	if unions < 6 {
		t.Errorf("only %d unions found: the test reads the description wrongly", unions)
	}

	webhook := schemas["OutgoingPaymentWebhook"].(map[string]any)["properties"].(map[string]any)
	if got := fmt.Sprint(webhook["type"].(map[string]any)["enum"]); got != "[OUTGOING_PAYMENT]" {
		t.Errorf("the type of an outgoing payment event is one of %s", got)
	}
	if names, _ := webhook["event"].(map[string]any)["enum"].([]any); !slices.Contains(names, any("OUTGOING_PAYMENT.COMPLETED")) ||
		slices.Contains(names, any("TEST")) {
		t.Errorf("the name of an outgoing payment event is one of %v", names)
	}
}

func TestOpenAPI_SuccessesHaveBodies(t *testing.T) {
	t.Parallel()
	// Each success of an operation is described with its body, unless it is 204.
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			Responses   map[string]struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(fetchOpenAPI(t), &document); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, operations := range document.Paths {
		for _, operation := range operations {
			for status, response := range operation.Responses {
				if status >= "300" {
					continue
				}
				if checked++; (len(response.Content) == 0) != (status == "204") {
					t.Errorf("%s: the response %s has %d kinds of bodies", operation.OperationID, status, len(response.Content))
				}
			}
		}
	}
	if checked < 180 {
		t.Errorf("only %d successes found: the test reads the description wrongly", checked)
	}
}

func TestOpenAPI_VersionsHaveALargestValue(t *testing.T) {
	t.Parallel()
	// A version that the database cannot have is an invalid request, and not an internal error.
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema struct{ Maximum float64 }
			}
		}
	}
	if err := json.Unmarshal(fetchOpenAPI(t), &document); err != nil {
		t.Fatal(err)
	}
	versions := 0
	for path, item := range document.Paths {
		for method, operation := range item {
			for _, p := range operation.Parameters {
				if !strings.HasSuffix(strings.ToLower(p.Name), "version") {
					continue
				}
				versions++
				if p.Schema.Maximum <= 0 || p.Schema.Maximum > math.MaxInt32 {
					t.Errorf("%s %s: %s may be up to %v, and is stored as an int", strings.ToUpper(method), path, p.Name, p.Schema.Maximum)
				}
			}
		}
	}
	if versions < 3 {
		t.Errorf("only %d versions found: the test reads the description wrongly", versions)
	}
}

// walkSchemas calls visit for every schema below a value. Examples are not schemas.
func walkSchemas(value any, path string, visit func(path string, schema map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		if v["type"] != nil || v["oneOf"] != nil || v["$ref"] != nil {
			if _, isSchema := v["type"].(map[string]any); !isSchema { // a property named type
				visit(path, v)
			}
		}
		for name, inner := range v {
			if name != "example" && name != "examples" && name != "securitySchemes" {
				walkSchemas(inner, path+"/"+name, visit)
			}
		}
	case []any:
		for i, inner := range v {
			walkSchemas(inner, fmt.Sprint(path, "/", i), visit)
		}
	}
}

// published is the document as the first test fetched it: each server publishes the same, and renders it anew.
var published struct {
	sync.Once
	document []byte
}

// fetchOpenAPI returns the published document.
func fetchOpenAPI(t *testing.T) []byte {
	t.Helper()
	published.Do(func() {
		w := httptest.NewRecorder()
		newTestServer(t, pgtest.New(t)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, httpapi.BasePath+"/openapi.json", nil))
		published.document = w.Body.Bytes()
	})
	return published.document
}

// checkDescribed reports the properties below a schema without a description. A list or
// object may be described by its items or properties.
func checkDescribed(t *testing.T, path string, schema any) {
	object, _ := schema.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	for name, p := range properties {
		property := p.(map[string]any)
		discriminates := property["enum"] != nil && strings.HasSuffix(name, "Type")
		if property["description"] == nil && property["$ref"] == nil && !discriminates {
			t.Errorf("%s.%s is not described", path, name)
		}
		checkDescribed(t, path+"."+name, property)
	}
	if items, ok := object["items"]; ok {
		checkDescribed(t, path+"[]", items)
	}
}
