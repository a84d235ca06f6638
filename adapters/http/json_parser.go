package httpapi

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
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
	p := newParser(data)
	value := p.value(0)
	if end := p.skipSpace(p.InputOffset()); p.problem == nil && end < len(data) {
		p.fail(end, "unexpected data after the value")
	}
	if p.problem != nil {
		return nil, p.problem
	}
	return value, nil
}

const maxDepth = 64

// parser reads values from the decoder, which checks the grammar, and adds the rules of
// parseJSON. Its errors say what is expected.
type parser struct {
	*jsontext.Decoder
	data    []byte
	problem *syntaxError // nil if there is none; nothing is read after it
}

// decoderOptions leave to the parser what its rules differ in: names that are equal
// ignoring case, and half of a surrogate pair, which is accepted.
var decoderOptions = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

func newParser(data []byte) *parser {
	return &parser{data: data, Decoder: jsontext.NewDecoder(bytes.NewBuffer(data), decoderOptions...)}
}

func (p *parser) fail(pos int, problem string) any {
	before := p.data[:pos]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	p.problem = &syntaxError{line: line, column: column, problem: problem}
	return nil
}

func (p *parser) value(depth int) any {
	kind := p.PeekKind()
	if depth > maxDepth {
		if pos, missing := p.next(); missing == "" {
			return p.fail(pos, "nesting is too deep")
		}
	}
	switch kind {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		text, _ := p.text()
		return text
	case '0':
		return p.number()
	}
	token, err := p.ReadToken()
	switch {
	case err != nil:
		return p.explain(err)
	case token.Kind() == 'n':
		return nil
	}
	return token.Bool()
}

func (p *parser) object(depth int) any {
	_, _ = p.ReadToken() // {
	object, names := map[string]any{}, map[string]bool{}
	for p.PeekKind() == '"' {
		name, pos := p.text()
		if p.problem != nil {
			return nil
		}
		folded := foldCase(name)
		if names[folded] {
			return p.fail(pos, "the field "+strconv.Quote(name)+" is duplicated")
		}
		names[folded] = true
		object[name] = p.value(depth + 1)
		if p.problem != nil {
			return nil
		}
	}
	if _, err := p.ReadToken(); err != nil { // not }
		return p.explain(err)
	}
	return object
}

func (p *parser) array(depth int) any {
	_, _ = p.ReadToken() // [
	list := []any{}
	for p.PeekKind() != ']' {
		list = append(list, p.value(depth+1))
		if p.problem != nil {
			return nil
		}
	}
	_, _ = p.ReadToken() // ]
	return list
}

// text reads a string, and returns also the position of its opening quote.
func (p *parser) text() (text string, pos int) {
	raw, err := p.ReadValue()
	if err != nil {
		p.explain(err)
		return "", 0
	}
	pos = int(p.InputOffset()) - len(raw)
	if !utf8.Valid(raw) {
		p.fail(pos, "the string is not valid UTF-8")
		return "", pos
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), pos
	}
	unescaped, _ := jsontext.AppendUnquote(nil, raw) // the error is half of a surrogate pair, which is replaced
	if bytes.IndexByte(unescaped, 0) >= 0 {
		p.fail(pos, "the NUL character is not allowed in a string")
	}
	return string(unescaped), pos
}

func (p *parser) number() any {
	raw, err := p.ReadValue()
	if err != nil {
		return p.explain(err)
	}
	number, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return p.fail(int(p.InputOffset())-len(raw), "the number is too large")
	}
	if number == math.Trunc(number) && bytes.ContainsAny(raw, ".eE") {
		return math.NaN()
	}
	return number
}

// next returns the position of the next name or value. If the delimiter before it is
// missing, it returns the position of the delimiter and what is expected there.
func (p *parser) next() (pos int, missing string) {
	pos = p.skipSpace(p.InputOffset())
	delimiter := byte(',')
	switch kind, length := p.StackIndex(p.StackDepth()); {
	case kind == 0 || length == 0:
		return pos, ""
	case kind == '[':
		missing = "a comma or ] is expected"
	case length%2 == 0:
		missing = "a comma or } is expected"
	default:
		delimiter, missing = ':', "a colon is expected"
	}
	if p.at(pos) != delimiter {
		return pos, missing
	}
	return p.skipSpace(int64(pos + 1)), ""
}

// explain reports a syntax error that the decoder has found at the next name or value.
func (p *parser) explain(err error) any {
	var syntax *jsontext.SyntacticError
	found, unfinished := 0, errors.Is(err, io.ErrUnexpectedEOF)
	if errors.As(err, &syntax) {
		found = int(syntax.ByteOffset)
	}
	pos, problem := p.next()
	kind, length := p.StackIndex(p.StackDepth())
	switch c := p.at(pos); {
	case problem != "":
	case c == '"' && unfinished:
		return p.fail(len(p.data), "unexpected end of the body in a string")
	case c == '"' && p.at(found) == '\\':
		problem = "the string has an invalid escape"
	case c == '"':
		pos, problem = found, "control characters in a string must be escaped"
	case kind == '{' && length%2 == 0:
		problem = "a field name in double quotes is expected"
	case (c == '-' || '0' <= c && c <= '9') && unfinished:
		pos = len(p.data)
	case c == '-' || '0' <= c && c <= '9':
		pos, problem = found, "a digit is expected"
	default:
		problem = "a value is expected"
	}
	if pos == len(p.data) {
		problem = "unexpected end of the body"
	}
	return p.fail(pos, problem)
}

// at returns the byte at a position, or 0 at the end.
func (p *parser) at(pos int) byte {
	if pos < len(p.data) {
		return p.data[pos]
	}
	return 0
}

func (p *parser) skipSpace(pos int64) int {
	return len(p.data) - len(bytes.TrimLeft(p.data[pos:], " \t\r\n"))
}

// foldCase returns the same text for names that are equal ignoring case.
func foldCase(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			for next := unicode.SimpleFold(r); next > r; next = unicode.SimpleFold(r) {
				r = next
			}
			r = unicode.SimpleFold(r) // the largest is followed by the smallest
		}
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, name)
}
