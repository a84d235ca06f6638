package statements

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"causeway/core/formats/textfile"
	"causeway/core/money"
	"causeway/core/plaintext"
	"causeway/core/reconcile"
)

// maxLineBytes is the maximum length of a line.
const maxLineBytes = 64 << 10

// readCSV reads a CSV file with a layout. One of its first lines has the names of the columns.
func readCSV(r io.Reader, builder statementBuilder, options Options) ([]reconcile.Statement, error) {
	layout := options.Layout
	if len(layout.Columns) == 0 {
		return nil, missingLayoutError()
	}
	text, err := decode(r, layout.Encoding)
	if err != nil {
		return nil, err
	}
	guard := &lineGuard{source: bufio.NewReaderSize(text, 64<<10)}
	rows := csv.NewReader(guard)
	rows.Comma, rows.ReuseRecord, rows.FieldsPerRecord = rune(layout.Delimiter), true, -1
	p := &csvParser{statementBuilder: builder, layout: layout, lineCurrency: cmp.Or(builder.currency, options.CommonCurrency),
		balances: map[*accountBuilder]*runningBalance{}}
	if !layout.HasAccounts() {
		if err := p.beginAccount("", string(p.currency)); err != nil {
			return nil, err
		}
	}
	err = p.read(rows)
	var parseError *csv.ParseError
	switch {
	case guard.err != nil:
		return nil, reconcile.InvalidFile("has a line of more than %d bytes", maxLineBytes)
	case errors.As(err, &parseError):
		return nil, reconcile.InvalidFile("is not valid CSV: line %d: %v", parseError.Line, parseError.Err)
	case err != nil:
		return nil, err
	}
	return p.finish()
}

func missingLayoutError() error {
	_, err := reconcile.ParseLayout("")
	return err
}

// csvParser is the state of reading a CSV file.
type csvParser struct {
	statementBuilder
	layout        reconcile.Layout
	columnIndexes map[reconcile.Column]int
	columnCount   int
	decimal       byte // the decimal mark that the amounts so far show; 0 for none
	decimalLine   int
	lineCurrency  money.Currency // of lines that do not say theirs
	ignored       int            // lines that are not movements
	balances      map[*accountBuilder]*runningBalance
}

func (p *csvParser) read(rows *csv.Reader) error {
	if err := p.readHeader(rows); err != nil {
		return err
	}
	for {
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return p.end()
		}
		if err != nil {
			return err
		}
		number, _ := rows.FieldPos(0)
		if p.isIgnored(fields) {
			p.ignored++
			continue
		}
		if len(fields) < p.columnCount || strings.Join(fields[p.columnCount:], "") != "" {
			return reconcile.InvalidFile("line %d does not have as many fields as the header%s", number, ignoreHint(fields))
		}
		if p.layout.HasAccounts() {
			if err := p.beginLineAccount(fields, number); err != nil {
				return err
			}
		}
		line, err := p.parseLine(fields, number)
		if err != nil {
			return reconcile.InvalidFile("line %d%v", number, err)
		}
		if err := p.addLine(line); err != nil {
			return err
		}
	}
}

// beginLineAccount makes the account of a line the one that it is added to.
func (p *csvParser) beginLineAccount(fields []string, number int) error {
	account, currency := p.field(fields, reconcile.ColumnAccount), cmp.Or(p.field(fields, reconcile.ColumnCurrency), string(p.lineCurrency))
	if account == "" {
		return reconcile.InvalidFile("line %d%v", number, p.errorf(reconcile.ColumnAccount, "has no account%s", ignoreHint(fields)))
	}
	if p.lineCurrency != "" && currency != string(p.lineCurrency) {
		return reconcile.InvalidFile("line %d%v", number, p.errorf(reconcile.ColumnCurrency, "is in %.8q, and the request says %s",
			currency, p.lineCurrency))
	}
	if p.current != nil && p.current.PartnerAccount == account && string(p.current.Currency) == currency {
		return nil
	}
	return p.beginAccount(strings.Clone(account), currency)
}

// end checks what can be checked after the last line.
func (p *csvParser) end() error {
	if len(p.accounts) == 0 {
		return reconcile.InvalidFile(
			"has no movements, and only they say the account; import it with account, currency and a map without account")
	}
	p.accounts[0].Ignored += p.ignored
	for _, p.current = range p.accounts {
		if err := p.endBalances(); err != nil {
			return err
		}
	}
	return nil
}

// isIgnored reports whether a line is one that the layout names as no movement. Balances may have a
// date before their name, but no amount.
func (p *csvParser) isIgnored(fields []string) bool {
	if len(p.layout.Ignore) == 0 {
		return false
	}
	texts := []string{firstText(fields)}
	if p.hasNoAmount(fields) {
		texts = fields
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		return slices.ContainsFunc(p.layout.Ignore, func(start string) bool { return strings.HasPrefix(strings.TrimSpace(text), start) })
	})
}

func (p *csvParser) hasNoAmount(fields []string) bool {
	return len(fields) >= p.columnCount && p.field(fields, reconcile.ColumnAmount) == "" &&
		p.field(fields, reconcile.ColumnDebit) == "" && p.field(fields, reconcile.ColumnCredit) == ""
}

