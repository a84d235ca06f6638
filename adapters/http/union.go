package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// UnionSpec is an object that takes one of several forms, as a table: the published
// oneOf and the validation both come from it.
type UnionSpec struct {
	Description string
	// Discriminator is the property whose value names the form: "accountType".
	Discriminator string
	Branches      []Branch
}

// Branch is one form of a union.
type Branch struct {
	// Name is the name of its schema in the published description: "UsAccountInfo".
	Name        string
	Description string
	// Values of the discriminator that choose this form. The first is the one to
	// use; the others are accepted as well.
	Values []string
	// Marker is a property that chooses this form where the discriminator is
	// missing. Empty: then the discriminator is required.
	Marker string
	Fields []Field
}

// Field is one property of a form. Without Schema, Fields and Union it is a string.
type Field struct {
	Name               string
	Description        string
	Required           bool
	Pattern            string
	PatternDescription string // what Pattern means, to follow "must be": "9 digits"
	Format             string // a JSON Schema format: "date", "email"
	Enum               []string
	MinLength          int
	MaxLength          int
	Example            any
	Schema             *huma.Schema // any other shape
	Fields             []Field      // an object of these
	Union              *UnionSpec   // an object of one of these forms
}

// UnionTable gives a union its table. Its zero value is asked.
type UnionTable interface{ Union() UnionSpec }

// Union is a field of a body that takes one of several forms. The JSON is kept as
// it was sent, and has been checked against its form when the operation runs.
type Union[T UnionTable] struct {
	branch string
	values map[string]any
	raw    json.RawMessage
}

// NewUnion makes a union for an answer.
func NewUnion[T UnionTable](values map[string]any) Union[T] { return Union[T]{values: values} }

// IsZero tells whether the field was missing or null.
func (u Union[T]) IsZero() bool { return u.raw == nil && u.values == nil }

// Branch is the Name of the form that was sent.
func (u Union[T]) Branch() string { return u.branch }

// Values are the properties that were sent, unknown ones included: text, float64,
// bool, nil, list and map.
func (u Union[T]) Values() map[string]any { return u.values }

// Text is a property that is a string; empty if it is missing.
func (u Union[T]) Text(name string) string {
	text, _ := u.values[name].(string)
	return text
}

// Decode reads the JSON into a value of the caller's own type.
func (u Union[T]) Decode(into any) error { return json.Unmarshal(u.raw, into) }

// UnmarshalJSON keeps the JSON; it is checked afterwards.
func (u *Union[T]) UnmarshalJSON(data []byte) error {
	if !bytes.Equal(data, []byte("null")) {
		u.raw = bytes.Clone(data)
	}
	return nil
}

// MarshalJSON writes the properties.
func (u Union[T]) MarshalJSON() ([]byte, error) {
	if u.values == nil && u.raw != nil {
		return u.raw, nil
	}
	return json.Marshal(u.values)
}

// Schema publishes the forms. For the validator it is any object: Resolve is more
// exact, and says which field of which form is wrong.
func (Union[T]) Schema(r huma.Registry) *huma.Schema { return compiledUnionFor[T]().schema(r) }

// Resolve checks what was sent against its form.
func (u *Union[T]) Resolve(ctx huma.Context, at *huma.PathBuffer) []error {
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
	u.branch = compiledUnionFor[T]().check(object, at, result)
	return result.Errors
}

var _ huma.ResolverWithPath = (*Union[emptyTable])(nil)

type emptyTable struct{}

func (emptyTable) Union() UnionSpec { return UnionSpec{} }

const discriminatorDescription = "Which form this is."

