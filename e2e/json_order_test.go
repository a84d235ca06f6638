package e2e

import (
	"bytes"
	"encoding/json"
)

// jsonObject is a JSON object that keeps the order of its members.
type jsonObject []jsonMember

type jsonMember struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o jsonObject) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, f := range o {
		if i > 0 {
			out = append(out, ',')
		}
		for _, part := range []any{f.name, f.value} {
			text, err := writeJSON(part)
			if err != nil {
				return nil, err
			}
			out = append(append(out, text...), ':')
		}
		out = out[:len(out)-1]
	}
	return append(out, '}'), nil
}

// writeJSON writes a value without escaping it for HTML.
func writeJSON(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(out.Bytes()), err
}

// parseJSON parses a value and keeps the order of its objects: jsonObject, []any, string,
// json.Number, bool or nil.
func parseJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			item, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		object := jsonObject{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			object = append(object, jsonMember{name.(string), value})
		}
		_, err := d.Token()
		return object, err
	}
	return token, nil
}
