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

// namespaceRegexp is that of any version of the message.
var namespaceRegexp = regexp.MustCompile(`^urn:iso:std:iso:20022:tech:xsd:camt\.053\.001\.(0[1-9]|[1-9][0-9])$`)

const (
	maxDepth                = 64      // of elements within elements
	maxBytesBetweenElements = 1 << 20 // bytes without a new element
	maxTextBytes            = 4096    // bytes of a text
)

// readCAMT053 reads a bank-to-customer statement of ISO 20022, of any version. Elements
// that it has no use for are passed over; what is in another namespace as well.
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
			return reconcile.Statement{}, reconcile.InvalidFile("ends too early, in line %d: it is cut off", syntax.Line)
		case errors.As(err, &syntax):
			return reconcile.Statement{}, reconcile.InvalidFile("is no valid XML: line %d: %s", syntax.Line, syntax.Msg)
		}
		return reconcile.Statement{}, err
	}
	return c.Statement, nil
}

// camtParser is a message that is being read.
type camtParser struct {
	statementBuilder
	decoder         *xml.Decoder
	namespace       string
	path            []byte // of the element we are in, from the statement or the entry on
	pathLengths     []int  // of the path, for each element that we are in
	text            []byte // of the element we are in
	elementCurrency string // its currency, where it has one

	statement statement
	entry     statementEntry
	ended     bool
}

// statement is what one Stmt says.
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
			return reconcile.InvalidFile("has a document type or an entity of its own in line %d, which no statement needs", c.lineNumber())
		case xml.StartElement:
			if err := c.startElement(t); err != nil {
				return err
			}
		case xml.CharData:
			if len(c.pathLengths) == 0 && len(bytes.Trim(t, " \t\r\n\ufeff")) > 0 {
				return reconcile.InvalidFile("is no valid XML: line %d: there is text outside of the document", c.lineNumber())
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

// wrapXMLError keeps what is wrong with the XML, and words what the decoder says otherwise.
func wrapXMLError(err error, line int) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		return err
	}
	return reconcile.InvalidFile("is no valid XML: line %d: %v", line, err)
}

func (c *camtParser) startElement(t xml.StartElement) error {
	switch {
	case c.ended:
		return reconcile.InvalidFile("goes on after its end, in line %d", c.lineNumber())
	case len(c.pathLengths) == 0:
		if t.Name.Local != "Document" || !namespaceRegexp.MatchString(t.Name.Space) {
			return reconcile.InvalidFile("is no camt.053 statement: it is %.60q in the namespace %.80q", t.Name.Local, t.Name.Space)
		}
		c.namespace = t.Name.Space
	case t.Name.Space != c.namespace || t.Name.Local == "SplmtryData":
		return c.skipElement()
	case len(c.pathLengths) == maxDepth:
		return reconcile.InvalidFile("has more than %d elements within each other in line %d", maxDepth, c.lineNumber())
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
	path, said := string(c.path), strings.TrimSpace(string(c.text))
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
		c.setDetailField(path[len(ntry+"/NtryDtls/TxDtls/"):], said)
	case strings.HasPrefix(path, ntry+"/"):
		return c.setEntryField(path[len(ntry)+1:], said)
	case strings.HasPrefix(path, stmt+"/"):
		return c.setStatementField(path[len(stmt)+1:], said)
	case path == "/Document/BkToCstmrStmt/GrpHdr/CreDtTm":
		made, err := parseTime(said)
		c.Created = made
		return err
	}
	return nil
}

func (c *camtParser) setStatementField(part, said string) (err error) {
	s := &c.statement
	switch part {
	case "Id":
		s.id = said
	case "Acct/Id/IBAN", "Acct/Id/Othr/Id":
		if said = cleanText(said, reconcile.MaxReference); c.PartnerAccount != "" && c.PartnerAccount != said {
			return reconcile.InvalidFile("has statements of two accounts, %s and %s; import them one by one", c.PartnerAccount, said)
		}
		c.PartnerAccount = said
	case "Acct/Ccy":
		if said != string(c.currency) {
			return currencyMismatch("the statement", said, c.currency)
		}
	case "FrToDt/FrDtTm":
		s.from, err = c.parseDay(said)
	case "FrToDt/ToDtTm":
		s.to, err = c.parseDay(said)
	case "Bal/Tp/CdOrPrtry/Cd":
		s.balance.kind = said
	case "Bal/Amt":
		s.balance.amount, s.balance.currency = said, c.elementCurrency
	case "Bal/CdtDbtInd":
		s.balance.side = said
	case "Bal":
		return c.setBalance()
	}
	return err
}

// setBalance takes the opening and the closing balance of what is booked.
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

// endStatement ends a statement.
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

func (c *camtParser) parseAmount(of, said, coin, side string) (int64, error) {
	if coin != string(c.currency) {
		return 0, currencyMismatch(of, coin, c.currency)
	}
	minor, err := reconcile.ParseAmount(said, c.currency, '.', 0)
	if err != nil {
		return 0, reconcile.InvalidFile("line %d: %v", c.lineNumber(), err)
	}
	switch {
	case minor < 0 || strings.HasPrefix(said, "-"):
		return 0, reconcile.InvalidFile("line %d: %q has a sign; CdtDbtInd says which way money goes", c.lineNumber(), said)
	case side == "DBIT":
		return -minor, nil
	case side != "CRDT":
		return 0, reconcile.InvalidFile("line %d: %s is neither CRDT nor DBIT", c.lineNumber(), of)
	}
	return minor, nil
}

// parseDay is the day of a date, or of a moment where it was.
func (c *camtParser) parseDay(said string) (reconcile.Day, error) {
	if len(said) >= len(time.DateOnly) {
		if t, err := time.Parse(time.DateOnly, said[:len(time.DateOnly)]); err == nil {
			if d, ok := reconcile.Date(t.Year(), int(t.Month()), t.Day()); ok {
				return d, nil
			}
		}
	}
	return reconcile.NoDay, reconcile.InvalidFile("line %d: %.40q is no day", c.lineNumber(), said)
}

// parseTime reads a moment with or without its offset.
func parseTime(said string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, said); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, reconcile.InvalidFile("%.40q is no moment", said)
}
