package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// schemas checks values against the schemas of a published description, for the features that
// ours uses: references, types, properties, items, choices, numbers and texts.
type schemas struct{ components map[string]any }

// violations returns where a value differs from its schema. A member that the schema does not
// have is a violation too, unless the schema has no properties.
func (s schemas) violations(schema any, value any, path string) []string {
	described, _ := schema.(map[string]any)
	if reference, ok := described["$ref"].(string); ok {
		found, ok := s.components[strings.TrimPrefix(reference, "#/components/schemas/")]
		if !ok {
			return []string{path + ": " + reference + " leads nowhere"}
		}
		return s.violations(found, value, path)
	}
	if forms, ok := described["oneOf"].([]any); ok {
		var best []string
		for _, form := range forms {
			found := s.violations(form, value, path)
			if len(found) == 0 {
				return nil
			}
			if best == nil || len(found) < len(best) {
				best = found
			}
		}
		return best
	}
	if !hasType(described["type"], value) {
		return []string{fmt.Sprintf("%s: %v is no %v", path, value, described["type"])}
	}
	if values, ok := described["enum"].([]any); ok && value != nil &&
		!slices.ContainsFunc(values, func(v any) bool { return fmt.Sprint(v) == fmt.Sprint(value) }) {
		return []string{fmt.Sprintf("%s: %v is none of %v", path, value, values)}
	}
	switch value := value.(type) {
	case string:
		if pattern, ok := described["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(value) {
			return []string{fmt.Sprintf("%s: %q does not match %s", path, value, pattern)}
		}
	case []any:
		var all []string
		for i, item := range value {
			all = append(all, s.violations(described["items"], item, fmt.Sprintf("%s.%d", path, i))...)
		}
		return all
	case map[string]any:
		return s.propertyViolations(described, value, path)
	}
	return nil
}

func (s schemas) propertyViolations(described, value map[string]any, path string) (all []string) {
	required, _ := described["required"].([]any)
	for _, name := range required {
		if _, ok := value[name.(string)]; !ok {
			all = append(all, path+": lacks "+name.(string))
		}
	}
	properties, _ := described["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(value)) {
		property, ok := properties[name]
		switch {
		case ok:
			all = append(all, s.violations(property, value[name], path+"."+name)...)
		case len(properties) > 0 && !strings.HasSuffix(path, ".details"): // the details of errors vary
			all = append(all, path+": "+name+" is not described")
		}
	}
	return all
}

// hasType reports whether a value has a type, or one of several. No type means any.
func hasType(types, value any) bool {
	switch types := types.(type) {
	case []any:
		return slices.ContainsFunc(types, func(t any) bool { return hasType(t, value) })
	case string:
		switch value := value.(type) {
		case nil:
			return types == "null"
		case string:
			return types == "string"
		case bool:
			return types == "boolean"
		case json.Number:
			return types == "number" || types == "integer" && !strings.ContainsAny(value.String(), ".eE")
		case []any:
			return types == "array"
		default:
			return types == "object"
		}
	default:
		return true
	}
}

// decodeJSON parses JSON and keeps numbers as they are written.
func decodeJSON(t testing.TB, text []byte) any {
	t.Helper()
	return apiResponse{t: t, body: append(append([]byte(`{"it":`), text...), '}')}.value("it")
}

func TestSchemas_ReportViolations(t *testing.T) {
	t.Parallel()
	// A violation is reported with its path.
	s := schemas{map[string]any{}}
	for name, text := range map[string]string{
		"Parcel": `{"type": "object", "required": ["weight"], "properties": {"weight": {"type": "integer"}, "note": {"type": ["string", "null"], "pattern": "^[a-z]*$"},
			"way": {"oneOf": [{"$ref": "#/components/schemas/Road"}, {"$ref": "#/components/schemas/Sea"}]}, "labels": {"type": "array", "items": {"type": "string"}},
			"more": {"type": "object"}, "details": {"type": "object", "properties": {"reason": {"type": "string"}}}}}`,
		"Road": `{"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string", "enum": ["ROAD"]}, "plate": {"type": "string"}}}`,
		"Sea":  `{"type": "object", "required": ["kind", "ship"], "properties": {"kind": {"type": "string", "enum": ["SEA"]}, "ship": {"type": "string"}}}`,
	} {
		s.components[name] = decodeJSON(t, []byte(text))
	}
	for text, want := range map[string]string{
		`{"weight": 1, "note": null, "way": {"kind": "SEA", "ship": "Ada"}, "labels": ["a"], "more": {"any": [1]}}`: "",
		`{"note": "a"}`:                                     "it: lacks weight",
		`{"weight": 1.5}`:                                   "it.weight: 1.5 is no integer",
		`{"weight": 1, "size": 2}`:                          "it: size is not described",
		`{"weight": 1, "note": "A"}`:                        `it.note: "A" does not match ^[a-z]*$`,
		`{"weight": 1, "labels": ["a", 2]}`:                 "it.labels.1: 2 is no string",
		`{"weight": 1, "way": {"kind": "AIR"}}`:             "it.way.kind: AIR is none of [ROAD]",
		`{"weight": 1, "way": {"kind": "ROAD", "x":1}}`:     "it.way: x is not described",
		`{"weight": 1, "details": {"reason": "a", "b": 2}}`: "",
		`[]`: "it: [] is no object",
	} {
		got := strings.Join(s.violations(map[string]any{"$ref": "#/components/schemas/Parcel"}, decodeJSON(t, []byte(text)), "it"), "; ")
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
