package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// UnionSpec describes an object that has one of several forms (branches). The published
// oneOf and the validation are both generated from it.
type UnionSpec struct {
	// Name is the name of the published schema. Empty means that each field has its own.
	Name        string
	Description string
	// Discriminator is the property whose value selects the branch: "accountType".
	Discriminator string
	Branches      []Branch
}

// Branch is one form of a union.
type Branch struct {
	// Name is the name of the published schema: "UsAccountInfo".
	Name        string
	Description string
	// Values are the discriminator values that select the branch. The first is preferred;
	// the others are aliases.
	Values []string
	// Marker is a property that selects the branch if the discriminator is missing. Empty
	// means that the discriminator is required. It always is in the description, because the
	// branches would not exclude each other without it.
	Marker string
	Fields []Field
}

// Field is one property of a branch. Without Schema, Fields and Union it is a string.
type Field struct {
	Name               string
	Description        string
	Required           bool
	Pattern            string
	PatternDescription string // follows "must be": "9 digits"
	Format             string // a JSON Schema format: "date", "email"
	Enum               []string
	MinLength          int
	MaxLength          int
	Example            any
	Schema             *huma.Schema // any other shape
	Fields             []Field      // an object with these fields
	Union              *UnionSpec   // a nested union
}

// UnionTable returns the specification of a union. The method is called on the zero value.
type UnionTable interface{ Union() UnionSpec }

// Union is a field of a body with one of several forms. It keeps the JSON as it was sent.
// When the operation runs, the JSON has been validated against its branch.
type Union[T UnionTable] struct {
	branch string
	values map[string]any
	raw    json.RawMessage
}

// NewUnion returns a union for a response.
func NewUnion[T UnionTable](values map[string]any) Union[T] { return Union[T]{values: values} }

// IsZero reports whether the field was missing or null.
func (u Union[T]) IsZero() bool { return u.raw == nil && u.values == nil }

// Branch returns the name of the branch that was sent.
func (u Union[T]) Branch() string { return u.branch }

// Values returns the properties that were sent, including unknown ones, as string,
// float64, bool, nil, slice or map.
func (u Union[T]) Values() map[string]any { return u.values }

// Text returns a string property; empty if it is missing.
func (u Union[T]) Text(name string) string {
	text, _ := u.values[name].(string)
	return text
}

// Decode decodes the JSON into a value.
func (u Union[T]) Decode(into any) error { return json.Unmarshal(u.raw, into) }

// UnmarshalJSON keeps the JSON; Resolve validates it.
func (u *Union[T]) UnmarshalJSON(data []byte) error {
	if !bytes.Equal(data, []byte("null")) {
		u.raw = bytes.Clone(data)
	}
	return nil
}

// MarshalJSON returns the properties.
func (u Union[T]) MarshalJSON() ([]byte, error) {
	if u.values == nil && u.raw != nil {
		return u.raw, nil
	}
	return json.Marshal(u.values)
}

// Schema returns the published oneOf. The schema validator accepts any object, because
// Resolve reports more precise errors.
func (Union[T]) Schema(r huma.Registry) *huma.Schema { return compiledUnionFor[T]().schema(r) }

// Resolve validates the value against its branch.
func (u *Union[T]) Resolve(ctx huma.Context, path *huma.PathBuffer) []error {
	if u.raw == nil {
		return nil
	}
	value, err := parseJSON(u.raw)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil // reported by the validator
	}
	u.values = object
	result := &huma.ValidateResult{}
	u.branch = compiledUnionFor[T]().check(object, path, result)
	return result.Errors
}

var _ huma.ResolverWithPath = (*Union[emptyTable])(nil)

type emptyTable struct{}

func (emptyTable) Union() UnionSpec { return UnionSpec{} }

const discriminatorDescription = "Type of this object."

// compiledUnion is a specification with its schemas, compiled once per type.
type compiledUnion struct {
	spec      UnionSpec
	names     []string                    // all discriminator values
	schemas   []*huma.Schema              // of the branches, for the validation
	published []*huma.Schema              // the same for the description
	nested    []map[string]*compiledUnion // by branch and property
}

var compiledUnions sync.Map // reflect.Type -> *compiledUnion

