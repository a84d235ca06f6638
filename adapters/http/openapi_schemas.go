package httpapi

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

func init() {
	huma.DefaultArrayNullable = false // a list without items is empty
}

// patternExtension holds the description of a pattern for the reference page.
const patternExtension = "x-pattern-description"

// binaryFile returns the schema of a file. The format is an extension, because huma would
// add the keyword contentMediaType, which generators refuse.
func binaryFile(description string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Description: description, Extensions: map[string]any{"format": "binary"}}
}

// tidySchemas removes from the description what clients and tools do not understand, and
// what means nothing: the keyword patternDescription, which only huma knows, and
// additionalProperties: true, from which generators make fields of their own. It adds the
// note on the digits of a decimal number to every field that has one.
func (d *document) tidySchemas() {
	seen := map[*huma.Schema]bool{}
	tidyContent := func(content map[string]*huma.MediaType) {
		for _, media := range content {
			tidySchema(media.Schema, seen)
		}
	}
	for _, schema := range d.openapi.Components.Schemas.Map() {
		tidySchema(schema, seen)
	}
	for _, op := range d.operations {
		for _, p := range op.Parameters {
			tidySchema(p.Schema, seen)
		}
		if op.RequestBody != nil {
			tidyContent(op.RequestBody.Content)
		}
		for _, response := range op.Responses {
			tidyContent(response.Content)
		}
	}
}

func tidySchema(s *huma.Schema, seen map[*huma.Schema]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	if s.PatternDescription != "" {
		if s.Extensions == nil {
			s.Extensions = map[string]any{}
		}
		s.Extensions[patternExtension], s.PatternDescription = s.PatternDescription, ""
	}
	if v := reflect.ValueOf(s.Default); v.Kind() == reflect.Pointer {
		s.Default = v.Elem().Interface() // of a field that is a pointer
	}
	if s.Format == "double" && !strings.HasSuffix(s.Description, decimalDigits) {
		s.Description = strings.TrimSpace(s.Description + " " + decimalDigits)
	}
	switch values := s.AdditionalProperties.(type) {
	case *huma.Schema:
		tidySchema(values, seen)
	case bool:
		s.AdditionalProperties = nil
	}
	tidySchema(s.Items, seen)
	for _, property := range s.Properties {
		tidySchema(property, seen)
		if property.Default != nil {
			// Types that are generated for TypeScript require a field with a default.
			property.Description = fmt.Sprintf("%s Defaults to %v.", property.Description, property.Default)
			property.Default = nil
		}
	}
}
