package httpapi

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// fieldView is one field with its nested fields.
type fieldView struct {
	Name, In, Type string
	Required       bool // in requests
	Optional       bool // in responses
	Description    template.HTML
	Limits         []string
	Fields         []fieldView
	Variants       []variantView
}

// variantView links to one branch of a union.
type variantView struct{ Name, Values string }

// markOptional marks optional fields instead of required ones.
func markOptional(fields []fieldView) []fieldView {
	for i := range fields {
		fields[i].Optional, fields[i].Required = !fields[i].Required, false
		markOptional(fields[i].Fields)
	}
	return fields
}

const maxFieldDepth = 6

// fields returns the fields of an object, or of the items of a list.
func (r *referenceRenderer) fields(s *huma.Schema, depth int) []fieldView {
	s = r.resolve(s)
	if s != nil && s.Type == huma.TypeArray {
		s = r.resolve(s.Items)
	}
	if s == nil || depth > maxFieldDepth {
		return nil
	}
	list := make([]fieldView, 0, len(s.Properties))
	for _, name := range propertyOrder(s) {
		list = append(list, r.field(name, s.Properties[name], slices.Contains(s.Required, name), depth))
	}
	return list
}

func (r *referenceRenderer) field(name string, s *huma.Schema, required bool, depth int) fieldView {
	description := s.Description
	s = r.resolve(s)
	if description == "" {
		description = s.Description
	}
	about, ok := r.abouts[description]
	if !ok {
		about = markdown(description)
		r.abouts[description] = about
	}
	return fieldView{
		Name: name, Type: r.typeName(s), Required: required, Description: about,
		Limits: constraints(s), Fields: r.fields(s, depth+1), Variants: r.variantsOf(s),
	}
}

func (r *referenceRenderer) resolve(s *huma.Schema) *huma.Schema {
	for s != nil && s.Ref != "" {
		s = r.api.Components.Schemas.SchemaFromRef(s.Ref)
	}
	return s
}

func (r *referenceRenderer) typeName(s *huma.Schema) string {
	name := s.Type
	switch {
	case s.Type == huma.TypeArray:
		return "list of " + r.typeName(r.resolve(s.Items))
	case s.Type == "":
		name = "any"
	case s.Format == "date-time" || s.Format == "date":
		name = s.Format
	}
	if s.Nullable {
		name += " or null"
	}
	return name
}

// variantsOf returns the branches of a union and collects them for the section of
// objects.
func (r *referenceRenderer) variantsOf(s *huma.Schema) []variantView {
	var variants []variantView
	for _, form := range unionForms(s) {
		name := strings.TrimPrefix(form.Ref, schemaPrefix)
		r.variants[name] = true
		variants = append(variants, variantView{Name: name, Values: r.discriminator(r.api.Components.Schemas.Map()[name])})
	}
	return variants
}

// discriminator returns the value that selects a branch.
func (r *referenceRenderer) discriminator(s *huma.Schema) string {
	for _, p := range s.Properties {
		if p.Description == discriminatorDescription && len(p.Enum) > 0 {
			return fmt.Sprint(p.Enum[0])
		}
	}
	return ""
}

// constraints returns short descriptions of the constraints of a value.
func constraints(s *huma.Schema) []string {
	var list []string
	if s.Type == huma.TypeArray && s.Items != nil && s.Items.Ref == "" {
		list = constraints(s.Items)
	}
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprint(v)
		}
		add("%s", strings.Join(values, " | "))
	}
	number := func(f float64) string { return groupDigits(strconv.FormatFloat(f, 'f', -1, 64)) }
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		add("%s to %s", number(*s.Minimum), number(*s.Maximum))
	case s.Minimum != nil:
		add("%s or more", number(*s.Minimum))
	case s.Maximum != nil:
		add("%s or less", number(*s.Maximum))
	}
	switch {
	case s.MinLength != nil && s.MaxLength != nil:
		add("%d to %d characters", *s.MinLength, *s.MaxLength)
	case s.MinLength != nil:
		add("at least %d characters", *s.MinLength)
	case s.MaxLength != nil:
		add("at most %d characters", *s.MaxLength)
	}
	if s.MaxItems != nil {
		add("at most %d", *s.MaxItems)
	}
	switch {
	case s.Extensions[patternExtension] != nil:
		add("%s", s.Extensions[patternExtension])
	case s.Pattern != "":
		add("%s", s.Pattern)
	case s.Format == "email" || s.Format == "uri" || s.Format == "uuid":
		add("%s", s.Format)
	}
	if s.Default != nil {
		add("default %v", s.Default)
	}
	return list
}

// groupDigits formats an integer with thousands separators: 9,000,000.
func groupDigits(digits string) string {
	if strings.Contains(digits, ".") {
		return digits
	}
	first := 0
	if strings.HasPrefix(digits, "-") {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// exampleValue returns an example of a schema.
func (r *referenceRenderer) exampleValue(s *huma.Schema, depth int) any {
	if s == nil || depth > maxFieldDepth {
		return nil
	}
	if len(s.Examples) > 0 {
		return s.Examples[0]
	}
	s = r.resolve(s)
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.Type {
	case huma.TypeArray:
		return []any{r.exampleValue(s.Items, depth+1)}
	case huma.TypeBoolean:
		return true
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil {
			return rawNumber(strconv.FormatFloat(*s.Minimum, 'f', -1, 64))
		}
		return 1
	case huma.TypeObject:
		if variants := r.variantsOf(s); len(variants) > 0 {
			return r.exampleValue(r.api.Components.Schemas.Map()[variants[0].Name], depth+1)
		}
		object := orderedObject{}
		for _, name := range propertyOrder(s) {
			if slices.Contains(s.Required, name) || depth == 0 {
				object = append(object, member{name, r.exampleValue(s.Properties[name], depth+1)})
			}
		}
		return object
	case huma.TypeString:
		return exampleString(s.Format)
	}
	return nil
}

func exampleString(format string) string {
	switch format {
	case "date":
		return "1990-01-31"
	case "email":
		return "someone@example.com"
	case "uri":
		return "https://example.com/hook"
	case "uuid":
		return "0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"
	}
	return "text"
}

// orderedObject is a JSON object with ordered members.
type orderedObject []member

type member struct {
	name  string
	value any
}

// MarshalJSON returns the members in order.
func (o orderedObject) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// propertyOrder returns the required properties as declared, then the others by name.
func propertyOrder(s *huma.Schema) []string {
	names := slices.Clone(s.Required)
	for _, name := range sortedKeys(s.Properties) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return s.Properties[name] == nil })
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