func compiledUnionFor[T UnionTable]() *compiledUnion {
	t := reflect.TypeFor[T]()
	if c, ok := compiledUnions.Load(t); ok {
		return c.(*compiledUnion)
	}
	var table T
	c, _ := compiledUnions.LoadOrStore(t, compileUnion(table.Union()))
	return c.(*compiledUnion)
}

func compileUnion(spec UnionSpec) *compiledUnion { return compileWith(spec, leafSchemas{}) }

func compileWith(spec UnionSpec, leaves leafSchemas) *compiledUnion {
	c := &compiledUnion{spec: spec}
	for _, branch := range spec.Branches {
		c.names = append(c.names, branch.Values...)
		nested := map[string]*compiledUnion{}
		schema := objectSchema(branch.Fields, nested, leaves)
		schema.Description = branch.Description
		if len(branch.Values) > 0 {
			schema.Properties[spec.Discriminator] = &huma.Schema{Type: huma.TypeString, Enum: toAny(branch.Values),
				Description: discriminatorDescription}
			if branch.Marker == "" {
				schema.Required = append([]string{spec.Discriminator}, schema.Required...)
			}
		}
		schema.PrecomputeMessages()
		c.schemas = append(c.schemas, schema)
		if len(branch.Values) > 0 && branch.Marker != "" {
			described := *schema
			described.Required = append([]string{spec.Discriminator}, schema.Required...)
			schema = &described
		}
		c.published = append(c.published, schema)
		c.nested = append(c.nested, nested)
	}
	return c
}

func objectSchema(fields []Field, nested map[string]*compiledUnion, leaves leafSchemas) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	for _, f := range fields {
		if f.Required {
			schema.Required = append(schema.Required, f.Name)
		}
		schema.Properties[f.Name] = f.schema(nested, leaves)
	}
	return schema
}

// leafSchemas are the schemas of texts in a union, by what they say: the branches share them, because most fields of one are
// those of another.
type leafSchemas map[string]*huma.Schema

func (f Field) schema(nested map[string]*compiledUnion, leaves leafSchemas) *huma.Schema {
	if f.Union == nil && f.Fields == nil && f.Schema == nil {
		key := fmt.Sprintf("%q", []any{f.Description, f.Pattern, f.PatternDescription, f.Format, f.Enum, f.MinLength, f.MaxLength, f.Example})
		if leaves[key] == nil {
			leaves[key] = f.newSchema(nested, leaves)
		}
		return leaves[key]
	}
	return f.newSchema(nested, leaves)
}

func (f Field) newSchema(nested map[string]*compiledUnion, leaves leafSchemas) *huma.Schema {
	var s huma.Schema
	switch {
	case f.Union != nil:
		if nested == nil {
			panic("httpapi: unions can be nested only once: " + f.Name)
		}
		c := compileWith(*f.Union, leaves)
		nested[f.Name] = c
		s = *c.schema(nil)
	case f.Fields != nil:
		s = *objectSchema(f.Fields, nil, leaves)
	case f.Schema != nil:
		s = *copySchema(f.Schema) // which is shared, and completed by what validates with it
	default:
		s = huma.Schema{Type: huma.TypeString, Pattern: f.Pattern, PatternDescription: f.PatternDescription, Format: f.Format,
			Enum: toAny(f.Enum)}
		if f.MinLength > 0 {
			s.MinLength = &f.MinLength
		}
		if f.MaxLength > 0 {
			s.MaxLength = &f.MaxLength
		}
	}
	if f.Description != "" {
		s.Description = f.Description
	}
	if f.Example != nil {
		s.Examples = []any{f.Example}
	}
	return &s
}

// copySchema returns a copy that a description can change. The original is shared by all of them.
func copySchema(s *huma.Schema) *huma.Schema {
	if s == nil {
		return nil
	}
	result := *s
	result.Items = copySchema(s.Items)
	result.Extensions = maps.Clone(s.Extensions)
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		result.AdditionalProperties = copySchema(values)
	}
	result.Properties = maps.Clone(s.Properties)
	for name, property := range result.Properties {
		result.Properties[name] = copySchema(property)
	}
	return &result
}

