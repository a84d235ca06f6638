package iso20022

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of what is read. A file that exceeds one is refused: banks write none.
const (
	MaxFileBytes            = 512 << 20
	maxDepth                = 64      // nested elements
	maxBytesBetweenElements = 1 << 20 // bytes without a new element: the decoder keeps them in memory
	maxTextBytes            = 4096    // bytes of a text that are kept
)

// visitor receives the elements of a message. Paths are relative to the element of the message: "GrpHdr/MsgId".
type visitor interface {
	start(s *scanner, path []byte) error
	// end receives the text of the element itself without the spaces around it.
	end(s *scanner, path []byte, text []byte) error
}

// scanner reads a file as a stream of elements. A message may be in an envelope, and a file may have several. Elements
// of other namespaces and supplementary data are skipped.
type scanner struct {
	decoder  *xml.Decoder
	accepted func(message) error
	visitor  visitor

	path         []byte // of the current element; from the message on, if it is in one
	lengths      []int  // length of the path before each open element
	messageDepth int    // open elements around the message; -1 outside of it
	skipDepth    int    // open elements around the one that is skipped; -1 if none is
	namespace    string // of the message
	messages     int
	ended        bool

	text     []byte // of the current element
	currency string // its attribute Ccy
}

// scan reads a whole file.
func scan(r io.Reader, accepted func(message) error, v visitor) error {
	guarded := &guard{source: r, remaining: MaxFileBytes}
	text, isUTF16 := decodeUnicode(guarded)
	elements := &elementGuard{source: text}
	s := &scanner{decoder: xml.NewDecoder(elements), accepted: accepted, visitor: v, messageDepth: -1, skipDepth: -1}
	s.decoder.CharsetReader = newCharsetReader(isUTF16)
	if err := s.read(); err != nil {
		return s.failure(err)
	}
	return nil
}

// failure says what an error of the decoder means for the file. It returns other errors as they are.
func (s *scanner) failure(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, errFileTooLarge):
		return s.errorf("the file has more than %d MB: ask the bank for several files", MaxFileBytes>>20)
	case errors.Is(err, errElementTooLarge):
		return s.errorf("a text or tag has more than %d bytes: this is not a file of a bank", maxBytesBetweenElements)
	case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
		return &FileError{syntax.Line, "the file ends too early: it is truncated, fetch it again"}
	case errors.As(err, &syntax):
		return &FileError{syntax.Line, fmt.Sprintf("it is not valid XML (%s): fetch the file again, or ask the bank for a new one", syntax.Msg)}
	}
	return err
}

func (s *scanner) line() int { line, _ := s.decoder.InputPos(); return line }

// errorf returns what is wrong at the present position.
func (s *scanner) errorf(format string, args ...any) error {
	return &FileError{s.line(), fmt.Sprintf(format, args...)}
}

func (s *scanner) read() error {
	for {
		token, err := s.decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && s.messages > 0:
			return nil
		case errors.Is(err, io.EOF) && s.ended:
			return s.errorf("the file has no message of ISO 20022: it is another file")
		case errors.Is(err, io.EOF):
			return s.errorf("the file is empty: fetch it again")
		case err != nil:
			return s.decoderError(err)
		}
		switch t := token.(type) {
		case xml.Directive:
			err = s.errorf("a document type or entity declaration is not allowed: this is not a file of a bank")
		case xml.StartElement:
			err = s.startElement(t)
		case xml.CharData:
			err = s.addText(t)
		case xml.EndElement:
			err = s.endElement()
		}
		if err != nil {
			return err
		}
	}
}

// decoderError keeps what scan recognises, and makes an error of the file of the rest, such as an unknown encoding.
func (s *scanner) decoderError(err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, errFileTooLarge) || errors.Is(err, errElementTooLarge) || errors.Is(err, errRead) {
		return err
	}
	return s.errorf("it is not valid XML (%v): fetch the file again, or ask the bank for a new one", err)
}

func (s *scanner) startElement(t xml.StartElement) error {
	depth := len(s.lengths)
	switch {
	case s.ended:
		return s.errorf("the file continues after its end: fetch it again")
	case depth == maxDepth:
		return s.errorf("the file has more than %d nested elements: this is not a file of a bank", maxDepth)
	case s.skipDepth >= 0:
	case s.messageDepth >= 0 && (t.Name.Space != s.namespace || t.Name.Local == "SplmtryData"):
		s.skipDepth = depth
	case s.messageDepth < 0:
		found := messageOf(t.Name)
		if found.Name == "" {
			break
		}
		if err := s.accepted(found); err != nil {
			return &FileError{s.line(), err.Error()}
		}
		s.messages++
		s.messageDepth, s.namespace, s.path = depth, t.Name.Space, s.path[:0]
	}
	s.lengths = append(s.lengths, len(s.path))
	if s.skipDepth >= 0 || s.messageDepth < 0 || s.messageDepth == depth {
		return nil
	}
	if len(s.path) > 0 {
		s.path = append(s.path, '/')
	}
	s.path = append(s.path, t.Name.Local...)
	s.text, s.currency = s.text[:0], ""
	for _, a := range t.Attr {
		if a.Name.Local == "Ccy" {
			s.currency = a.Value
		}
	}
	return s.visitor.start(s, s.path)
}

func (s *scanner) addText(text []byte) error {
	switch {
	case len(s.lengths) == 0 && len(bytes.Trim(text, " \t\r\n\ufeff")) > 0:
		return s.errorf("it is not valid XML (text outside of the document): this is not a file of a bank")
	case s.skipDepth < 0 && len(s.text) < maxTextBytes:
		s.text = append(s.text, text[:min(len(text), maxTextBytes-len(s.text))]...)
	}
	return nil
}

func (s *scanner) endElement() error {
	depth := len(s.lengths) - 1
	path, text := s.path, bytes.TrimSpace(s.text)
	if len(s.text) == maxTextBytes { // it may end within a character
		text = bytes.ToValidUTF8(text, nil)
	}
	s.path, s.lengths = s.path[:s.lengths[depth]], s.lengths[:depth]
	s.ended = depth == 0
	switch {
	case s.skipDepth == depth:
		s.skipDepth = -1
		return nil
	case s.skipDepth >= 0 || s.messageDepth < 0:
		return nil
	case s.messageDepth == depth:
		s.messageDepth = -1
		return nil
	}
	err := s.visitor.end(s, path, text)
	s.text = s.text[:0]
	return err
}