// firstText returns the first text in a line.
func firstText(fields []string) string {
	for _, text := range fields {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

func ignoreHint(fields []string) string {
	text := plaintext.Clean(firstText(fields), 40)
	if text == "" || strings.ContainsAny(text, ";|=") || isDigits(text[:1]) {
		return ""
	}
	return fmt.Sprintf("; if it is no movement, name its beginning in map, as ignore=%s", text)
}

// errorf returns the error for a field, to be written after the number of its line.
func (p *csvParser) errorf(column reconcile.Column, format string, args ...any) error {
	return fmt.Errorf(", column %d (%.60s): %s", p.columnIndexes[column]+1, p.layout.Columns[column], fmt.Sprintf(format, args...))
}

// field returns a field of a line; empty if the file does not have it.
func (p *csvParser) field(fields []string, c reconcile.Column) string {
	index, ok := p.columnIndexes[c]
	if !ok {
		return ""
	}
	return strings.TrimSpace(fields[index])
}

func (p *csvParser) parseLine(fields []string, number int) (l reconcile.Line, err error) {
	field := func(c reconcile.Column) string { return p.field(fields, c) }
	for i, text := range fields {
		if !utf8.ValidString(text) {
			return l, fmt.Errorf(", column %d: is not UTF-8; name the encoding of the file with map, as encoding=windows-1252", i+1)
		}
	}
	if l.Booked, err = p.layout.ParseDay(field(reconcile.ColumnDate)); err != nil {
		return l, p.errorf(reconcile.ColumnDate, "%v%s", err, ignoreHint(fields))
	}
	if currency := field(reconcile.ColumnCurrency); p.layout.Columns[reconcile.ColumnCurrency] != "" &&
		currency != string(p.current.Currency) {
		return l, p.errorf(reconcile.ColumnCurrency, "is in %.8q, and the account is in %s", currency, p.current.Currency)
	}
	if l.Value = l.Booked; field(reconcile.ColumnValueDate) != "" {
		if l.Value, err = p.layout.ParseDay(field(reconcile.ColumnValueDate)); err != nil {
			return l, p.errorf(reconcile.ColumnValueDate, "%v", err)
		}
	}
	if l.Amount, err = p.parseMovement(field, number); err != nil {
		return l, err
	}
	if p.layout.Columns[reconcile.ColumnBalance] != "" {
		balance, err := p.parseAmount(reconcile.ColumnBalance, field, number)
		if err != nil {
			return l, err
		}
		if p.balances[p.current] == nil {
			p.balances[p.current] = &runningBalance{}
		}
		p.balances[p.current].add(balance, l.Amount, l.Booked, number)
	}
	// The fields share a buffer that is reused for the next line.
	l.ServicerReference = strings.Clone(field(reconcile.ColumnID))
	addReference(&l, strings.Clone(field(reconcile.ColumnReference)))
	l.Description = strings.Clone(field(reconcile.ColumnDescription))
	return l, nil
}

// parseMovement returns the amount from the amount column, or from the debit and credit columns.
func (p *csvParser) parseMovement(field func(reconcile.Column) string, number int) (int64, error) {
	if p.layout.Columns[reconcile.ColumnAmount] != "" {
		amount, err := p.parseAmount(reconcile.ColumnAmount, field, number)
		if err != nil || p.layout.Columns[reconcile.ColumnSide] == "" {
			return amount, err
		}
		credit, err := reconcile.ParseSide(field(reconcile.ColumnSide))
		switch {
		case err != nil:
			return 0, p.errorf(reconcile.ColumnSide, "%v", err)
		case credit && amount < 0:
			return 0, p.errorf(reconcile.ColumnAmount, "the credit is negative")
		case credit:
			return amount, nil
		}
		return min(amount, -amount), nil
	}
	var amounts [2]int64
	nonZero := 0
	for i, c := range []reconcile.Column{reconcile.ColumnCredit, reconcile.ColumnDebit} {
		if field(c) == "" {
			continue
		}
		amount, err := p.parseAmount(c, field, number)
		if err != nil {
			return 0, err
		}
		if amount != 0 {
			nonZero++
		}
		// Some partners write debits with a minus sign.
		amounts[i] = max(amount, -amount)
		if amount < 0 && c == reconcile.ColumnCredit {
			return 0, p.errorf(c, "the credit is negative")
		}
	}
	switch {
	case nonZero == 2:
		return 0, errors.New(": has both a debit and a credit")
	case field(reconcile.ColumnCredit) == "" && field(reconcile.ColumnDebit) == "":
		return 0, errors.New(": has neither a debit nor a credit")
	}
	return amounts[0] - amounts[1], nil
}

// parseAmount parses an amount. All amounts of a file have the same decimal mark.
func (p *csvParser) parseAmount(column reconcile.Column, field func(reconcile.Column) string, number int) (int64, error) {
	amount, decimal, err := p.layout.ParseAmount(field(column), p.current.Currency)
	switch {
	case err != nil:
		return 0, p.errorf(column, "%v", err)
	case decimal == 0:
	case p.decimal == 0:
		p.decimal, p.decimalLine = decimal, number
	case p.decimal != decimal:
		return 0, p.errorf(column, "%.40q has the decimal mark %q, and line %d has %q; set decimal and group in map", field(column), decimal,
			p.decimalLine, p.decimal)
	}
	return amount, nil
}

// lineGuard refuses lines that are too long. A newline in quotes does not end a line.
type lineGuard struct {
	source    *bufio.Reader
	lineBytes int
	quoted    bool
	err       error
}

func (g *lineGuard) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.source.Read(p)
	for _, b := range p[:n] {
		g.lineBytes++
		switch {
		case b == '"':
			g.quoted = !g.quoted
		case b == '\n' && !g.quoted:
			g.lineBytes = 0
		}
		if g.lineBytes > maxLineBytes {
			g.err = textfile.ErrTooLarge
			return 0, g.err
		}
	}
	return n, err
}
