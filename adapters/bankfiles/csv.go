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

	"causeway/core/money"
	"causeway/core/reconcile"
)

// maxLineBytes is how long a line may be, in bytes.
const maxLineBytes = 64 << 10

// readCSV reads lines as a layout says; the first has the names of the columns.
func readCSV(r io.Reader, currency money.Currency, layout reconcile.Layout) (reconcile.Statement, error) {
	if len(layout.Columns) == 0 {
		return reconcile.Statement{}, missingLayoutError()
	}
	guard := &lineGuard{source: bufio.NewReaderSize(r, 64<<10)}
	rows := csv.NewReader(guard)
	rows.Comma, rows.ReuseRecord = rune(layout.Delimiter), true
	t := &csvParser{statementBuilder: statementBuilder{currency: currency}, layout: layout}
	err := t.read(rows)
	var wrong *csv.ParseError
	switch {
	case guard.err != nil:
		return reconcile.Statement{}, reconcile.InvalidFile("has a line of more than %d bytes", maxLineBytes)
	case errors.As(err, &wrong) && errors.Is(err, csv.ErrFieldCount):
		return reconcile.Statement{}, reconcile.InvalidFile("line %d has not as many fields as the line of column names", wrong.Line)
	case errors.As(err, &wrong):
		return reconcile.Statement{}, reconcile.InvalidFile("is no valid CSV: line %d: %v", wrong.Line, wrong.Err)
	case err != nil:
		return reconcile.Statement{}, err
	}
	return t.Statement, nil
}

func missingLayoutError() error {
	_, err := reconcile.ParseLayout("")
	return err
}

// csvParser is a CSV file that is being read.
type csvParser struct {
	statementBuilder
	layout        reconcile.Layout
	columnIndexes map[reconcile.Column]int
}

func (t *csvParser) read(rows *csv.Reader) error {
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return reconcile.InvalidFile("is empty")
	}
	if err != nil {
		return err
	}
	if err := t.findColumns(header); err != nil {
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
		line, err := t.parseLine(fields)
		if err != nil {
			return reconcile.InvalidFile("line %d: %v", number, err)
		}
		if err := t.addLine(line); err != nil {
			return err
		}
	}
}

// findColumns looks the columns up by their names.
func (t *csvParser) findColumns(header []string) error {
	t.columnIndexes = map[reconcile.Column]int{}
	names := make([]string, len(header))
	for i, name := range header {
		names[i] = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
	}
	var missing []string
	for column, name := range t.layout.Columns {
		at := slices.Index(names, name)
		switch {
		case at < 0:
			missing = append(missing, fmt.Sprintf("%.60q", name))
		case slices.Contains(names[at+1:], name):
			return reconcile.InvalidFile("has two columns with the name %.60q", name)
		}
		t.columnIndexes[column] = at
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return reconcile.InvalidFile("has no column %s; its first line is %.200q", strings.Join(missing, ", "), strings.Join(names, string(rune(t.layout.Delimiter))))
	}
	return nil
}

func (t *csvParser) parseLine(fields []string) (l reconcile.Line, err error) {
	of := func(c reconcile.Column) string {
		at, there := t.columnIndexes[c]
		if !there {
			return ""
		}
		return strings.TrimSpace(fields[at])
	}
	for _, field := range fields {
		if !utf8.ValidString(field) {
			return l, errors.New("is not UTF-8")
		}
	}
	if coin := of(reconcile.ColumnCurrency); t.layout.Columns[reconcile.ColumnCurrency] != "" && coin != string(t.currency) {
		return l, fmt.Errorf("it is in %.8q, and the account is in %s", coin, t.currency)
	}
	if l.Booked, err = t.layout.ParseDay(of(reconcile.ColumnDate)); err != nil {
		return l, err
	}
	if l.Value = l.Booked; of(reconcile.ColumnValueDate) != "" {
		if l.Value, err = t.layout.ParseDay(of(reconcile.ColumnValueDate)); err != nil {
			return l, err
		}
	}
	if l.Amount, err = t.parseAmount(of); err != nil {
		return l, err
	}
	// Fields are parts of one buffer that the next line is read into.
	l.ServicerReference = strings.Clone(of(reconcile.ColumnID))
	addReference(&l, strings.Clone(of(reconcile.ColumnReference)))
	l.Description = strings.Clone(of(reconcile.ColumnDescription))
	return l, nil
}

// parseAmount is that of the one column, or what is in one of the two.
func (t *csvParser) parseAmount(of func(reconcile.Column) string) (int64, error) {
	if t.layout.Columns[reconcile.ColumnAmount] != "" {
		return reconcile.ParseAmount(of(reconcile.ColumnAmount), t.currency, t.layout.Decimal, t.layout.Group)
	}
	var parts [2]int64
	given := 0
	for i, c := range []reconcile.Column{reconcile.ColumnCredit, reconcile.ColumnDebit} {
		if of(c) == "" {
			continue
		}
		amount, err := reconcile.ParseAmount(of(c), t.currency, t.layout.Decimal, t.layout.Group)
		if err != nil {
			return 0, err
		}
		if amount != 0 {
			given++
		}
		// Some write what they take with a minus in its own column.
		parts[i] = max(amount, -amount)
		if amount < 0 && c == reconcile.ColumnCredit {
			return 0, errors.New("the credit is below zero")
		}
	}
	switch {
	case given == 2:
		return 0, errors.New("it has both a debit and a credit")
	case of(reconcile.ColumnCredit) == "" && of(reconcile.ColumnDebit) == "":
		return 0, errors.New("it has neither a debit nor a credit")
	}
	return parts[0] - parts[1], nil
}

// lineGuard refuses a file with a line that is too long to be one; line ends in quotes
// do not end a line.
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
