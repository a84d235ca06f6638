package httpapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/requestlog"
)

// MaskWhole names fields that the log of requests masks with all that is in them, whatever the form of their values is.
func (a *API) MaskWhole(names ...string) {
	a.document.maskedWhole = append(a.document.maskedWhole, names...)
}

// ShownFields lists the fields and parameters of which the log of requests shows values, and in which forms, for tests.
func (a *API) ShownFields() []string {
	var list []string
	for name, f := range a.document.logRule {
		var forms []string
		for form, shown := range map[string]bool{"number": f.Number, "boolean": f.Boolean, "id": f.ID, "time": f.Time, "currency": f.Currency,
			"listed text": len(f.Values) > 0} {
			if shown && !f.Whole {
				forms = append(forms, form)
			}
		}
		if slices.Sort(forms); len(forms) > 0 {
			list = append(list, name+": "+strings.Join(forms, ", "))
		}
	}
	slices.Sort(list)
	return list
}

// buildLogRule makes the rule of the log of requests from the description: which values of a name identify nobody follows from the
// schemas that it has anywhere.
func (d *document) buildLogRule() error {
	b := ruleBuilder{rule: requestlog.Rule{}, registry: d.openapi.Components.Schemas, seen: map[*huma.Schema]bool{}}
	content := func(content map[string]*huma.MediaType) {
		for _, media := range content {
			b.fields(media.Schema)
		}
	}
	for _, schema := range d.openapi.Components.Schemas.Map() {
		b.fields(schema)
	}
	for _, op := range d.operations {
		for _, p := range op.Parameters {
			if p.Ref == "" {
				b.field(p.Name, p.Schema)
			}
		}
		if op.RequestBody != nil {
			content(op.RequestBody.Content)
		}
		for _, response := range op.Responses {
			content(response.Content)
		}
	}
	for _, name := range d.maskedWhole {
		forms := b.rule[name]
		if forms == nil {
			return fmt.Errorf("MaskWhole names %s, which is no field", name)
		}
		forms.Whole = true
	}
	d.logRule = b.rule
	return nil
}

type ruleBuilder struct {
	rule     requestlog.Rule
	registry huma.Registry
	seen     map[*huma.Schema]bool
}

// fields adds the fields of a schema.
func (b ruleBuilder) fields(s *huma.Schema) {
	if s = b.resolve(s); s == nil || b.seen[s] {
		return
	}
	b.seen[s] = true
	b.fields(s.Items)
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		b.fields(values)
	}
	for _, form := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf, unionForms(s)) {
		b.fields(form)
	}
	for name, property := range s.Properties {
		b.field(name, property)
	}
}

func (b ruleBuilder) resolve(s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return b.registry.SchemaFromRef(s.Ref)
	}
	return s
}

// field adds the forms of a field, or of the elements of one.
func (b ruleBuilder) field(name string, s *huma.Schema) {
	if s = b.resolve(s); s == nil {
		return
	}
	forms := b.rule[name]
	if forms == nil {
		forms = &requestlog.Forms{Values: map[string]bool{}}
		b.rule[name] = forms
	}
	for _, value := range enumOf(s) {
		forms.Values[value] = true
	}
	switch s.Type {
	case huma.TypeInteger, huma.TypeNumber:
		forms.Number = true
	case huma.TypeBoolean:
		forms.Boolean = true
	case huma.TypeString:
		forms.ID = forms.ID || strings.HasSuffix(s.Pattern, uuidPattern)
		forms.Time = forms.Time || s.Format == "date-time" || s.Format == "date"
		forms.Currency = forms.Currency || s.Pattern == currencyPattern || strings.HasSuffix(name, "Currency")
	case huma.TypeArray:
		b.field(name, s.Items)
	}
	b.fields(s)
}
