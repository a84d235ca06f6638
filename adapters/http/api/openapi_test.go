package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	httpapi "causeway/adapters/http"
	"causeway/adapters/pgembed/pgtest"
)

func TestOpenAPI_EveryOperationAndFieldIsDescribed(t *testing.T) {
	t.Parallel()
	// Every operation, parameter and field of the published document has a description.
	w := httptest.NewRecorder()
	newTestServer(t, pgtest.New(t)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, httpapi.BasePath+"/openapi.json", nil))
	var document struct {
		Paths      map[string]map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
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
