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

// namespace is that of any version of the message.
var namespace = regexp.MustCompile(`^urn:iso:std:iso:20022:tech:xsd:camt\.053\.001\.(0[1-9]|[1-9][0-9])$`)

const (
	deepest = 64      // of elements within elements
	longest = 1 << 20 // bytes without a new element
	kept    = 4096    // bytes of a text
)

// readCAMT053 reads a bank-to-customer statement of ISO 20022, of any version. Elements
// that it has no use for are passed over; what is in another namespace as well.
func readCAMT053(r io.Reader, currency money.Currency) (reconcile.Statement, error) {
	guarded := &elementGuard{from: r}
	c := &camt{gathering: gathering{currency: currency}, decoder: xml.NewDecoder(guarded)}
	c.decoder.CharsetReader = charset
	if err := c.read(); err != nil {
		var syntax *xml.SyntaxError
		switch {
		case guarded.failed != nil:
			return reconcile.Statement{}, reconcile.InvalidFile("has a text or tag of more than %d bytes near line %d", longest, c.line())
		case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
			return reconcile.Statement{}, reconcile.InvalidFile("ends too early, in line %d: it is cut off", syntax.Line)
		case errors.As(err, &syntax):
			return reconcile.Statement{}, reconcile.InvalidFile("is no valid XML: line %d: %s", syntax.Line, syntax.Msg)
		}
		return reconcile.Statement{}, err
	}
	return c.Statement, nil
}

// camt is a message that is being read.
type camt struct {
	gathering
	decoder *xml.Decoder
	space   string
	path    []byte // of the element we are in, from the statement or the entry on
	lengths []int  // of the path, for each element that we are in
	text    []byte // of the element we are in
	coin    string // its currency, where it has one

	statement statement
	entry     booking
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
	kind, amount, coin, side string
}

func (c *camt) line() int { line, _ := c.decoder.InputPos(); return line }

func (c *camt) read() error {
	for {
		token, err := c.decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && c.ended:
			return c.finish()
		case errors.Is(err, io.EOF):
			return reconcile.InvalidFile("is empty")
		case err != nil:
			return unread(err, c.line())
		}
		switch t := token.(type) {
		case xml.Directive:
			return reconcile.InvalidFile("has a document type or an entity of its own in line %d, which no statement needs", c.line())
		case xml.StartElement:
			if err := c.begin(t); err != nil {
				return err
			}
		case xml.CharData:
			if len(c.lengths) == 0 && len(bytes.Trim(t, " \t\r\n\ufeff")) > 0 {
				return reconcile.InvalidFile("is no valid XML: line %d: there is text outside of the document", c.line())
			}
			if len(c.text) < kept {
				c.text = append(c.text, t[:min(len(t), kept-len(c.text))]...)
			}
		case xml.EndElement:
			if err := c.end(); err != nil {
				return err
			}
		}
	}
}

// unread keeps what is wrong with the XML, and words what the decoder says otherwise.
func unread(err error, line int) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		return err
	}
	return reconcile.InvalidFile("is no valid XML: line %d: %v", line, err)
}

func (c *camt) begin(t xml.StartElement) error {
	switch {
	case c.ended:
		return reconcile.InvalidFile("goes on after its end, in line %d", c.line())
	case len(c.lengths) == 0:
		if t.Name.Local != "Document" || !namespace.MatchString(t.Name.Space) {
			return reconcile.InvalidFile("is no camt.053 statement: it is %.60q in the namespace %.80q", t.Name.Local, t.Name.Space)
		}
		c.space = t.Name.Space
	case t.Name.Space != c.space || t.Name.Local == "SplmtryData":
		return c.skip()
	case len(c.lengths) == deepest:
		return reconcile.InvalidFile("has more than %d elements within each other in line %d", deepest, c.line())
	}
	c.lengths = append(c.lengths, len(c.path))
	c.path = append(append(c.path, '/'), t.Name.Local...)
	c.text, c.coin = c.text[:0], ""
	for _, a := range t.Attr {
		if a.Name.Local == "Ccy" {
			c.coin = a.Value
		}
	}
	switch string(c.path) {
	case "/Document/BkToCstmrStmt/Stmt":
		c.statement = statement{}
	case "/Document/BkToCstmrStmt/Stmt/Bal":
		c.statement.balance = balance{}
	case "/Document/BkToCstmrStmt/Stmt/Ntry":
		c.entry = booking{details: c.entry.details[:0]}
	case "/Document/BkToCstmrStmt/Stmt/Ntry/NtryDtls/TxDtls":
		if len(c.entry.details) == reconcile.MaxLines {
			return reconcile.InvalidFile("has more than %d details in one entry", reconcile.MaxLines)
		}
		c.entry.details = append(c.entry.details, detail{})
	}
	return nil
}

