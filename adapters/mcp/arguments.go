package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// fieldKind is the kind of an argument.
type fieldKind string

const (
	text    fieldKind = "string"
	integer fieldKind = "integer"
	object  fieldKind = "object"
)

// field is an argument of a tool. Except for open objects, arguments that are not listed are refused.
type field struct {
	name        string
	kind        fieldKind
	description string
	required    bool
	enum        []string
	// minimum and maximum are of an integer; maxLength is of a text, in characters.
	minimum, maximum int64
	maxLength        int
	// standard is sent if a query has no value.
	standard int64
	// fields are those of an object. An open object may have others. It has exactly one of those of oneOf, if there are any.
	fields []field
	oneOf  []string
	open   bool
}

// defaultMaxLength is the longest text of an argument without a limit of its own.
const defaultMaxLength = 1000

// objectSchema returns the JSON schema of an object with these fields.
func objectSchema(fields []field, open bool) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for _, f := range fields {
		properties[f.name] = f.schema()
		if f.required {
			required = append(required, f.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": open}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func (f field) schema() map[string]any {
	schema := map[string]any{}
	switch f.kind {
	case object:
		schema = objectSchema(f.fields, f.open)
	case integer:
		schema["type"] = "integer"
		if f.minimum != 0 {
			schema["minimum"] = f.minimum
		}
		if f.maximum != 0 {
			schema["maximum"] = f.maximum
		}
		if f.standard != 0 {
			schema["default"] = f.standard
		}
	case text:
		schema["type"] = "string"
		if len(f.enum) > 0 {
			schema["enum"] = f.enum
		} else {
			schema["minLength"], schema["maxLength"] = 1, f.longest()
		}
	}
	schema["description"] = f.description
	return schema
}

func (f field) longest() int {
	if f.maxLength == 0 {
		return defaultMaxLength
	}
	return f.maxLength
}

// parseArguments returns the arguments of a call, and every problem that they have, in words.
func parseArguments(raw json.RawMessage, fields []field) (map[string]any, []string) {
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // amounts have no rounding
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, []string{"the arguments are not JSON"}
	}
	arguments, ok := value.(map[string]any)
	if !ok {
		return nil, []string{"the arguments are not an object"}
	}
	return arguments, checkObject("", arguments, fields, false)
}

func checkObject(path string, values map[string]any, fields []field, open bool) (problems []string) {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
		if value, found := values[f.name]; found && value != nil {
			problems = append(problems, f.check(path+f.name, value)...)
			continue
		}
		delete(values, f.name) // null is the same as missing
		if f.required {
			problems = append(problems, path+f.name+" is required: "+f.description)
		}
	}
	if open {
		return problems
	}
	var unknown []string
	for name := range values {
		if !slices.Contains(names, name) {
			unknown = append(unknown, fmt.Sprintf("%s%.40q is not an argument; there are: %s", path, name, strings.Join(names, ", ")))
		}
	}
	slices.Sort(unknown)
	return append(problems, unknown...)
}

func (f field) check(path string, value any) []string {
	switch f.kind {
	case object:
		values, ok := value.(map[string]any)
		if !ok {
			return []string{path + " must be an object"}
		}
		problems := checkObject(path+".", values, f.fields, f.open)
		given := slices.DeleteFunc(slices.Clone(f.oneOf), func(name string) bool { return values[name] == nil })
		if len(f.oneOf) > 0 && len(given) != 1 {
			problems = append(problems, path+" must have exactly one of: "+strings.Join(f.oneOf, ", "))
		}
		return problems
	case integer:
		return f.checkInteger(path, value)
	case text:
		return f.checkText(path, value)
	}
	return nil
}

func (f field) checkText(path string, value any) []string {
	got, ok := value.(string)
	switch {
	case !ok:
		return []string{path + " must be a text"}
	case len(f.enum) > 0 && !slices.Contains(f.enum, got):
		return []string{path + " must be one of: " + strings.Join(f.enum, ", ")}
	case strings.TrimSpace(got) == "":
		return []string{path + " must not be empty"}
	case len([]rune(got)) > f.longest():
		return []string{fmt.Sprintf("%s must have at most %d characters", path, f.longest())}
	}
	return nil
}

func (f field) checkInteger(path string, value any) []string {
	number, ok := value.(json.Number)
	var n int64
	if ok {
		var err error
		n, err = number.Int64()
		ok = err == nil
	}
	most := f.maximum
	if most == 0 {
		most = math.MaxInt64
	}
	switch {
	case !ok:
		return []string{path + " must be a whole number, without a decimal point or quotation marks: " + f.description}
	case n < f.minimum || n > most:
		return []string{fmt.Sprintf("%s must be from %d to %d", path, f.minimum, most)}
	}
	return nil
}
