package httpapi

import (
	"maps"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

// knownFields are the fields of a schema. Nil means that every value is known, whatever it
// contains.
type knownFields struct {
	fields  map[string]*knownFields // of an object; nil if it may have any field
	content *knownFields            // of the items of a list, or the values of a map
	enum    []string                // the allowed values of a text; nil if it may be any

	// A union has the fields of all its branches. If the discriminator has one of these
	// values, only the fields of that branch are known.
	discriminator string
	branches      map[string]*knownFields
}

// fieldsBuilder collects the known fields of schemas.
type fieldsBuilder struct {
	registry huma.Registry
	done     map[*huma.Schema]*knownFields // schemas may refer to themselves
}

func (b fieldsBuilder) fields(s *huma.Schema) *knownFields {
	if s != nil && s.Ref != "" {
		s = b.registry.SchemaFromRef(s.Ref)
	}
	if s == nil {
		return nil
	}
	if k, ok := b.done[s]; ok {
		return k
	}
	k := &knownFields{enum: enumOf(s)}
	b.done[s] = k
	if s.Items != nil {
		k.content = b.fields(s.Items)
		return k
	}
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		k.content = b.fields(values)
		return k
	}
	if forms := unionForms(s); forms != nil {
		k.fields = map[string]*knownFields{}
		if d, ok := s.Extensions[discriminatorKey].(unionDiscriminator); ok {
			k.discriminator, k.branches = d.PropertyName, map[string]*knownFields{}
			for value, ref := range d.Mapping {
				k.branches[value] = b.fields(&huma.Schema{Ref: ref})
			}
		}
		for _, form := range forms {
			for name, field := range b.fields(form).fields {
				k.fields[name] = field
			}
		}
		return k
	}
	if len(s.Properties) > 0 {
		k.fields = make(map[string]*knownFields, len(s.Properties))
		for name, property := range s.Properties {
			k.fields[name] = b.fields(property)
		}
	}
	return k
}

// enumOf returns the allowed values of a text; nil if it may be any.
func enumOf(s *huma.Schema) []string {
	var values []string
	for _, value := range s.Enum {
		if text, ok := value.(string); ok {
			values = append(values, text)
		}
	}
	return values
}

// at returns what is known of a dotted path; nil if there is nothing, or if it depends on the branch of a union.
func (k *knownFields) at(path string) *knownFields {
	for name := range strings.SplitSeq(path, ".") {
		name, index, _ := strings.Cut(name, "[")
		if k == nil || k.branches != nil {
			return nil
		}
		k = k.fields[name]
		for range strings.Count(index, "]") {
			if k != nil {
				k = k.content
			}
		}
	}
	return k
}

// fieldScanner finds the unknown fields of a JSON text without decoding it. It stops at
// text that is not JSON, which the parser reports.
type fieldScanner struct {
	*parser
	ignored  []string
	misspelt []fault.Field // within two letters of a known field
}

// place is a value within the text. It is only written out for an unknown field.
type place struct {
	within *place // nil for the whole text
	name   string // of a field
	index  int    // of an item of a list; notItem for a field
}

const notItem = -1

func (p *place) String() string {
	switch {
	case p.within == nil:
		return ""
	case p.index != notItem:
		return p.within.String() + "[" + strconv.Itoa(p.index) + "]"
	case p.within.within == nil:
		return p.name
	}
	return p.within.String() + "." + p.name
}

// value scans one value and reports whether it is JSON.
func (s *fieldScanner) value(known *knownFields, at *place, depth int) bool {
	switch kind := s.PeekKind(); {
	case depth > maxDepth:
		return false
	case kind == '{' && known != nil:
		return s.object(known, at, depth)
	case kind == '[' && known != nil:
		return s.array(known, at, depth)
	}
	return s.SkipValue() == nil
}

func (s *fieldScanner) object(known *knownFields, at *place, depth int) bool {
	_, _ = s.ReadToken() // {
	whole := known       // of a union
	if known.discriminator != "" {
		if branch := known.branches[s.discriminator(known.discriminator)]; branch != nil {
			known = branch
		}
	}
	for s.PeekKind() == '"' {
		name, _ := s.text()
		if s.problem != nil {
			return false
		}
		field, found := known.field(name)
		here := place{within: at, name: name, index: notItem}
		if !found {
			s.unknown(&here, known, whole)
		}
		if !s.value(field, &here, depth+1) {
			return false
		}
	}
	_, err := s.ReadToken() // }
	return err == nil
}

// unknown records an unknown field of an object. What another branch of its union has is not
// misspelt.
func (s *fieldScanner) unknown(at *place, known, whole *knownFields) {
	if _, ofOther := whole.field(at.name); !ofOther && len(s.misspelt) < maxUnknown {
		if similar := mostSimilar(at.name, maps.Keys(known.fields)); similar != "" {
			s.misspelt = append(s.misspelt, misspeltField(at.String(), similar))
			return
		}
	}
	if len(s.ignored) < maxIgnoredLength {
		s.ignored = append(s.ignored, at.String())
	}
}

func (s *fieldScanner) array(known *knownFields, at *place, depth int) bool {
	_, _ = s.ReadToken() // [
	for here := (place{within: at}); s.PeekKind() != ']'; here.index++ {
		if !s.value(known.content, &here, depth+1) {
			return false
		}
	}
	_, _ = s.ReadToken() // ]
	return true
}

// discriminator returns the text of a field of the object that has just begun; empty if it
// has none.
func (s *fieldScanner) discriminator(field string) string {
	object := newParser(s.data[s.InputOffset()-1:])
	_, _ = object.ReadToken() // {
	for object.PeekKind() == '"' {
		name, _ := object.text()
		if name == field && object.PeekKind() == '"' {
			text, _ := object.text()
			return text
		}
		if object.SkipValue() != nil {
			return ""
		}
	}
	return ""
}

// field returns the known fields of a field, and whether it is known. As in the decoding,
// the case of letters is ignored.
func (k *knownFields) field(name string) (*knownFields, bool) {
	switch {
	case k == nil:
		return nil, true
	case k.fields == nil:
		return k.content, true
	}
	if field, ok := k.fields[name]; ok {
		return field, true
	}
	for known, field := range k.fields {
		if strings.EqualFold(known, name) {
			return field, true
		}
	}
	return nil, false
}