// compiledUnion is a table made ready, once per type.
type compiledUnion struct {
	spec    UnionSpec
	names   []string // every value of the discriminator
	schemas []*huma.Schema
	nested  []map[string]*compiledUnion // by branch and property
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

func compileUnion(spec UnionSpec) *compiledUnion {
	c := &compiledUnion{spec: spec}
	for _, branch := range spec.Branches {
		c.names = append(c.names, branch.Values...)
		nested := map[string]*compiledUnion{}
		schema := objectSchema(branch.Fields, nested)
		schema.Description = branch.Description
		if len(branch.Values) > 0 {
			schema.Properties[spec.Discriminator] = &huma.Schema{Type: huma.TypeString, Enum: toAny(branch.Values), Description: discriminatorDescription}
			if branch.Marker == "" {
				schema.Required = append([]string{spec.Discriminator}, schema.Required...)
			}
		}
		schema.PrecomputeMessages()
		c.schemas = append(c.schemas, schema)
		c.nested = append(c.nested, nested)
	}
	return c
}

func objectSchema(fields []Field, nested map[string]*compiledUnion) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: true}
	for _, f := range fields {
		if f.Required {
			schema.Required = append(schema.Required, f.Name)
		}
		schema.Properties[f.Name] = f.schema(nested)
	}
	return schema
}

func (f Field) schema(nested map[string]*compiledUnion) *huma.Schema {
	var s huma.Schema
	switch {
	case f.Union != nil:
		if nested == nil {
			panic("httpapi: a union can stand in a form, not deeper: " + f.Name)
		}
		c := compileUnion(*f.Union)
		nested[f.Name] = c
		s = *c.schema(nil)
	case f.Fields != nil:
		s = *objectSchema(f.Fields, nil)
	case f.Schema != nil:
		s = *f.Schema
	default:
		s = huma.Schema{Type: huma.TypeString, Pattern: f.Pattern, PatternDescription: f.PatternDescription, Format: f.Format, Enum: toAny(f.Enum)}
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

// schema is the published form: its branches become components of the registry,
// which may be nil for a union inside another one that is published later.
func (c *compiledUnion) schema(r huma.Registry) *huma.Schema {
	const prefix = "#/components/schemas/"
	var oneOf []any
	mapping := map[string]string{}
	for i, branch := range c.spec.Branches {
		if r != nil {
			// Forms of one name must be one form; unions may share it.
			if other, taken := r.Map()[branch.Name]; taken && !reflect.DeepEqual(other, c.schemas[i]) {
				panic("httpapi: two schemas are named " + branch.Name)
			}
			r.Map()[branch.Name] = c.schemas[i]
			for _, inner := range c.nested[i] {
				inner.schema(r)
			}
		}
		oneOf = append(oneOf, map[string]string{"$ref": prefix + branch.Name})
		for _, value := range branch.Values {
			mapping[value] = prefix + branch.Name
		}
	}
	s := &huma.Schema{Type: huma.TypeObject, Description: c.spec.Description, AdditionalProperties: true, Extensions: map[string]any{"oneOf": oneOf}}
	if c.spec.Discriminator != "" && !slices.ContainsFunc(c.spec.Branches, func(b Branch) bool { return b.Marker != "" }) {
		s.Extensions["discriminator"] = map[string]any{"propertyName": c.spec.Discriminator, "mapping": mapping}
	}
	return s
}

// check reports everything wrong with an object and returns the name of its form.
func (c *compiledUnion) check(object map[string]any, at *huma.PathBuffer, result *huma.ValidateResult) string {
	i, ok := c.chooseBranch(object, at, result)
	if !ok {
		return ""
	}
	huma.Validate(nil, c.schemas[i], at, huma.ModeWriteToServer, object, result)
	for name, inner := range c.nested[i] {
		if value, ok := object[name].(map[string]any); ok {
			at.Push(name)
			inner.check(value, at, result)
			at.Pop()
		}
	}
	return c.spec.Branches[i].Name
}

func (c *compiledUnion) chooseBranch(object map[string]any, at *huma.PathBuffer, result *huma.ValidateResult) (int, bool) {
	value, given := object[c.spec.Discriminator]
	if given && value != nil {
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
			result.Add(at, nil, fmt.Sprintf("must have one of %s", strings.Join(markers, ", ")))
			return 0, false
		}
	}
	at.Push(c.spec.Discriminator)
	result.Add(at, nil, separator+"enum"+separator+strings.Join(c.names, ", "))
	at.Pop()
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
