package httpapi

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// knownFields are the fields of a schema. Nil means that every value is known, whatever it
// contains.
type knownFields struct {
	fields  map[string]*knownFields // of an object; nil if it may have any field
	content *knownFields            // of the items of a list, or the values of a map

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
	k := &knownFields{}
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

// fieldScanner finds the unknown fields of a JSON text without decoding it. It stops at
// text that is not JSON, which the parser reports.
type fieldScanner struct {
	data    []byte
	pos     int
	ignored []string
}

// place is a value within the text. It is only written out for an unknown field.
type place struct {
	within *place // nil for the whole text
	name   []byte // of a field; nil for an item of a list
	index  int
}

func (p *place) String() string {
	switch {
	case p.within == nil:
		return ""
	case p.name == nil:
		return p.within.String() + "[" + strconv.Itoa(p.index) + "]"
	case p.within.within == nil:
		return string(p.name)
	}
	return p.within.String() + "." + string(p.name)
}

// value scans one value and reports whether it is JSON.
func (s *fieldScanner) value(known *knownFields, at *place, depth int) bool {
	s.skipSpace()
	switch {
	case depth > maxDepth:
		return false
	case s.peek() == '{':
		return s.object(known, at, depth)
	case s.peek() == '[':
		return s.array(known, at, depth)
	case s.peek() == '"':
		_, ok := s.text()
		return ok
	}
	start := s.pos
	for {
		switch s.peek() {
		case ',', ']', '}', ' ', '\t', '\r', '\n', 0:
			return s.pos > start
		}
		s.pos++
	}
}

func (s *fieldScanner) object(known *knownFields, at *place, depth int) bool {
	if known != nil && known.discriminator != "" {
		if branch := known.branches[s.discriminator(known.discriminator)]; branch != nil {
			known = branch
		}
	}
	s.pos++ // {
	for s.skipSpace(); s.peek() != '}'; s.skipSpace() {
		name, ok := s.name()
		if !ok {
			return false
		}
		field, found := known.field(name)
		here := place{within: at, name: name}
		if !found && len(s.ignored) < maxIgnoredLength {
			s.ignored = append(s.ignored, here.String())
		}
		if !s.value(field, &here, depth+1) {
			return false
		}
		s.comma()
	}
	s.pos++ // }
	return true
}

func (s *fieldScanner) array(known *knownFields, at *place, depth int) bool {
	var items *knownFields
	if known != nil {
		items = known.content
	}
	s.pos++ // [
	here := place{within: at}
	for s.skipSpace(); s.peek() != ']'; s.skipSpace() {
		if !s.value(items, &here, depth+1) {
			return false
		}
		s.comma()
		here.index++
	}
	s.pos++ // ]
	return true
}

// field returns the known fields of a field, and whether it is known. As in the decoding,
// the case of letters is ignored.
func (k *knownFields) field(name []byte) (*knownFields, bool) {
	switch {
	case k == nil:
		return nil, true
	case k.fields == nil:
		return k.content, true
	}
	if field, ok := k.fields[string(name)]; ok {
		return field, true
	}
	for known, field := range k.fields {
		if strings.EqualFold(known, string(name)) {
			return field, true
		}
	}
	return nil, false
}

// discriminator returns the text of a field of the object at s.pos, which stays there;
// empty if it has none.
func (s *fieldScanner) discriminator(field string) string {
	object := fieldScanner{data: s.data, pos: s.pos + 1}
	for object.skipSpace(); object.peek() != '}'; object.skipSpace() {
		name, ok := object.name()
		if !ok {
			return ""
		}
		if object.skipSpace(); string(name) == field && object.peek() == '"' {
			text, _ := object.text()
			return string(text)
		}
		if !object.value(nil, nil, 0) {
			return ""
		}
		object.comma()
	}
	return ""
}

// name scans the name of a field and the colon.
func (s *fieldScanner) name() ([]byte, bool) {
	if s.peek() != '"' {
		return nil, false
	}
	name, ok := s.text()
	if s.skipSpace(); !ok || s.peek() != ':' {
		return nil, false
	}
	s.pos++
	return name, true
}

// text scans a string.
func (s *fieldScanner) text() ([]byte, bool) {
	start, escaped := s.pos, false
	for s.pos++; s.pos < len(s.data); s.pos++ {
		switch s.data[s.pos] {
		case '\\':
			escaped = true
			s.pos++
		case '"':
			s.pos++
			if !escaped {
				return s.data[start+1 : s.pos-1], true
			}
			return s.unquote(start)
		}
	}
	return nil, false
}

// unquote resolves the escapes of the string from start to s.pos.
func (s *fieldScanner) unquote(start int) ([]byte, bool) {
	var text string
	err := json.Unmarshal(s.data[start:s.pos], &text)
	return []byte(text), err == nil
}

func (s *fieldScanner) comma() {
	if s.skipSpace(); s.peek() == ',' {
		s.pos++
	}
}

func (s *fieldScanner) skipSpace() {
	for s.peek() == ' ' || s.peek() == '\t' || s.peek() == '\r' || s.peek() == '\n' {
		s.pos++
	}
}

// peek returns the next byte, or 0 at the end.
func (s *fieldScanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}
