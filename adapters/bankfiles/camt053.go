package bankfiles

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"causeway/core/money"
	"causeway/core/reconcile"
)

// namespaceRegexp matches the namespace of any version of the message.
var namespaceRegexp = regexp.MustCompile(`^urn:iso:std:iso:20022:tech:xsd:camt\.053\.001\.(0[1-9]|[1-9][0-9])$`)

const (
	maxDepth                = 64      // nested elements
	maxBytesBetweenElements = 1 << 20 // bytes without a new element
	maxTextBytes            = 4096    // bytes of text in an element
)

// readCAMT053 reads an ISO 20022 bank-to-customer statement of any version. It skips elements that
// it does not need, and those of other namespaces.
func readCAMT053(r io.Reader, currency money.Currency) (reconcile.Statement, error) {
	guarded := &elementGuard{source: r}
	c := &camtParser{statementBuilder: statementBuilder{currency: currency}, decoder: xml.NewDecoder(guarded)}
	c.decoder.CharsetReader = charsetReader
	if err := c.read(); err != nil {
		var syntax *xml.SyntaxError
		switch {
		case guarded.err != nil:
			return reconcile.Statement{}, reconcile.InvalidFile("has a text or tag of more than %d bytes near line %d", maxBytesBetweenElements, c.lineNumber())
		case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
			return reconcile.Statement{}, reconcile.InvalidFile("ends too early, in line %d: it is truncated", syntax.Line)
		case errors.As(err, &syntax):
			return reconcile.Statement{}, reconcile.InvalidFile("is not valid XML: line %d: %s", syntax.Line, syntax.Msg)
		}
		return reconcile.Statement{}, err
	}
	return c.Statement, nil
}

// camtParser is the state of reading a message.
type camtParser struct {
	statementBuilder
	decoder         *xml.Decoder
	namespace       string
	path            []byte // of the current element
	pathLengths     []int  // length of the path before each open element
	text            []byte // of the current element
	elementCurrency string // its Ccy attribute

	statement statement
	entry     statementEntry
	ended     bool
}

// statement has the fields of a Stmt element.
type statement struct {
	id               string
	from, to         reconcile.Day
	opening, closing *int64
	sum              int64
	balance          balance
}

type balance struct {
	kind, amount, currency, side string
}

func (c *camtParser) lineNumber() int { line, _ := c.decoder.InputPos(); return line }

