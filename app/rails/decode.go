package rails

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/formats/connection"
)

// decoder reads the file of a connection field by field, and collects those that are unknown or of another type.
type decoder struct{ bad []fault.Field }

func (d *decoder) refuse(field, format string, args ...any) {
	d.bad = append(d.bad, fault.Field{Field: field, Message: fmt.Sprintf(format, args...)})
}

// decode returns the fields of a file as far as they can be read, and what is wrong with the others.
func decode(file []byte) (document, []fault.Field) {
	var doc document
	var d decoder
	whole := json.NewDecoder(bytes.NewReader(file))
	var fields map[string]json.RawMessage
	err := whole.Decode(&fields)
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		d.refuse("file", "must be the JSON object of a connection, and is empty")
	case errors.As(err, &syntax):
		d.refuse("file", "must be the JSON object of a connection; line %d is not valid: %v",
			1+bytes.Count(file[:min(int(syntax.Offset), len(file))], []byte("\n")), err)
	case err != nil || fields == nil:
		d.refuse("file", `must be the JSON object of a connection, which begins with { and ends with }`)
	default:
		if _, err := whole.Token(); !errors.Is(err, io.EOF) {
			d.refuse("file", "must be the JSON object of a connection, and there is more than one value")
		}
	}
	if len(d.bad) > 0 {
		return doc, d.bad
	}
	var limits, schedules []json.RawMessage
	var settings map[string]json.RawMessage
	d.fields("", fields, map[string]any{"adapter": &doc.Adapter, "rails": &doc.Rails, "currencies": &doc.Currencies,
		"countries": &doc.Countries, "platforms": &doc.Platforms,
		"unmatched": &doc.Unmatched, "priority": &doc.Priority, "limits": &limits, "schedules": &schedules, "settings": &settings})
	doc.Limits, doc.Schedules = make([]connection.Limit, len(limits)), make([]connection.Schedule[string], len(schedules))
	for i, raw := range limits {
		l := &doc.Limits[i]
		d.object(fmt.Sprintf("limits[%d]", i), raw, map[string]any{"rail": &l.Rail, "currency": &l.Currency, "perPayout": &l.PerPayout,
			"perHour": &l.PerHour, "perDay": &l.PerDay})
	}
	for i, raw := range schedules {
		s := &doc.Schedules[i]
		d.object(fmt.Sprintf("schedules[%d]", i), raw, map[string]any{"rail": &s.Rail, "zone": &s.Zone, "calendar": &s.Calendar,
			"opens": &s.Opens, "cutOff": &s.CutOff,
			"settlesAt": &s.SettlesAt, "days": &s.Days, "takes": &s.Takes, "holidays": &s.Holidays, "workingDays": &s.WorkingDays, "hold": &s.Hold})
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		var value string
		d.value("settings."+name, settings[name], &value)
		if doc.Settings == nil {
			doc.Settings = map[string]string{}
		}
		doc.Settings[name] = value
	}
	return doc, d.bad
}

func (d *decoder) object(name string, raw json.RawMessage, targets map[string]any) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		d.refuse(name, "must be an object in braces")
		return
	}
	d.fields(name+".", fields, targets)
}

// fields reads the fields of an object into targets by name.
func (d *decoder) fields(prefix string, fields map[string]json.RawMessage, targets map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		target, known := targets[name]
		if !known {
			d.refuse(fmt.Sprintf("%s%.64s", prefix, printableName(name)), "is an unknown field; there are %s",
				strings.Join(slices.Sorted(maps.Keys(targets)), ", "))
			continue
		}
		d.value(prefix+name, fields[name], target)
	}
}

// printableName returns the name of a field, quoted if it is not a plain one.
func printableName(name string) string {
	quoted := fmt.Sprintf("%q", name)
	if len(quoted) == len(name)+2 && name != "" {
		return name
	}
	return quoted
}

// value reads a value. What the file has in its place is never shown, because it may be a secret.
func (d *decoder) value(name string, raw json.RawMessage, target any) {
	if json.Unmarshal(raw, target) == nil {
		return
	}
	want := "a text in quotes"
	switch target.(type) {
	case *int, *int64, **int:
		want = "a whole number without quotes"
	case *bool:
		want = "true or false, without quotes"
	case *map[string]json.RawMessage:
		want = "an object in braces"
	case *[]json.RawMessage:
		want = "a list in brackets of objects in braces"
	default:
		if strings.HasPrefix(fmt.Sprintf("%T", target), "*[]") {
			want = "a list in brackets of texts in quotes"
		}
	}
	d.refuse(name, "must be %s", want)
}
