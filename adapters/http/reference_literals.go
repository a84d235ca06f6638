package httpapi

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// literals writes JSON as a literal of another language.
type literals struct {
	identifierKeys bool   // keys that are identifiers need no quotes
	indent         string // of one level
	null, yes, no  string
	rate           func(text string) string // writes a decimal number
	rates          map[string]bool          // the names of the fields that are decimal numbers
}

// verbatim is an expression that is written as it is.
type verbatim string

const literalWidth = 60 // what is shorter is on one line

var plainKey = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

// text returns the literal of an orderedObject, a list, a text, verbatim or JSON, for a line with an indentation.
func (l literals) text(value any, depth int) string { return l.member("", value, depth) }

func (l literals) member(name string, value any, depth int) string {
	switch value := value.(type) {
	case verbatim:
		return string(value)
	case orderedObject:
		parts := make([]string, len(value))
		for i, m := range value {
			key := quoteJSON(m.name)
			if l.identifierKeys && plainKey.MatchString(m.name) {
				key = m.name
			}
			parts[i] = key + ": " + l.member(m.name, m.value, depth+1)
		}
		return l.join("{", parts, "}", depth)
	case []any:
		parts := make([]string, len(value))
		for i, item := range value {
			parts[i] = l.member(name, item, depth+1)
		}
		return l.join("[", parts, "]", depth)
	case string:
		return quoteJSON(value)
	case json.RawMessage:
		return l.json(name, value, depth)
	}
	panic("a value of another type") // a test renders all samples
}

func (l literals) json(name string, raw json.RawMessage, depth int) string {
	switch raw = bytes.TrimSpace(raw); raw[0] {
	case '{':
		return l.member(name, decodeObject(raw), depth)
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			panic(err) // recorded by a test
		}
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = item
		}
		return l.member(name, list, depth)
	case 'n':
		return l.null
	case 't':
		return l.yes
	case 'f':
		return l.no
	case '"':
		return string(raw)
	}
	if l.rates[name] {
		return l.rate(string(raw))
	}
	return string(raw)
}

// join writes parts on one line if they fit, otherwise one on each line.
func (l literals) join(begin string, parts []string, end string, depth int) string {
	line := strings.Join(parts, ", ")
	switch {
	case len(parts) == 0:
		return begin + end
	case !strings.Contains(line, "\n") && utf8.RuneCountInString(line)+depth*len(l.indent) < literalWidth:
		if l.identifierKeys && begin == "{" {
			return begin + " " + line + " " + end
		}
		return begin + line + end
	}
	inner := "\n" + strings.Repeat(l.indent, depth+1)
	return begin + inner + strings.Join(parts, ","+inner) + ",\n" + strings.Repeat(l.indent, depth) + end
}

// quoteJSON quotes a text as JSON does, which TypeScript and Python read too.
func quoteJSON(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // every text can be encoded
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// decodeObject returns the members of a JSON object in their order.
func decodeObject(raw json.RawMessage) orderedObject {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	object := orderedObject{}
	_, err := decoder.Token() // {
	for err == nil && decoder.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = decoder.Token(); err == nil {
			err = decoder.Decode(&value)
		}
		if text, ok := name.(string); ok {
			object = append(object, member{text, value})
		}
	}
	if err != nil {
		panic(err) // recorded by a test
	}
	return object
}
