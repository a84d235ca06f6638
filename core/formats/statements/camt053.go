package statements

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"causeway/core/reconcile"
)

// messageRegexp finds the message and its version in a namespace. Those of banks and of SWIFT differ
// from ISO's in what is around it.
var messageRegexp = regexp.MustCompile(`(?:^|[^a-z])([a-z]{4}\.[0-9]{3})(?:\.001\.([0-9]{2}))?(?:[^0-9]|$)`)

// otherMessages are messages that are taken for a statement, by the element that they consist of.
var otherMessages = map[string]string{
	"BkToCstmrAcctRpt":      "a camt.052 report of a day that is not closed; import the camt.053 statement of the day",
	"BkToCstmrDbtCdtNtfctn": "a camt.054 notification of single entries, without balances; import the camt.053 statement of the day",
}

const (
	messageElement          = "BkToCstmrStmt"
	maxDepth                = 64      // nested elements
	maxBytesBetweenElements = 1 << 20 // bytes without a new element
	maxTextBytes            = 4096    // bytes of text in an element
)

// readCAMT053 reads ISO 20022 bank-to-customer statements of version 2 or later, in an envelope with
// a business header or not. It skips elements that it does not need, and those of other namespaces.
func readCAMT053(r io.Reader, builder statementBuilder) ([]reconcile.Statement, error) {
	text, encoding := decodeUnicode(r)
	guarded := &elementGuard{source: text}
	c := &camtParser{statementBuilder: builder, decoder: xml.NewDecoder(guarded)}
	c.decoder.CharsetReader = newCharsetReader(encoding == reconcile.UTF16)
	if err := c.read(); err != nil {
		var syntax *xml.SyntaxError
		switch {
		case guarded.err != nil:
			return nil, reconcile.InvalidFile("has a text or tag of more than %d bytes near line %d", maxBytesBetweenElements, c.lineNumber())
		case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
			return nil, reconcile.InvalidFile("ends too early, in line %d: it is truncated", syntax.Line)
		case errors.As(err, &syntax):
			return nil, reconcile.InvalidFile("is not valid XML: line %d: %s", syntax.Line, syntax.Msg)
		}
		return nil, err
	}
	statements, err := c.finish()
	for i := range statements {
		statements[i].Created = c.created
	}
	return statements, err
}

// camtParser is the state of reading a message.
type camtParser struct {
	statementBuilder
	decoder         *xml.Decoder
	path            []byte // of the current element, from the message on; from the root before it
	pathLengths     []int  // length of the path before each open element
	messageDepth    int    // open elements around the message; -1 outside of it
	namespace       string // of the message
	text            []byte // of the current element
	elementCurrency string // its Ccy attribute
	root            xml.Name
	created         time.Time

	statement camtStatement
	entry     statementEntry
	messages  int
	ended     bool
}

func (c *camtParser) lineNumber() int { line, _ := c.decoder.InputPos(); return line }

func (c *camtParser) read() error {
	c.messageDepth = -1
	for {
		token, err := c.decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && c.ended:
			return c.checkMessages()
		case errors.Is(err, io.EOF):
			return reconcile.InvalidFile("is empty")
		case err != nil:
			return wrapXMLError(err, c.lineNumber())
		}
		switch t := token.(type) {
		case xml.Directive:
			return reconcile.InvalidFile("has a document type or entity declaration in line %d, which is not allowed", c.lineNumber())
		case xml.StartElement:
			if err := c.startElement(t); err != nil {
				return err
			}
		case xml.CharData:
			if len(c.pathLengths) == 0 && len(bytes.Trim(t, " \t\r\n\ufeff")) > 0 {
				return reconcile.InvalidFile("is not valid XML: line %d: text outside of the document", c.lineNumber())
			}
			if len(c.text) < maxTextBytes {
				c.text = append(c.text, t[:min(len(t), maxTextBytes-len(c.text))]...)
			}
		case xml.EndElement:
			if err := c.endElement(); err != nil {
				return err
			}
		}
	}
}

// wrapXMLError returns syntax errors unchanged, and wraps other errors of the decoder.
func wrapXMLError(err error, line int) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		return err
	}
	return reconcile.InvalidFile("is not valid XML: line %d: %v", line, err)
}

