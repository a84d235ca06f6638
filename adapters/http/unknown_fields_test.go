package httpapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawJSON draws a value with fields named a to d.
func drawJSON(t *rapid.T, depth int) any {
	kinds := []string{"string", "number", "null"}
	if depth > 0 {
		kinds = append(kinds, "object", "list", "object", "list")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "string":
		return rapid.String().Draw(t, "text")
	case "number":
		return rapid.Float64Range(-1e6, 1e6).Draw(t, "number")
	case "object":
		object := map[string]any{}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", `e"`}), rapid.ID[string]).Draw(t, "fields") {
			object[name] = drawJSON(t, depth-1)
		}
		return object
	case "list":
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "items"))
		for i := range list {
			list[i] = drawJSON(t, depth-1)
		}
		return list
	}
	return nil
}

// unknownIn is the scanner in terms of decoded values.
func unknownIn(known *knownFields, value any, path string) (unknown []string) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			field, found := known.field(name)
			at := strings.TrimPrefix(path+"."+name, ".")
			if !found {
				unknown = append(unknown, at)
			}
			unknown = append(unknown, unknownIn(field, inner, at)...)
		}
	case []any:
		if known == nil || known.content == nil {
			return nil
		}
		for i, inner := range v {
			unknown = append(unknown, unknownIn(known.content, inner, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return unknown
}

func TestFieldScanner_FindsWhatDecodingFinds(t *testing.T) {
	t.Parallel()
	// The scanner finds the same unknown fields as a walk over the decoded values, and accepts
	// every JSON text, indented or not.
	known := &knownFields{fields: map[string]*knownFields{"a": nil, "b": {}}}
	known.fields["c"] = known
	known.fields["d"] = &knownFields{content: known}
	rapid.Check(t, func(t *rapid.T) {
		value := drawJSON(t, 5)
		text, err := json.Marshal(value)
		if rapid.Bool().Draw(t, "indented") {
			text, err = json.MarshalIndent(value, "\t", " ")
		}
		if err != nil {
			t.Fatal(err)
		}

		s := fieldScanner{parser: newParser(text)}
		ok := s.value(known, &place{}, 0)

		want := unknownIn(known, value, "")
		slices.Sort(want)
		slices.Sort(s.ignored)
		if !ok || int(s.InputOffset()) != len(text) || !slices.Equal(s.ignored, want) {
			t.Fatalf("%s\nfound %q at %d of %d, want %q", text, s.ignored, s.InputOffset(), len(text), want)
		}
	})
}

func TestFieldScanner_EndsForAnyText(t *testing.T) {
	t.Parallel()
	// A text that is not JSON, or is cut, never makes the scanner read past its end or run
	// forever.
	known := &knownFields{fields: map[string]*knownFields{"a": nil}, discriminator: "a", branches: map[string]*knownFields{"x": {}}}
	known.fields["b"] = &knownFields{content: known}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune(`{}[]",:\ab1 x`))).Draw(t, "text")
		s := fieldScanner{parser: newParser([]byte(text))}
		if s.value(known, &place{}, 0); int(s.InputOffset()) > len(text) {
			t.Fatalf("%q: read up to %d", text, s.InputOffset())
		}
	})
}
