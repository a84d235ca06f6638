package statements

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"causeway/core/plaintext"
	"causeway/core/reconcile"
)

// readMT940 reads customer statements of SWIFT: messages in blocks, or their fields alone.
func readMT940(r io.Reader, builder statementBuilder, encoding reconcile.Encoding) ([]reconcile.Statement, error) {
	text, err := decode(r, encoding)
	if err != nil {
		return nil, err
	}
	m := &mt940Parser{statementBuilder: builder, statementText: sha256.New(), openPages: map[*accountBuilder]mt940Number{}}
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 0, 4096), maxLineBytes)
	for lines.Scan() {
		m.lineNumber++
		if err := m.addLineOfText(lines.Text()); err != nil {
			return nil, err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, reconcile.InvalidFile("has a line of more than %d bytes", maxLineBytes)
	}
	if err := m.endMessage(); err != nil {
		return nil, err
	}
	switch {
	case m.lineNumber == 0:
		return nil, reconcile.InvalidFile("is empty")
	case m.inBlock:
		return nil, reconcile.InvalidFile("ends too early, in line %d: the end of the message, -}, is missing", m.lineNumber)
	case len(m.accounts) == 0:
		return nil, reconcile.InvalidFile("has no statement: MT940 begins with the field :20:")
	}
	for _, a := range m.accounts {
		if open, found := m.openPages[a]; found {
			if err := m.mismatch(a, "is not complete: the statement %q of account %q ends with an intermediate balance (:62M:); import its "+
				"further pages in the same file",
				open, a.PartnerAccount); err != nil {
				return nil, err
			}
		}
	}
	return m.finish()
}

// mt940Parser is the state of reading a file.
type mt940Parser struct {
	statementBuilder
	lineNumber    int
	inBlock       bool // inside of {4: ... -}
	envelopeLines int  // lines of a bank's envelope before the current message

	field mt940Field // with its lines so far; without a tag between messages
	stage mt940Stage

	// The current statement, or page of one.
	reference, account string
	number             mt940Number
	opening            int64
	sum                int64
	movements          int
	movement           *reconcile.Line // the last one, until its :86: is read
	firstLine          int             // its index in those of the account
	statementText      hash.Hash       // of its fields

	// openPages has the number of the last page of each account whose further pages must follow.
	openPages map[*accountBuilder]mt940Number
}

// mt940Stage is how far a statement is read.
type mt940Stage int

const (
	mt940Outside mt940Stage = iota // before :20:
	mt940Header                    // after :20:
	mt940Open                      // after the opening balance
	mt940Closed                    // after the closing balance
)

// mt940Field is a field of a message.
type mt940Field struct {
	tag   string
	line  int // its first line in the file
	texts []string
	bytes int
}

// errorf returns the error for what begins at an offset in the first line of the field.
func (f mt940Field) errorf(offset int, format string, args ...any) error {
	return reconcile.InvalidFile("line %d, column %d, field :%s: %s", f.line, len(f.tag)+3+offset, f.tag, fmt.Sprintf(format, args...))
}

// endMessage ends the current message, if there is one.
func (m *mt940Parser) endMessage() error {
	if err := m.endField(); err != nil {
		return err
	}
	if m.stage != mt940Outside && m.stage != mt940Closed {
		return m.incompleteError()
	}
	m.stage = mt940Outside
	return nil
}

func (m *mt940Parser) incompleteError() error {
	return reconcile.InvalidFile("ends too early: the statement that ends in line %d has no closing balance (:62F:)", m.lineNumber)
}

// endField interprets the current field.
func (m *mt940Parser) endField() error {
	f := m.field
	if m.field = (mt940Field{}); f.tag == "" {
		return nil
	}
	if f.tag != "86" && f.tag != "NS" {
		if err := m.endMovement(); err != nil {
			return err
		}
	}
	switch {
	case f.tag == "20":
		if m.stage == mt940Header || m.stage == mt940Open {
			return m.incompleteError()
		}
		m.reference, m.account = plaintext.Clean(f.texts[0], reconcile.MaxReference), ""
		m.beginStatement()
		return nil
	case f.tag == "34F":
		return interimReportError()
	case m.stage == mt940Outside:
		return f.errorf(0, "is outside of a message, which begins with :20:")
	}
	switch f.tag {
	case "25", "25P", "28", "28C", "60F", "60M":
		if m.stage == mt940Closed { // a further statement in the same message
			m.beginStatement()
		}
		if m.stage != mt940Header {
			return f.errorf(0, "comes after the opening balance")
		}
	case "61", "62F", "62M":
		if m.stage != mt940Open {
			return f.errorf(0, "is not between an opening and a closing balance")
		}
	}
	// The same statement may be sent again with another reference.
	fmt.Fprintf(m.statementText, "%s:%q\n", f.tag, f.texts)
	return m.parseField(f)
}

