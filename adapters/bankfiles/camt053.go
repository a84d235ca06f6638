package bankfiles

import (
	"encoding/xml"
	"errors"
	"fmt"
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
			return reconcile.Statement{}, reconcile.BadFile("has a text or tag of more than %d bytes near line %d", longest, c.line())
		case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
			return reconcile.Statement{}, reconcile.BadFile("ends too early, in line %d: it is cut off", syntax.Line)
		case errors.As(err, &syntax):
			return reconcile.Statement{}, reconcile.BadFile("is no valid XML: line %d: %s", syntax.Line, syntax.Msg)
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
	at      string // where we are: "", "Stmt" or "Ntry"

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

// booking is an entry of the partner: one line, or as many as it has details.
type booking struct {
	line         reconcile.Line
	amount, coin string
	side, status string
	number       string
	details      []detail
}

type detail struct {
	line               reconcile.Line
	amount, coin, side string
	direct             bool // the amount is the detail's own, and not that of its parts
}

func (c *camt) line() int { line, _ := c.decoder.InputPos(); return line }

func (c *camt) read() error {
	for {
		token, err := c.decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && c.ended:
			return c.finish()
		case errors.Is(err, io.EOF):
			return reconcile.BadFile("is empty")
		case err != nil:
			return unread(err, c.line())
		}
		switch t := token.(type) {
		case xml.Directive:
			return reconcile.BadFile("has a document type or an entity of its own in line %d, which no statement needs", c.line())
		case xml.StartElement:
			if err := c.begin(t); err != nil {
				return err
			}
		case xml.CharData:
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
	return reconcile.BadFile("is no valid XML: line %d: %v", line, err)
}

func (c *camt) begin(t xml.StartElement) error {
	switch {
	case c.ended:
		return reconcile.BadFile("goes on after its end, in line %d", c.line())
	case len(c.lengths) == 0:
		if t.Name.Local != "Document" || !namespace.MatchString(t.Name.Space) {
			return reconcile.BadFile("is no camt.053 statement: it is %.60q in the namespace %.80q", t.Name.Local, t.Name.Space)
		}
		c.space = t.Name.Space
	case t.Name.Space != c.space || t.Name.Local == "SplmtryData":
		return c.skip()
	case len(c.lengths) == deepest:
		return reconcile.BadFile("has more than %d elements within each other in line %d", deepest, c.line())
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
			return reconcile.BadFile("has more than %d details in one entry", reconcile.MaxLines)
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
			return reconcile.BadFile("has statements of two accounts, %s and %s; import them one by one", c.PartnerAccount, said)
		}
		c.PartnerAccount = said
	case "Acct/Ccy":
		if said != string(c.currency) {
			return wrongCurrency("the statement", said, c.currency)
		}
	case "FrToDt/FrDtTm":
		s.from, err = day(said)
	case "FrToDt/ToDtTm":
		s.to, err = day(said)
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

func (c *camt) ofEntry(part, said string) (err error) {
	e := &c.entry
	switch part {
	case "NtryRef":
		e.number = said
	case "Amt":
		e.amount, e.coin = said, c.coin
	case "CdtDbtInd":
		e.side = said
	case "RvslInd":
		e.line.Returned = said == "true" || said == "1"
	case "Sts", "Sts/Cd":
		if said != "" {
			e.status = said
		}
	case "BookgDt/Dt", "BookgDt/DtTm":
		e.line.Booked, err = day(said)
	case "ValDt/Dt", "ValDt/DtTm":
		e.line.Value, err = day(said)
	case "AcctSvcrRef":
		e.line.Servicer = said
	case "AddtlNtryInf":
		e.line.Description = said
	case "NtryDtls/Btch/MsgId", "NtryDtls/Btch/PmtInfId":
		reference(&e.line, said)
	}
	if err != nil {
		return reconcile.BadFile("line %d: %v", c.line(), err)
	}
	return nil
}

func (c *camt) detail(part, said string) {
	d := &c.entry.details[len(c.entry.details)-1]
	switch part {
	case "Amt":
		d.amount, d.coin, d.direct = said, c.coin, true
	case "AmtDtls/TxAmt/Amt":
		if !d.direct {
			d.amount, d.coin = said, c.coin
		}
	case "CdtDbtInd":
		d.side = said
	case "Refs/AcctSvcrRef":
		d.line.Servicer = said
	case "Refs/EndToEndId", "Refs/TxId", "Refs/InstrId", "Refs/UETR", "Refs/MsgId", "Refs/PmtInfId", "Refs/ChqNb", "Refs/ClrSysRef", "Refs/MndtId",
		"Refs/Prtry/Ref", "RmtInf/Strd/CdtrRefInf/Ref", "RmtInf/Strd/RfrdDocInf/Nb":
		if said != "NOTPROVIDED" {
			reference(&d.line, said)
		}
	case "RmtInf/Ustrd", "AddtlTxInf":
		if d.line.Description != "" && said != "" {
			said = " " + said
		}
		if len(d.line.Description) < kept {
			d.line.Description += said
		}
	case "RtrInf", "RtrInf/Rsn/Cd", "RtrInf/Rsn/Prtry":
		d.line.Returned = true
	}
}

// book takes an entry in: as the payments it is made of where each is told exactly, and
// else as a whole.
func (c *camt) book() error {
	e := &c.entry
	if e.status != "BOOK" {
		if e.status == "" {
			return reconcile.BadFile("line %d: an entry does not say whether it is booked", c.line())
		}
		c.Ignored++
		return nil
	}
	if e.line.Booked == reconcile.NoDay {
		if e.line.Booked = e.line.Value; e.line.Booked == reconcile.NoDay {
			return reconcile.BadFile("line %d: an entry has no day", c.line())
		}
	}
	if e.line.Value == reconcile.NoDay {
		e.line.Value = e.line.Booked
	}
	whole, err := c.amount("an entry", e.amount, e.coin, e.side)
	if err != nil {
		return err
	}
	if c.statement.sum, err = money.AddMinor(c.statement.sum, whole); err != nil {
		return reconcile.BadFile("adds up to more than can be counted")
	}
	if c.parted(whole) {
		for i := range e.details {
			if err := c.add(e.part(i)); err != nil {
				return err
			}
		}
		return nil
	}
	e.line.Amount = whole
	reference(&e.line, e.number)
	for i := range e.details {
		d := &e.details[i].line
		if e.line.Servicer == "" && len(e.details) == 1 {
			e.line.Servicer = d.Servicer
		}
		reference(&e.line, d.Servicer)
		for _, r := range d.References {
			reference(&e.line, r)
		}
		if len(e.line.Description) < reconcile.MaxDescription {
			e.line.Description = strings.TrimSpace(e.line.Description + " " + d.Description)
		}
		e.line.Returned = e.line.Returned || d.Returned
	}
	return c.add(e.line)
}

// parted tells whether the entry is made of payments that are told exactly: each with an
// amount in the account's currency, and all together the entry's.
func (c *camt) parted(whole int64) bool {
	e := &c.entry
	if len(e.details) < 2 {
		return false
	}
	var sum int64
	for i := range e.details {
		d := &e.details[i]
		side := d.side
		if side == "" {
			side = e.side
		}
		amount, err := c.amount("", d.amount, d.coin, side)
		if err != nil || amount == 0 {
			return false
		}
		d.line.Amount = amount
		if sum, err = money.AddMinor(sum, amount); err != nil {
			return false
		}
	}
	return sum == whole
}

// part is the line of one of the entry's payments.
func (e *booking) part(i int) reconcile.Line {
	l := e.details[i].line
	l.Booked, l.Value, l.Returned = e.line.Booked, e.line.Value, l.Returned || e.line.Returned
	if l.Servicer == "" && e.line.Servicer != "" {
		l.Servicer = fmt.Sprintf("%s#%d", e.line.Servicer, i+1)
	}
	for _, r := range e.line.References {
		reference(&l, r)
	}
	if l.Description == "" {
		l.Description = e.line.Description
	}
	return l
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
		return reconcile.BadFile("has no statement")
	}
	return nil
}

func (c *camt) amount(of, said, coin, side string) (int64, error) {
	if coin != string(c.currency) {
		return 0, wrongCurrency(of, coin, c.currency)
	}
	minor, err := reconcile.ParseAmount(said, c.currency, '.', 0)
	if err != nil {
		return 0, reconcile.BadFile("line %d: %v", c.line(), err)
	}
	switch {
	case minor < 0 || strings.HasPrefix(said, "-"):
		return 0, reconcile.BadFile("line %d: %q has a sign; CdtDbtInd says which way money goes", c.line(), said)
	case side == "DBIT":
		return -minor, nil
	case side != "CRDT":
		return 0, reconcile.BadFile("line %d: %s is neither CRDT nor DBIT", c.line(), of)
	}
	return minor, nil
}

// day is the day of a date, or of a moment where it was.
func day(said string) (reconcile.Day, error) {
	if len(said) >= len(time.DateOnly) {
		if t, err := time.Parse(time.DateOnly, said[:len(time.DateOnly)]); err == nil {
			if d, ok := reconcile.Date(t.Year(), int(t.Month()), t.Day()); ok {
				return d, nil
			}
		}
	}
	return reconcile.NoDay, fmt.Errorf("%.40q is no day", said)
}

// moment reads a moment with or without its offset.
func moment(said string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, said); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, reconcile.BadFile("%.40q is no moment", said)
}

// charset reads the one old encoding that is plain to read.
func charset(label string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "us-ascii", "utf8":
		return r, nil
	case "iso-8859-1", "latin1":
		return &latin1{from: r}, nil
	}
	return nil, fmt.Errorf("the encoding %.40q is not read; use UTF-8", label)
}

