// Package xmlguard reads XML that others have written, as a stream and in bounded memory. It refuses declarations of
// document types and entities, deep nesting, overlong texts and tags, unknown encodings, and what is around a document.
package xmlguard

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"causeway/core/formats/textfile"
)

// Limits of a document. One that exceeds a limit is refused.
const (
	MaxDepth        = 64      // nested elements
	MaxElementBytes = 1 << 20 // bytes without a new element: the decoder keeps them in memory
)

// Problem says what is wrong with a document.
type Problem int

// The problems.
const (
	Malformed       Problem = iota // it is no XML, or has an unknown version
	UnknownEncoding                // it declares an encoding that is not supported, or that it is not in
	Empty                          // it has no element
	Truncated                      // it ends within an element
	Continued                      // an element follows after its end
	TextOutside                    // a text is before or after it
	Declaration                    // it declares a document type or an entity
	TooDeep                        // it has more than MaxDepth nested elements
	ElementTooLarge                // a text, tag or comment has more than MaxElementBytes
)

// Error is an error of a document.
type Error struct {
	Problem Problem
	Line    int
	Detail  string // what is wrong, or the encoding that is declared
	cause   error
}

func (e *Error) Error() string {
	if e.Problem == UnknownEncoding {
		return fmt.Sprintf("line %d: %v", e.Line, e.cause)
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Detail)
}

// Unwrap returns what the decoder has said.
func (e *Error) Unwrap() error { return e.cause }

// Reader reads a document.
type Reader struct {
	decoder *xml.Decoder
	source  *elementGuard
	charset string // declared, and not supported
	depth   int
	ended   bool
}

// New returns a Reader of a file.
func New(r io.Reader) *Reader {
	text, found := textfile.DecodeUnicode(r)
	result := &Reader{source: &elementGuard{source: text}}
	result.decoder = xml.NewDecoder(result.source)
	result.decoder.CharsetReader = func(label string, input io.Reader) (io.Reader, error) {
		decoded, err := textfile.DecodeDeclared(input, label, found)
		if err != nil {
			result.charset = label
		}
		return decoded, err
	}
	return result
}

// Line returns the present line.
func (r *Reader) Line() int { line, _ := r.decoder.InputPos(); return line }

// Token returns the next start or end of an element, or text within one. At the end of the document it returns io.EOF,
// and otherwise an Error, or the error of the file as it is. A text is valid until the next call.
func (r *Reader) Token() (xml.Token, error) {
	for {
		token, err := r.decoder.Token()
		if err != nil {
			return nil, r.failure(err)
		}
		switch t := token.(type) { // token is returned, and not t, which would be copied
		case xml.Directive:
			return nil, r.errorOf(Declaration, "a document type or entity declaration is not allowed")
		case xml.StartElement:
			switch {
			case r.ended:
				return nil, r.errorOf(Continued, "it continues after its end")
			case r.depth == MaxDepth:
				return nil, r.errorOf(TooDeep, "it has more than %d nested elements", MaxDepth)
			}
			r.depth++
			return token, nil
		case xml.EndElement:
			r.depth--
			r.ended = r.depth == 0
			return token, nil
		case xml.CharData:
			if r.depth > 0 {
				return token, nil
			}
			if len(bytes.Trim(t, " \t\r\n\ufeff")) > 0 {
				return nil, r.errorOf(TextOutside, "text outside of the document")
			}
		}
	}
}

// failure says what an error of the decoder means.
func (r *Reader) failure(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case r.source.tooLarge:
		return r.errorOf(ElementTooLarge, "a text or tag has more than %d bytes", MaxElementBytes)
	case r.source.err != nil:
		return r.source.err
	case errors.Is(err, io.EOF) && r.ended:
		return io.EOF
	case errors.Is(err, io.EOF):
		return r.errorOf(Empty, "it is empty")
	case r.charset != "":
		return &Error{UnknownEncoding, r.Line(), r.charset, err}
	case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
		if r.depth == 0 && !r.source.inTag { // an & ends the text, so that the decoder has not returned it
			return r.errorOf(TextOutside, "text outside of the document")
		}
		return &Error{Truncated, syntax.Line, syntax.Msg, err}
	case errors.As(err, &syntax):
		return &Error{Malformed, syntax.Line, syntax.Msg, err}
	}
	return &Error{Malformed, r.Line(), err.Error(), err}
}

func (r *Reader) errorOf(p Problem, format string, args ...any) error {
	cause := fmt.Errorf(format, args...)
	return &Error{p, r.Line(), cause.Error(), cause}
}

// elementGuard ends a file with too many bytes between two elements: the decoder keeps a whole text, tag or comment in
// memory. It keeps the error of its source.
type elementGuard struct {
	source            io.Reader
	bytesSinceElement int
	inTag             bool // a < was read, and no > after it
	tooLarge          bool
	err               error
}

func (g *elementGuard) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.source.Read(p)
	for _, b := range p[:n] {
		switch g.bytesSinceElement++; b {
		case '<':
			g.bytesSinceElement, g.inTag = 0, true
		case '>':
			g.inTag = false
		}
		if g.bytesSinceElement > MaxElementBytes {
			g.tooLarge, g.err = true, errors.New("an element is too large")
			return 0, g.err
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		g.err = err
	}
	return n, err
}
