package bankfiles

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"causeway/core/reconcile"
)

// maxLineBytes is the maximum length of a line.
const maxLineBytes = 64 << 10

// readCSV reads a CSV file with a layout. Its first line has the names of the columns.
func readCSV(r io.Reader, builder statementBuilder, layout reconcile.Layout) ([]reconcile.Statement, error) {
	if len(layout.Columns) == 0 {
		return nil, missingLayoutError()
	}
	text, err := decodeText(r, layout.Encoding)
	if err != nil {
		return nil, err
	}
	guard := &lineGuard{source: bufio.NewReaderSize(text, 64<<10)}
	rows := csv.NewReader(guard)
	rows.Comma, rows.ReuseRecord = rune(layout.Delimiter), true
	p := &csvParser{statementBuilder: builder, layout: layout}
	if err := p.beginAccount("", string(p.currency)); err != nil {
		return nil, err
	}
	err = p.read(rows)
	var parseError *csv.ParseError
	switch {
	case guard.err != nil:
		return nil, reconcile.InvalidFile("has a line of more than %d bytes", maxLineBytes)
	case errors.As(err, &parseError) && errors.Is(err, csv.ErrFieldCount):
		return nil, reconcile.InvalidFile("line %d does not have as many fields as the header", parseError.Line)
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
}

func (p *csvParser) read(rows *csv.Reader) error {
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return reconcile.InvalidFile("is empty")
	}
	if err != nil {
		return err
	}
	if err := p.findColumns(header); err != nil {
		return err
	}
	for {
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		number, _ := rows.FieldPos(0)
		line, err := p.parseLine(fields)
		if err != nil {
			return reconcile.InvalidFile("line %d: %v", number, err)
		}
		if err := p.addLine(line); err != nil {
			return err
		}
	}
}

// findColumns finds the columns by their names in the header.
func (p *csvParser) findColumns(header []string) error {
	p.columnIndexes = map[reconcile.Column]int{}
	names := make([]string, len(header))
	for i, name := range header {
		names[i] = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
	}
	var missing []string
	for column, name := range p.layout.Columns {
		index := slices.Index(names, name)
		switch {
		case index < 0:
			missing = append(missing, fmt.Sprintf("%.60q", name))
		case slices.Contains(names[index+1:], name):
			return reconcile.InvalidFile("has two columns with the name %.60q", name)
		}
		p.columnIndexes[column] = index
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return reconcile.InvalidFile("has no column %s; its first line is %.200q", strings.Join(missing, ", "), strings.Join(names, string(rune(p.layout.Delimiter))))
	}
	return nil
}

func (p *csvParser) parseLine(fields []string) (l reconcile.Line, err error) {
	field := func(c reconcile.Column) string {
		index, ok := p.columnIndexes[c]
		if !ok {
			return ""
		}
		return strings.TrimSpace(fields[index])
	}
	for _, text := range fields {
		if !utf8.ValidString(text) {
			return l, errors.New("is not UTF-8; name the encoding of the file with map, as encoding=windows-1252")
		}
	}
	if currency := field(reconcile.ColumnCurrency); p.layout.Columns[reconcile.ColumnCurrency] != "" && currency != string(p.currency) {
		return l, fmt.Errorf("is in %.8q, and the account is in %s", currency, p.currency)
	}
	if l.Booked, err = p.layout.ParseDay(field(reconcile.ColumnDate)); err != nil {
		return l, err
	}
	if l.Value = l.Booked; field(reconcile.ColumnValueDate) != "" {
		if l.Value, err = p.layout.ParseDay(field(reconcile.ColumnValueDate)); err != nil {
			return l, err
		}
	}
	if l.Amount, err = p.parseAmount(field); err != nil {
		return l, err
	}
	// The fields share a buffer that is reused for the next line.
	l.ServicerReference = strings.Clone(field(reconcile.ColumnID))
	addReference(&l, strings.Clone(field(reconcile.ColumnReference)))
	l.Description = strings.Clone(field(reconcile.ColumnDescription))
	return l, nil
}

// parseAmount returns the amount from the amount column, or from the debit and credit columns.
func (p *csvParser) parseAmount(field func(reconcile.Column) string) (int64, error) {
	if p.layout.Columns[reconcile.ColumnAmount] != "" {
		return reconcile.ParseAmount(field(reconcile.ColumnAmount), p.currency, p.layout.Decimal, p.layout.Group)
	}
	var amounts [2]int64
	nonZero := 0
	for i, c := range []reconcile.Column{reconcile.ColumnCredit, reconcile.ColumnDebit} {
		if field(c) == "" {
			continue
		}
		amount, err := reconcile.ParseAmount(field(c), p.currency, p.layout.Decimal, p.layout.Group)
		if err != nil {
			return 0, err
		}
		if amount != 0 {
			nonZero++
		}
		// Some partners write debits with a minus sign.
		amounts[i] = max(amount, -amount)
		if amount < 0 && c == reconcile.ColumnCredit {
			return 0, errors.New("the credit is negative")
		}
	}
	switch {
	case nonZero == 2:
		return 0, errors.New("has both a debit and a credit")
	case field(reconcile.ColumnCredit) == "" && field(reconcile.ColumnDebit) == "":
		return 0, errors.New("has neither a debit nor a credit")
	}
	return amounts[0] - amounts[1], nil
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
			g.err = errTooLarge
			return 0, g.err
		}
	}
	return n, err
}