// schema returns the published schema and adds the branches to the registry. The registry
// is nil for a nested union, which is added later.
func (c *compiledUnion) schema(r huma.Registry) *huma.Schema {
	var oneOf []*huma.Schema
	mapping := map[string]string{}
	for i, branch := range c.spec.Branches {
		if r != nil {
			// Unions may share a branch, but branches with the same name must be equal.
			published := copySchema(c.published[i])
			if other, exists := r.Map()[branch.Name]; exists && !reflect.DeepEqual(other, published) {
				panic("httpapi: two schemas are named " + branch.Name)
			}
			r.Map()[branch.Name] = published
			for _, inner := range c.nested[i] {
				inner.schema(r)
			}
		}
		oneOf = append(oneOf, &huma.Schema{Ref: schemaPrefix + branch.Name})
		for _, value := range branch.Values {
			mapping[value] = schemaPrefix + branch.Name
		}
	}
	s := newUnionSchema(c.spec.Description, c.spec.Discriminator, oneOf, mapping)
	if r == nil || c.spec.Name == "" {
		return s
	}
	r.Map()[c.spec.Name] = s
	return &huma.Schema{Ref: schemaPrefix + c.spec.Name}
}

func newUnionSchema(description, discriminator string, oneOf []*huma.Schema, mapping map[string]string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Description: description, Extensions: map[string]any{
		oneOfKey: oneOf, discriminatorKey: unionDiscriminator{discriminator, mapping},
	}}
}

// UnionOf adds the schema of an object of a response that has one of several types, and returns a reference to it. The
// values are those of the discriminator that select the types, which have it.
func UnionOf(r huma.Registry, name, description, discriminator string, values []string, types []reflect.Type) *huma.Schema {
	oneOf, mapping := make([]*huma.Schema, len(types)), map[string]string{}
	for i, t := range types {
		oneOf[i] = r.Schema(t, true, "")
		mapping[values[i]] = oneOf[i].Ref
	}
	r.Map()[name] = newUnionSchema(description, discriminator, oneOf, mapping)
	return &huma.Schema{Ref: schemaPrefix + name}
}

// The keywords of a union are extensions, because huma would validate them itself.
const (
	oneOfKey         = "oneOf"
	discriminatorKey = "discriminator"
)

// unionDiscriminator says which property selects the branch, and the branch of each value.
type unionDiscriminator struct {
	PropertyName string            `json:"propertyName"`
	Mapping      map[string]string `json:"mapping"` // references to schemas
}

// unionForms returns the branches of a union; nil for any other schema.
func unionForms(s *huma.Schema) []*huma.Schema {
	forms, _ := s.Extensions[oneOfKey].([]*huma.Schema)
	return forms
}

// check reports all errors of an object and returns the name of its branch.
func (c *compiledUnion) check(object map[string]any, path *huma.PathBuffer, result *huma.ValidateResult) string {
	i, ok := c.chooseBranch(object, path, result)
	if !ok {
		return ""
	}
	huma.Validate(nil, c.schemas[i], path, huma.ModeWriteToServer, object, result)
	for name, inner := range c.nested[i] {
		if value, ok := object[name].(map[string]any); ok {
			path.Push(name)
			inner.check(value, path, result)
			path.Pop()
		}
	}
	return c.spec.Branches[i].Name
}

func (c *compiledUnion) chooseBranch(object map[string]any, path *huma.PathBuffer, result *huma.ValidateResult) (int, bool) {
	value, found := object[c.spec.Discriminator]
	if found && value != nil {
		for i, branch := range c.spec.Branches {
			if slices.ContainsFunc(branch.Values, func(v string) bool { return value == v }) {
				return i, true
			}
		}
	} else {
		var markers []string
		for i, branch := range c.spec.Branches {
			if branch.Marker == "" {
				continue
			}
			if object[branch.Marker] != nil {
				return i, true
			}
			markers = append(markers, branch.Marker)
		}
		if markers != nil {
			result.Add(path, nil, fmt.Sprintf("must contain one of: %s", strings.Join(markers, ", ")))
			return 0, false
		}
	}
	path.Push(c.spec.Discriminator)
	result.Add(path, nil, separator+"enum"+separator+strings.Join(c.names, ", "))
	path.Pop()
	return 0, false
}

func toAny(texts []string) []any {
	if texts == nil {
		return nil
	}
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}