func (c *camt) skip() error {
	if err := c.decoder.Skip(); err != nil {
		return unread(err, c.line())
	}
	return nil
}

func (c *camt) end() error {
	path, said := string(c.path), strings.TrimSpace(string(c.text))
	last := len(c.lengths) - 1
	c.path, c.lengths, c.text = c.path[:c.lengths[last]], c.lengths[:last], c.text[:0]
	if last == 0 {
		c.ended = true
		return nil
	}
	const stmt, ntry = "/Document/BkToCstmrStmt/Stmt", "/Document/BkToCstmrStmt/Stmt/Ntry"
	switch {
	case path == ntry:
		return c.book()
	case path == stmt:
		return c.close()
	case strings.HasPrefix(path, ntry+"/NtryDtls/TxDtls/"):
		c.detail(path[len(ntry+"/NtryDtls/TxDtls/"):], said)
	case strings.HasPrefix(path, ntry+"/"):
		return c.ofEntry(path[len(ntry)+1:], said)
	case strings.HasPrefix(path, stmt+"/"):
		return c.ofStatement(path[len(stmt)+1:], said)
	case path == "/Document/BkToCstmrStmt/GrpHdr/CreDtTm":
		made, err := moment(said)
		c.Created = made
		return err
	}
	return nil
}

func (c *camt) ofStatement(part, said string) (err error) {
	s := &c.statement
	switch part {
	case "Id":
		s.id = said
	case "Acct/Id/IBAN", "Acct/Id/Othr/Id":
		if said = text(said, reconcile.MaxReference); c.PartnerAccount != "" && c.PartnerAccount != said {
			return reconcile.InvalidFile("has statements of two accounts, %s and %s; import them one by one", c.PartnerAccount, said)
		}
		c.PartnerAccount = said
	case "Acct/Ccy":
		if said != string(c.currency) {
			return wrongCurrency("the statement", said, c.currency)
		}
	case "FrToDt/FrDtTm":
		s.from, err = c.day(said)
	case "FrToDt/ToDtTm":
		s.to, err = c.day(said)
	case "Bal/Tp/CdOrPrtry/Cd":
		s.balance.kind = said
	case "Bal/Amt":
		s.balance.amount, s.balance.coin = said, c.coin
	case "Bal/CdtDbtInd":
		s.balance.side = said
	case "Bal":
		return c.balance()
	}
	return err
}

// balance takes the opening and the closing balance of what is booked.
func (c *camt) balance() error {
	s, b := &c.statement, c.statement.balance
	opening := b.kind == "OPBD" || b.kind == "PRCD" && s.opening == nil
	if !opening && b.kind != "CLBD" {
		return nil
	}
	amount, err := c.amount("the balance", b.amount, b.coin, b.side)
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

// close ends a statement.
func (c *camt) close() error {
	s := c.statement
	if err := c.page("statement "+s.id, s.opening, s.closing, s.sum); err != nil {
		return err
	}
	if len(c.Statements) < reconcile.MaxReferences && s.id != "" {
		c.Statements = append(c.Statements, text(s.id, reconcile.MaxReference))
	}
	if s.from != reconcile.NoDay && (c.From == reconcile.NoDay || s.from < c.From) {
		c.From = s.from
	}
	c.To = max(c.To, s.to)
	return nil
}

func (c *camt) finish() error {
	if c.pages == 0 {
		return reconcile.InvalidFile("has no statement")
	}
	return nil
}

func (c *camt) amount(of, said, coin, side string) (int64, error) {
	if coin != string(c.currency) {
		return 0, wrongCurrency(of, coin, c.currency)
	}
	minor, err := reconcile.ParseAmount(said, c.currency, '.', 0)
	if err != nil {
		return 0, reconcile.InvalidFile("line %d: %v", c.line(), err)
	}
	switch {
	case minor < 0 || strings.HasPrefix(said, "-"):
		return 0, reconcile.InvalidFile("line %d: %q has a sign; CdtDbtInd says which way money goes", c.line(), said)
	case side == "DBIT":
		return -minor, nil
	case side != "CRDT":
		return 0, reconcile.InvalidFile("line %d: %s is neither CRDT nor DBIT", c.line(), of)
	}
	return minor, nil
}

// day is the day of a date, or of a moment where it was.
func (c *camt) day(said string) (reconcile.Day, error) {
	if len(said) >= len(time.DateOnly) {
		if t, err := time.Parse(time.DateOnly, said[:len(time.DateOnly)]); err == nil {
			if d, ok := reconcile.Date(t.Year(), int(t.Month()), t.Day()); ok {
				return d, nil
			}
		}
	}
	return reconcile.NoDay, reconcile.InvalidFile("line %d: %.40q is no day", c.line(), said)
}

// moment reads a moment with or without its offset.
func moment(said string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, said); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, reconcile.InvalidFile("%.40q is no moment", said)
}