func (c *camtParser) read() error {
	for {
		token, err := c.decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && c.ended:
			return c.finish()
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
	switch {
	case c.ended:
		return reconcile.InvalidFile("continues after its end, in line %d", c.lineNumber())
	case len(c.pathLengths) == 0:
		if t.Name.Local != "Document" || !namespaceRegexp.MatchString(t.Name.Space) {
			return reconcile.InvalidFile("is not a camt.053 statement: it is %.60q in the namespace %.80q", t.Name.Local, t.Name.Space)
		}
		c.namespace = t.Name.Space
	case t.Name.Space != c.namespace || t.Name.Local == "SplmtryData":
		return c.skipElement()
	case len(c.pathLengths) == maxDepth:
		return reconcile.InvalidFile("has more than %d nested elements in line %d", maxDepth, c.lineNumber())
	}
	c.pathLengths = append(c.pathLengths, len(c.path))
	c.path = append(append(c.path, '/'), t.Name.Local...)
	c.text, c.elementCurrency = c.text[:0], ""
	for _, a := range t.Attr {
		if a.Name.Local == "Ccy" {
			c.elementCurrency = a.Value
		}
	}
	switch string(c.path) {
	case "/Document/BkToCstmrStmt/Stmt":
		c.statement = statement{}
	case "/Document/BkToCstmrStmt/Stmt/Bal":
		c.statement.balance = balance{}
	case "/Document/BkToCstmrStmt/Stmt/Ntry":
		c.entry = statementEntry{details: c.entry.details[:0]}
	case "/Document/BkToCstmrStmt/Stmt/Ntry/NtryDtls/TxDtls":
		if len(c.entry.details) == reconcile.MaxLines {
			return reconcile.InvalidFile("has more than %d details in one entry", reconcile.MaxLines)
		}
		c.entry.details = append(c.entry.details, entryDetail{})
	}
	return nil
}

func (c *camtParser) skipElement() error {
	if err := c.decoder.Skip(); err != nil {
		return wrapXMLError(err, c.lineNumber())
	}
	return nil
}

func (c *camtParser) endElement() error {
	path, text := string(c.path), strings.TrimSpace(string(c.text))
	last := len(c.pathLengths) - 1
	c.path, c.pathLengths, c.text = c.path[:c.pathLengths[last]], c.pathLengths[:last], c.text[:0]
	if last == 0 {
		c.ended = true
		return nil
	}
	const stmt, ntry = "/Document/BkToCstmrStmt/Stmt", "/Document/BkToCstmrStmt/Stmt/Ntry"
	switch {
	case path == ntry:
		return c.addEntry()
	case path == stmt:
		return c.endStatement()
	case strings.HasPrefix(path, ntry+"/NtryDtls/TxDtls/"):
		c.setDetailField(path[len(ntry+"/NtryDtls/TxDtls/"):], text)
	case strings.HasPrefix(path, ntry+"/"):
		return c.setEntryField(path[len(ntry)+1:], text)
	case strings.HasPrefix(path, stmt+"/"):
		return c.setStatementField(path[len(stmt)+1:], text)
	case path == "/Document/BkToCstmrStmt/GrpHdr/CreDtTm":
		created, err := parseTime(text)
		c.Created = created
		return err
	}
	return nil
}

func (c *camtParser) setStatementField(part, text string) (err error) {
	s := &c.statement
	switch part {
	case "Id":
		s.id = text
	case "Acct/Id/IBAN", "Acct/Id/Othr/Id":
		if text = cleanText(text, reconcile.MaxReference); c.PartnerAccount != "" && c.PartnerAccount != text {
			return reconcile.InvalidFile("has statements of two accounts, %s and %s; import them separately", c.PartnerAccount, text)
		}
		c.PartnerAccount = text
	case "Acct/Ccy":
		if text != string(c.currency) {
			return currencyMismatch("the statement", text, c.currency)
		}
	case "FrToDt/FrDtTm":
		s.from, err = c.parseDay(text)
	case "FrToDt/ToDtTm":
		s.to, err = c.parseDay(text)
	case "Bal/Tp/CdOrPrtry/Cd":
		s.balance.kind = text
	case "Bal/Amt":
		s.balance.amount, s.balance.currency = text, c.elementCurrency
	case "Bal/CdtDbtInd":
		s.balance.side = text
	case "Bal":
		return c.setBalance()
	}
	return err
}

// setBalance sets the opening or closing booked balance.
func (c *camtParser) setBalance() error {
	s, b := &c.statement, c.statement.balance
	opening := b.kind == "OPBD" || b.kind == "PRCD" && s.opening == nil
	if !opening && b.kind != "CLBD" {
		return nil
	}
	amount, err := c.parseAmount("the balance", b.amount, b.currency, b.side)
	if err != nil {
		return err
	}
	if opening {
		s.opening = &amount
	} else {
		s.closing = &amount
	}
	return nil
}

// endStatement finishes a statement.
func (c *camtParser) endStatement() error {
	s := c.statement
	if err := c.endPage("statement "+s.id, s.opening, s.closing, s.sum); err != nil {
		return err
	}
	if len(c.Statements) < reconcile.MaxReferences && s.id != "" {
		c.Statements = append(c.Statements, cleanText(s.id, reconcile.MaxReference))
	}
	if s.from != reconcile.NoDay && (c.From == reconcile.NoDay || s.from < c.From) {
		c.From = s.from
	}
	c.To = max(c.To, s.to)
	return nil
}

func (c *camtParser) finish() error {
	if c.pageCount == 0 {
		return reconcile.InvalidFile("has no statement")
	}
	return nil
}

func (c *camtParser) parseAmount(subject, text, currency, side string) (int64, error) {
	if currency != string(c.currency) {
		return 0, currencyMismatch(subject, currency, c.currency)
	}
	minor, err := reconcile.ParseAmount(text, c.currency, '.', 0)
	if err != nil {
		return 0, reconcile.InvalidFile("line %d: %v", c.lineNumber(), err)
	}
	switch {
	case minor < 0 || strings.HasPrefix(text, "-"):
		return 0, reconcile.InvalidFile("line %d: %q has a sign; CdtDbtInd has the direction", c.lineNumber(), text)
	case side == "DBIT":
		return -minor, nil
	case side != "CRDT":
		return 0, reconcile.InvalidFile("line %d: %s is neither CRDT nor DBIT", c.lineNumber(), subject)
	}
	return minor, nil
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

// parseTime parses a time with or without an offset.
func parseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, reconcile.InvalidFile("%.40q is not a time", text)
}
