// Package diff compares two versions of something field by field, for the record of a change.
package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Values are the values of something by the names of its fields. One that is empty is as one that is missing.
type Values map[string]string

// Field is a field that was changed.
type Field struct {
	Name, Before, After string
	// Hidden fields are secret or personal: the record says that they were changed, and has no values.
	Hidden bool
}

const (
	// maxValue is the longest value that a record keeps, in characters.
	maxValue = 2000
	// shownBefore is how many characters a shortened value has before the first one that differs.
	shownBefore = 40
	// maxRecord is the size of all fields that a record keeps, in bytes.
	maxRecord = 32 << 10
)

// Between returns the fields of which two versions differ, by name.
func Between(before, after Values) (changed []Field) {
	names := maps.Clone(before)
	if names == nil {
		names = Values{}
	}
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if before[name] != after[name] {
			f := Field{Name: name}
			f.Before, f.After = shortened(before[name], after[name])
			changed = append(changed, f)
		}
	}
	return changed
}

// shortened returns two different values; if one is too long, the parts of both from shortly before the first character that differs.
func shortened(before, after string) (shortBefore, shortAfter string) {
	b, a := []rune(before), []rune(after)
	if max(len(b), len(a)) <= maxValue {
		return before, after
	}
	from := 0
	for from < min(len(b), len(a)) && b[from] == a[from] {
		from++
	}
	from = max(0, from-shownBefore)
	return part(b, from), part(a, from)
}

func part(characters []rune, from int) string {
	text := string(characters[from:min(len(characters), from+maxValue)])
	if from > 0 {
		text = "…" + text
	}
	if from+maxValue < len(characters) {
		text += "…"
	}
	return text
}

// Limited returns the fields that one record keeps: if they are too long together, the first ones, and one that says how many are left out.
func Limited(fields []Field) []Field {
	size := 0
	for i, f := range fields {
		if size += len(f.Name) + len(f.Before) + len(f.After); size > maxRecord {
			return append(slices.Clone(fields[:i]), Field{Name: "(shortened)", After: fmt.Sprintf("%d more fields were changed", len(fields)-i)})
		}
	}
	return fields
}

// Hide returns the fields without the values of those that isShown does not allow.
func Hide(fields []Field, isShown func(name string) bool) []Field {
	fields = slices.Clone(fields)
	for i, f := range fields {
		if !isShown(f.Name) {
			fields[i] = Field{Name: f.Name, Hidden: true}
		}
	}
	return fields
}

// Of returns the values of a JSON document by their paths, such as settings.url; those of a document that is none are empty. A list of
// texts is one value.
func Of(document []byte) Values {
	values := Values{}
	var v any
	decoder := json.NewDecoder(strings.NewReader(string(document)))
	decoder.UseNumber() // as it was written
	if decoder.Decode(&v) == nil {
		values.read("", v)
	}
	return values
}

func (values Values) read(path string, v any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for name, value := range v {
			if path != "" {
				name = path + "." + name
			}
			values.read(name, value)
		}
	case []any:
		if texts, ok := textsOf(v); ok {
			values[path] = strings.Join(texts, ", ")
			return
		}
		for i, value := range v {
			values.read(fmt.Sprintf("%s[%d]", path, i), value)
		}
	default:
		values[path] = fmt.Sprint(v)
	}
}

func textsOf(list []any) (texts []string, ok bool) {
	for _, item := range list {
		text, isText := item.(string)
		if !isText {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}

// String returns the change in a line.
func (f Field) String() string {
	if f.Hidden {
		return f.Name + " changed"
	}
	return f.Name + ": " + orNone(f.Before) + " → " + orNone(f.After)
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}