func (m *mt940Parser) beginStatement() {
	m.stage, m.number, m.sum, m.movements = mt940Header, mt940Number{}, 0, 0
	m.statementText.Reset()
}

func (m *mt940Parser) parseField(f mt940Field) (err error) {
	switch f.tag {
	case "25", "25P":
		m.account = strings.TrimSpace(f.texts[0])
	case "28", "28C":
		m.number, err = parseMT940Number(f)
	case "60F", "60M":
		err = m.openStatement(f)
	case "61":
		err = m.beginMovement(f)
	case "86":
		if m.movement != nil {
			addMT940Information(m.movement, f.texts)
		}
	case "62F", "62M":
		err = m.closeStatement(f)
	case "64", "65":
		if m.stage != mt940Closed {
			return f.errorf(0, "comes before the closing balance")
		}
		_, err = m.parseBalance(f)
	case "NS":
		if m.movement != nil {
			addMT940OwnFields(m.movement, f.texts)
		}
	case "21", "12", "13", "13D", "90C", "90D": // do not change what the statement says
	default:
		err = f.errorf(0, "is not a field of MT940")
	}
	return err
}

// openStatement begins a statement, or a page of one, with its opening balance.
func (m *mt940Parser) openStatement(f mt940Field) error {
	if m.account == "" {
		return f.errorf(0, "comes before the account, :25:")
	}
	currency, err := parseBalanceCurrency(f)
	if err != nil {
		return err
	}
	if err := m.beginAccount(partnerAccount(m.account, currency), currency); err != nil {
		return err
	}
	opening, err := m.parseBalance(f)
	if err != nil {
		return err
	}
	m.opening = opening.amount
	m.firstLine = len(m.current.Lines)
	m.stage = mt940Open
	before, isFurtherPage := m.openPages[m.current]
	delete(m.openPages, m.current)
	switch {
	case f.tag == "60F" && isFurtherPage:
		return m.mismatch(m.current, "is not complete: the statement %q of account %q ends with an intermediate balance (:62M:), and line %d "+
			"begins another one (:60F:); import all its pages in their order",
			before, m.current.PartnerAccount, f.line)
	case f.tag == "60M" && !isFurtherPage:
		return m.mismatch(m.current, "is not complete: the page %q of account %q begins in line %d with an intermediate balance (:60M:); "+
			"import the pages before it in the same file",
			m.number, m.current.PartnerAccount, f.line)
	case f.tag == "60M" && !m.number.follows(before):
		return m.mismatch(m.current, "is not complete: after the page %q of account %q comes %q in line %d; import all pages in their order",
			before, m.current.PartnerAccount, m.number, f.line)
	}
	return nil
}

// closeStatement ends a statement, or a page of one, with its closing balance.
func (m *mt940Parser) closeStatement(f mt940Field) error {
	closing, err := m.parseBalance(f)
	switch {
	case err != nil:
		return err
	case closing.day == reconcile.NoDay:
		return f.errorf(1, "is not a date of the form YYMMDD")
	}
	m.stage = mt940Closed
	if f.tag == "62M" {
		m.openPages[m.current] = m.number
	}
	a := m.current
	for i := m.firstLine; i < len(a.Lines); i++ {
		if l := &a.Lines[i]; l.Booked == reconcile.NoDay { // the balance has it, whenever its funds are available
			l.Booked, l.ValuedOnly = min(l.Value, closing.day), true
		}
	}
	if a.From == reconcile.NoDay || closing.day < a.From {
		a.From = closing.day
	}
	a.To = max(a.To, closing.day)
	id := m.number.statement
	if strings.Trim(id, "0") == "" { // not numbered
		id = m.reference
	}
	if last := len(a.Statements) - 1; id != "" && last < reconcile.MaxReferences-1 && (last < 0 || a.Statements[last] != id) {
		a.Statements = append(a.Statements, id)
	}
	name := fmt.Sprintf("the statement %q of account %q with the balance of %s", id, a.PartnerAccount, closing.day)
	if m.number.sequence > 0 {
		name = fmt.Sprintf("the page %q of account %q with the balance of %s", m.number, a.PartnerAccount, closing.day)
	}
	var key string
	if m.movements > 0 {
		key = string(m.statementText.Sum(nil))
	}
	opening := m.opening
	return m.addPage(page{name: name, day: closing.day, opening: &opening, closing: &closing.amount, sum: m.sum}, key)
}

// endMovement adds the last movement, whose information is complete.
func (m *mt940Parser) endMovement() error {
	if m.movement == nil {
		return nil
	}
	l := *m.movement
	m.movement = nil
	return m.addLine(l)
}
