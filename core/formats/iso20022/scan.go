package iso20022

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"causeway/core/formats/textfile"
	"causeway/core/formats/xmlguard"
)

// Limits of what is read. A file that exceeds one is refused: banks write none.
const (
	MaxFileBytes = 512 << 20
	maxTextBytes = 4096 // bytes of a text that are kept
)

// NoMessageError is the error of an XML file without the message that is read. Root is what it is.
type NoMessageError struct {
	Root xml.Name
}

func (e *NoMessageError) Error() string {
	return fmt.Sprintf("it is %.60q, which has no such message", e.Root.Local)
}

// visitor receives the elements of a message. Paths are relative to the element of the message: "GrpHdr/MsgId".
type visitor interface {
	start(s *scanner, path []byte) error
	// end receives the text of the element itself without the spaces around it.
	end(s *scanner, path []byte, text []byte) error
}

// scanner reads a file as a stream of elements. A message may be in an envelope, and a file may have several. Elements
// of other namespaces and supplementary data are skipped.
type scanner struct {
	reader  *xmlguard.Reader
	accepts func(xml.Name) (bool, error) // whether an element is a message that is read
	visitor visitor

	path         []byte // of the current element, within the message
	lengths      []int  // length of the path before each open element
	messageDepth int    // open elements around the message; -1 outside of it
	skipDepth    int    // open elements around the one that is skipped; -1 if none is
	namespace    string // of the message
	messages     int
	root         xml.Name

	text     []byte // of the current element
	currency string // its attribute Ccy
}

func newScanner(r io.Reader, accepts func(xml.Name) (bool, error), v visitor) *scanner {
	return &scanner{reader: xmlguard.New(r), accepts: accepts, visitor: v, messageDepth: -1, skipDepth: -1}
}

// scan reads a whole file. What is wrong with its XML is an xmlguard.Error.
func (s *scanner) scan() error {
	for {
		token, err := s.reader.Token()
		switch {
		case errors.Is(err, io.EOF) && s.messages > 0:
			return nil
		case errors.Is(err, io.EOF):
			return &NoMessageError{s.root}
		case err != nil:
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = s.startElement(t)
		case xml.CharData:
			if s.skipDepth < 0 && len(s.text) < maxTextBytes {
				s.text = append(s.text, t[:min(len(t), maxTextBytes-len(s.text))]...)
			}
		case xml.EndElement:
			err = s.endElement()
		}
		if err != nil {
			return err
		}
	}
}

// scanFile reads a whole file that a bank has sent, and says what is wrong with it and what to do.
func scanFile(file *textfile.Limited, accepts func(xml.Name) (bool, error), v visitor) error {
	s := newScanner(file, accepts, v)
	err := s.scan()
	var document *xmlguard.Error
	var none *NoMessageError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, textfile.ErrTooLarge):
		return s.errorf("the file has more than %d MB: ask the bank for several files", MaxFileBytes>>20)
	case file.Err() != nil && errors.Is(err, file.Err()):
		return fmt.Errorf("the file cannot be read: %w", err)
	case errors.As(err, &document):
		return textfile.Errorf(document.Line, "%s", problemOf(document))
	case errors.As(err, &none):
		return s.errorf("the file has no message of ISO 20022: it is another file")
	}
	return err
}

func problemOf(e *xmlguard.Error) string {
	const notOfBank = ": this is not a file of a bank"
	const again = ": fetch the file again, or ask the bank for a new one"
	switch e.Problem {
	case xmlguard.UnknownEncoding:
		return fmt.Sprintf("its encoding %.40q is not the one that it declares, or not supported", e.Detail) + again
	case xmlguard.Empty:
		return "the file is empty: fetch it again"
	case xmlguard.Truncated:
		return "the file ends too early: it is truncated, fetch it again"
	case xmlguard.Continued:
		return "the file continues after its end: fetch it again"
	case xmlguard.TextOutside:
		return "it is not valid XML (text outside of the document)" + notOfBank
	case xmlguard.Declaration:
		return "a document type or entity declaration is not allowed" + notOfBank
	case xmlguard.TooDeep:
		return fmt.Sprintf("the file has more than %d nested elements", xmlguard.MaxDepth) + notOfBank
	case xmlguard.ElementTooLarge:
		return fmt.Sprintf("a text or tag has more than %d bytes", xmlguard.MaxElementBytes) + notOfBank
	case xmlguard.Malformed:
	}
	return fmt.Sprintf("it is not valid XML (%s)", e.Detail) + again
}

func (s *scanner) line() int { return s.reader.Line() }

// errorf returns what is wrong at the present position.
func (s *scanner) errorf(format string, args ...any) error {
	return textfile.Errorf(s.line(), format, args...)
}

func (s *scanner) startElement(t xml.StartElement) error {
	depth := len(s.lengths)
	switch {
	case s.skipDepth >= 0:
	case s.messageDepth >= 0 && (t.Name.Space != s.namespace || t.Name.Local == "SplmtryData"):
		s.skipDepth = depth
	case s.messageDepth < 0:
		if depth == 0 {
			s.root = t.Name
		}
		isMessage, err := s.accepts(t.Name)
		var refused *textfile.Error
		switch {
		case errors.As(err, &refused) && refused.Line == 0:
			refused.Line = s.line()
			return refused
		case err != nil:
			return err
		case isMessage:
			s.messages++
			s.messageDepth, s.namespace, s.path = depth, t.Name.Space, s.path[:0]
		}
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

func (s *scanner) endElement() error {
	depth := len(s.lengths) - 1
	path, text := s.path, bytes.TrimSpace(s.text)
	if len(s.text) == maxTextBytes { // it may end within a character
		text = bytes.ToValidUTF8(text, nil)
	}
	s.path, s.lengths = s.path[:s.lengths[depth]], s.lengths[:depth]
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
