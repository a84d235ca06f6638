package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

// jsonFormat is the format in which huma reads and writes bodies.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		if b, ok := w.(*bytes.Buffer); ok {
			b.Reset()
		}
		return encode(w, v)
	},
	Unmarshal: decode,
}

// encode writes compact JSON without a final newline and without escaping <, > and &.
func encode(w io.Writer, v any) error {
	b, ok := w.(*bytes.Buffer)
	if !ok {
		return errors.New("bodies are written to a buffer")
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("render the body: %w", err)
	}
	b.Truncate(b.Len() - 1)
	return nil
}

// decode is called twice for a body: first into an any, strictly, for validation, and
// then into the type of the operation.
func decode(data []byte, v any) error {
	if target, ok := v.(*any); ok {
		value, err := parseJSON(data)
		*target = value
		return err
	}
	err := json.Unmarshal(data, v)
	var invalid *invalidText
	if errors.As(err, &invalid) {
		value, _ := parseJSON(data) // the first decoding has succeeded
		field, _ := findText(value, invalid.text, "")
		return errors.New(separator + "invalid" + separator + field + separator + invalid.message)
	}
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		rule := "string"
		switch mistyped.Type.Kind() {
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
			reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			rule = "integer"
		case reflect.Bool:
			rule = "boolean"
		case reflect.Slice, reflect.Array:
			rule = "array"
		case reflect.Struct, reflect.Map:
			rule = "object"
		default: // a string, or a type that is encoded as one
		}
		return errors.New(separator + "mistyped" + separator + mistyped.Field + separator + rule)
	}
	return err
}

// invalidText is the error of a text that matches its schema and is still invalid. The
// decoding does not know in which field it is.
type invalidText struct{ text, message string }

func (e *invalidText) Error() string { return e.message }

// findText returns the path of the first field that is a text.
func findText(value any, text, path string) (string, bool) {
	switch v := value.(type) {
	case string:
		return path, v == text
	case []any:
		for i, item := range v {
			if found, ok := findText(item, text, path+"["+strconv.Itoa(i)+"]"); ok {
				return found, true
			}
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if found, ok := findText(v[name], text, strings.TrimPrefix(path+"."+name, ".")); ok {
				return found, true
			}
		}
	}
	return "", false
}

// syntaxError is the first syntax error in a body.
type syntaxError struct {
	line, column int // from 1; the column in characters
	problem      string
}

// Error returns the error in the form that syntaxFault parses.
func (e *syntaxError) Error() string {
	return separator + "malformed" + separator + strconv.Itoa(e.line) + separator + strconv.Itoa(e.column) + separator + e.problem
}

// syntaxFault returns the fault of a finding that is a syntaxError.
func syntaxFault(finding string) (*fault.Error, bool) {
	rest, ok := strings.CutPrefix(finding, separator+"malformed"+separator)
	if !ok {
		return nil, false
	}
	parts := strings.SplitN(rest, separator, 3)
	return &fault.Error{
		Code:    fault.InvalidInput,
		Message: fmt.Sprintf("The body is not valid JSON: line %s, column %s: %s.", parts[0], parts[1], parts[2]),
		Details: map[string]any{"line": rawNumber(parts[0]), "column": rawNumber(parts[1])},
	}, true
}
