package httpapi

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseJSON parses a body into the values that the validator accepts: map, slice,
// string, float64, bool and nil. It is stricter than encoding/json, because the body is
// decoded again and stored: it refuses duplicate fields in an object (ignoring case, as
// the second decoding does), NUL characters (which the database cannot store), invalid
// UTF-8 and deep nesting.
//
// A whole number that is not written as an integer (1.0, 1e3) becomes NaN, so that the
// validator refuses it only where an integer is required. Integers are exact up to 2^53;
// the second decoding checks larger ones.
func parseJSON(data []byte) (any, error) {
	p := parser{data: data}
	p.skipSpace()
	value := p.value(0)
	p.skipSpace()
	if p.problem == "" && p.pos < len(p.data) {
		p.fail("unexpected data after the value")
	}
	if p.problem != "" {
		return nil, p.error()
	}
	return value, nil
}

const maxDepth = 64

type parser struct {
	data       []byte
	pos        int
	problem    string // the first problem; empty if there is none
	problemPos int    // the position of the problem
}

func (p *parser) fail(problem string) any {
	if p.problem == "" {
		p.problem, p.problemPos = problem, p.pos
	}
	return nil
}

func (p *parser) error() *syntaxError {
	before := p.data[:min(p.problemPos, len(p.data))]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return &syntaxError{line: line, column: column, problem: p.problem}
}

func (p *parser) skipSpace() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) value(depth int) any {
	if depth > maxDepth {
		return p.fail("nesting is too deep")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		return p.text()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 't':
		return p.literal("true", true)
	case c == 'f':
		return p.literal("false", false)
	case c == 'n':
		return p.literal("null", nil)
	case p.pos >= len(p.data):
		return p.fail("unexpected end of the body")
	}
	return p.fail("a value is expected")
}

func (p *parser) literal(word string, value any) any {
	if !bytes.HasPrefix(p.data[p.pos:], []byte(word)) {
		return p.fail("a value is expected")
	}
	p.pos += len(word)
	return value
}

func (p *parser) object(depth int) any {
	p.pos++ // {
	object := map[string]any{}
	var names fieldNames
	for p.skipSpace(); p.peek() != '}'; p.skipSpace() {
		if len(object) > 0 {
			if p.peek() != ',' {
				return p.fail(p.orUnexpectedEnd("a comma or } is expected"))
			}
			p.pos++
			p.skipSpace()
		}
		if p.peek() != '"' {
			return p.fail(p.orUnexpectedEnd("a field name in double quotes is expected"))
		}
		start := p.pos
		name := p.text()
		if p.problem != "" {
			return nil
		}
		if !names.add(name) {
			p.pos = start
			return p.fail("the field " + strconv.Quote(name) + " is duplicated")
		}
		if p.skipSpace(); p.peek() != ':' {
			return p.fail(p.orUnexpectedEnd("a colon is expected"))
		}
		p.pos++
		p.skipSpace()
		object[name] = p.value(depth + 1)
		if p.problem != "" {
			return nil
		}
	}
	p.pos++ // }
	return object
}

func (p *parser) array(depth int) any {
	p.pos++ // [
	list := []any{}
	for p.skipSpace(); p.peek() != ']'; p.skipSpace() {
		if len(list) > 0 {
			if p.peek() != ',' {
				return p.fail(p.orUnexpectedEnd("a comma or ] is expected"))
			}
			p.pos++
			p.skipSpace()
		}
		list = append(list, p.value(depth+1))
		if p.problem != "" {
			return nil
		}
	}
	p.pos++ // ]
	return list
}

func (p *parser) orUnexpectedEnd(problem string) string {
	if p.pos >= len(p.data) {
		return "unexpected end of the body"
	}
	return problem
}

// text parses a string; p.pos is at its opening quote.
func (p *parser) text() string {
	start := p.pos
	escaped, plain := false, true
	for p.pos++; ; p.pos++ {
		switch c := p.peek(); {
		case p.pos >= len(p.data):
			p.fail("unexpected end of the body in a string")
			return ""
		case c == '"':
			raw := p.data[start+1 : p.pos]
			if !plain && !utf8.Valid(raw) {
				p.pos = start
				p.fail("the string is not valid UTF-8")
				return ""
			}
			p.pos++
			if !escaped {
				return string(raw)
			}
			return p.unquote(start)
		case c == '\\':
			escaped = true
			p.pos++ // the next character is escaped
		case c < ' ':
			p.fail("control characters in a string must be escaped")
			return ""
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
}

// unquote resolves the escapes of the string from start to p.pos.
func (p *parser) unquote(start int) string {
	var text string
	if err := json.Unmarshal(p.data[start:p.pos], &text); err != nil {
		p.pos = start
		p.fail("the string has an invalid escape")
		return ""
	}
	if strings.IndexByte(text, 0) >= 0 {
		p.pos = start
		p.fail("the NUL character is not allowed in a string")
		return ""
	}
	return text
}

// number parses a number by the grammar of JSON.
func (p *parser) number() any {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	switch {
	case p.peek() == '0':
		p.pos++
	case p.digits() == 0:
		return p.fail(p.orUnexpectedEnd("a digit is expected"))
	}
	integer := true
	if p.peek() == '.' {
		integer = false
		p.pos++
		if p.digits() == 0 {
			return p.fail(p.orUnexpectedEnd("a digit is expected"))
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		integer = false
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if p.digits() == 0 {
			return p.fail(p.orUnexpectedEnd("a digit is expected"))
		}
	}
	number, err := strconv.ParseFloat(string(p.data[start:p.pos]), 64)
	if err != nil {
		p.pos = start
		return p.fail("the number is too large")
	}
	if !integer && number == math.Trunc(number) {
		return math.NaN()
	}
	return number
}

func (p *parser) digits() int {
	start := p.pos
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.pos++
	}
	return p.pos - start
}

// fieldNames holds the field names of one object, compared ignoring case.
type fieldNames struct {
	inline [12]string
	names  []string
	folded map[string]struct{} // nil if there are few
}

// add adds a name and reports whether it is new.
func (n *fieldNames) add(name string) bool {
	if n.folded == nil {
		for _, other := range n.names {
			// Folding changes the length only outside of ASCII (k and the Kelvin sign).
			if (len(other) == len(name) || !isASCII(other) || !isASCII(name)) && strings.EqualFold(other, name) {
				return false
			}
		}
		if n.names == nil {
			n.names = n.inline[:0]
		}
		if n.names = append(n.names, name); len(n.names) < len(n.inline) {
			return true
		}
		n.folded = make(map[string]struct{}, 4*len(n.names))
		for _, other := range n.names {
			n.folded[foldCase(other)] = struct{}{}
		}
		return true
	}
	key := foldCase(name)
	if _, ok := n.folded[key]; ok {
		return false
	}
	n.folded[key] = struct{}{}
	return true
}

// foldCase returns the same text for names that differ only in case.
func foldCase(name string) string {
	if isASCII(name) && !strings.ContainsAny(name, "kKsS") {
		return strings.ToLower(name)
	}
	return strings.Map(func(r rune) rune {
		smallest := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			smallest = min(smallest, next)
		}
		return unicode.ToLower(smallest)
	}, name)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
