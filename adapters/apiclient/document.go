package apiclient

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// ParseJSON parses a JSON document. Numbers stay as they were written (json.Number).
func ParseJSON(text []byte) (document any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&document)
	return document, err
}

// Value returns the value at a path of names and positions, such as "data.0.id", in a
// parsed document. It returns nil if there is none.
func Value(document any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch parent := document.(type) {
		case map[string]any:
			document = parent[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			document = parent[i]
		default:
			return nil
		}
	}
	return document
}

// Text returns the text, number or boolean at a path as text; empty if there is none.
func Text(document any, path string) string {
	switch value := Value(document, path).(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	case bool:
		return strconv.FormatBool(value)
	default:
		return ""
	}
}