// latin1 turns ISO 8859-1 into UTF-8.
type latin1 struct {
	from io.Reader
	rest byte // the second byte of a character that did not fit; 0 for none
}

func (l *latin1) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if l.rest != 0 {
		p[0], l.rest = l.rest, 0
		return 1, nil
	}
	raw := make([]byte, (len(p)+1)/2)
	got, err := l.from.Read(raw)
	for _, b := range raw[:got] {
		if b < 0x80 {
			p[n] = b
			n++
			continue
		}
		p[n] = 0xc0 | b>>6
		n++
		if second := 0x80 | b&0x3f; n < len(p) {
			p[n] = second
			n++
		} else {
			l.rest = second
		}
	}
	if l.rest != 0 && errors.Is(err, io.EOF) {
		err = nil // there is one byte left to give
	}
	return n, err
}

// elementGuard refuses a file that goes on for long without a new element: the decoder
// holds a text, a tag or a comment as a whole.
type elementGuard struct {
	from   io.Reader
	since  int
	failed error
}

func (g *elementGuard) Read(p []byte) (int, error) {
	if g.failed != nil {
		return 0, g.failed
	}
	n, err := g.from.Read(p)
	for _, b := range p[:n] {
		if g.since++; b == '<' {
			g.since = 0
		}
		if g.since > longest {
			g.failed = errTooLarge
			return 0, g.failed
		}
	}
	return n, err
}