func (c *camtParser) startElement(t xml.StartElement) error {
	inMessage := c.messageDepth >= 0
	switch {
	case c.ended:
		return reconcile.InvalidFile("continues after its end, in line %d", c.lineNumber())
	case inMessage && (t.Name.Space != c.namespace || t.Name.Local == "SplmtryData"):
		if err := c.decoder.Skip(); err != nil {
			return wrapXMLError(err, c.lineNumber())
		}
		return nil
	case len(c.pathLengths) == maxDepth:
		return reconcile.InvalidFile("has more than %d nested elements in line %d", maxDepth, c.lineNumber())
	case !inMessage && t.Name.Local == messageElement:
		if err := checkNamespace(t.Name); err != nil {
			return err
		}
		c.messageDepth, c.namespace, c.path = len(c.pathLengths), t.Name.Space, c.path[:0]
		c.messages++
	case !inMessage && (t.Name.Local == "Document" || otherMessages[t.Name.Local] != ""):
		if err := checkNamespace(t.Name); err != nil {
			return err
		}
	}
	if len(c.pathLengths) == 0 {
		c.root = t.Name
	}
	c.pathLengths = append(c.pathLengths, len(c.path))
	c.path = append(append(c.path, '/'), t.Name.Local...)
	c.text, c.elementCurrency = c.text[:0], ""
	for _, a := range t.Attr {
		if a.Name.Local == "Ccy" {
			c.elementCurrency = a.Value
		}
	}
	if !inMessage {
		return nil
	}
	switch string(c.path) {
	case stmtPath:
		c.statement = camtStatement{}
	case stmtPath + "/Bal":
		c.statement.balance = camtBalance{line: c.lineNumber()}
	case entryPath:
		c.entry = statementEntry{details: c.entry.details[:0]}
	case detailPath:
		if len(c.entry.details) == reconcile.MaxLines {
			return reconcile.InvalidFile("has more than %d details in one entry", reconcile.MaxLines)
		}
		c.entry.details = append(c.entry.details, entryDetail{})
	}
	return nil
}

// checkNamespace refuses another message by its name. An element without a namespace, or in one that
// names no message, says itself what it is.
func checkNamespace(name xml.Name) error {
	found := messageRegexp.FindStringSubmatch(name.Space)
	switch {
	case otherMessages[name.Local] != "":
		return reconcile.InvalidFile("is not a camt.053 statement: it is %s", otherMessages[name.Local])
	case found == nil:
		return nil
	case found[1] == "camt.053" && found[2] == "01":
		return reconcile.InvalidFile("is a camt.053 statement of version 1, which is not supported; ask for version 2 or later")
	case found[1] == "camt.053":
		return nil
	}
	for element, message := range otherMessages {
		if strings.HasPrefix(message, "a "+found[1]) && name.Local != element {
			return reconcile.InvalidFile("is not a camt.053 statement: it is %s", message)
		}
	}
	return reconcile.InvalidFile("is not a camt.053 statement: it is %.60q in the namespace %.80q", name.Local, name.Space)
}

// checkMessages refuses a file without a statement.
func (c *camtParser) checkMessages() error {
	switch {
	case c.messages == 0:
		return reconcile.InvalidFile("is not a camt.053 statement: it is %.60q in the namespace %.80q, without the element %s", c.root.Local, c.root.Space, messageElement)
	case len(c.accounts) == 0:
		return reconcile.InvalidFile("has no statement")
	}
	return nil
}

// The paths of the elements that a statement consists of.
const (
	stmtPath   = "/" + messageElement + "/Stmt"
	entryPath  = stmtPath + "/Ntry"
	detailPath = entryPath + "/NtryDtls/TxDtls"
)

func (c *camtParser) endElement() error {
	last := len(c.pathLengths) - 1
	inMessage := c.messageDepth >= 0
	path, text := c.path, bytes.TrimSpace(c.text)
	c.path, c.pathLengths, c.text = c.path[:c.pathLengths[last]], c.pathLengths[:last], c.text[:0]
	c.ended = last == 0
	switch {
	case !inMessage:
		return nil
	case last == c.messageDepth:
		c.messageDepth = -1
		return nil
	}
	switch path := string(path); {
	case path == entryPath:
		return c.addEntry()
	case path == stmtPath:
		return c.endStatement()
	case strings.HasPrefix(path, detailPath+"/"):
		c.setDetailField(path[len(detailPath)+1:], string(text))
	case strings.HasPrefix(path, entryPath+"/"):
		return c.setEntryField(path[len(entryPath)+1:], string(text))
	case strings.HasPrefix(path, stmtPath+"/"):
		return c.setStatementField(path[len(stmtPath)+1:], string(text))
	case path == "/"+messageElement+"/GrpHdr/CreDtTm":
		created, err := parseTime(string(text))
		if created.After(c.created) {
			c.created = created
		}
		return err
	}
	return nil
}

// parseDay parses a date, or the local date of a time.
func (c *camtParser) parseDay(text string) (reconcile.Day, error) {
	if len(text) >= len(time.DateOnly) {
		if t, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)]); err == nil {
			if d, ok := reconcile.Date(t.Year(), int(t.Month()), t.Day()); ok {
				return d, nil
			}
		}
	}
	return reconcile.NoDay, reconcile.InvalidFile("line %d: %.40q is not a date", c.lineNumber(), text)
}

// timeLayouts are those that banks write: the first two as XML Schema has them.
var timeLayouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05", time.DateOnly}

func parseTime(text string) (time.Time, error) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, reconcile.InvalidFile("%.40q is not a time", text)
}
