// Package table prints what commands list and show: aligned for people, or as CSV or JSON for programs.
//
// Rows hold values. Each format prints a value in its own way, so that a program gets an exact time where a person reads a short
// one, and nothing where a person reads a dash.
package table

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"causeway/core/csvcell"
)

// Format is how tables are printed.
type Format string

// The formats.
const (
	Text Format = "table"
	CSV  Format = "csv"
	JSON Format = "json"
)

// Table is rows of values in named columns.
type Table struct {
	columns []column
	rows    [][]Cell
}

// column has a title for people and a key for programs.
type column struct {
	title, key string
	right      bool // aligned
}

// New returns a table without rows. A title that begins with > is that of a column which is aligned to the right. A title may
// be followed by | and the key of the column for programs; otherwise the key is the title in snake case, without what is in
// parentheses.
func New(titles ...string) *Table {
	t := &Table{columns: make([]column, len(titles))}
	for i, title := range titles {
		title, right := strings.CutPrefix(title, ">")
		title, key, named := strings.Cut(title, "|")
		if !named {
			key = keyOf(title)
		}
		t.columns[i] = column{title, key, right}
	}
	return t
}

// keyOf returns the key of a title.
func keyOf(title string) string {
	title, _, _ = strings.Cut(title, " (")
	var key strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			key.WriteRune(r)
		case r == ' ', r == '-':
			key.WriteByte('_')
		}
	}
	return key.String()
}

// Add adds a row with a value for each column; see CellOf.
func (t *Table) Add(values ...any) {
	row := make([]Cell, len(values))
	for i, v := range values {
		row[i] = CellOf(v)
	}
	t.rows = append(t.rows, row)
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Write prints the table.
func (t *Table) Write(out io.Writer, f Format) error {
	switch f {
	case CSV:
		return t.writeCSV(out)
	case JSON:
		return writeJSON(out, t)
	default:
		_, err := fmt.Fprintln(out, strings.Join(t.Lines(), "\n"))
		return err
	}
}

// Lines returns the header and the rows as aligned lines.
func (t *Table) Lines() []string {
	rows := make([][]string, 1, len(t.rows)+1)
	for _, c := range t.columns {
		rows[0] = append(rows[0], c.title)
	}
	for _, row := range t.rows {
		texts := make([]string, len(row))
		for i, cell := range row {
			texts[i] = Printable(cell.Text)
		}
		rows = append(rows, texts)
	}
	for i, c := range t.columns {
		if c.right {
			alignRight(rows, i)
		}
	}
	return align(rows)
}

func alignRight(rows [][]string, column int) {
	width := 0
	for _, row := range rows {
		width = max(width, utf8.RuneCountInString(row[column]))
	}
	for _, row := range rows {
		row[column] = strings.Repeat(" ", width-utf8.RuneCountInString(row[column])) + row[column]
	}
}

func align(rows [][]string) []string {
	var text strings.Builder
	writer := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = writer.Write([]byte(strings.Join(row, "\t") + "\n")) // a strings.Builder never fails
	}
	_ = writer.Flush()
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

// Printable returns a text, which a client of the API may have written, without the characters that would move the
// cursor of a terminal, begin another line or cell, or turn the direction of the text.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return ' '
		}
		return r
	}, text)
}

// writeCSV writes RFC 4180, as the reports do.
func (t *Table) writeCSV(out io.Writer) error {
	w := csv.NewWriter(out)
	w.UseCRLF = true
	header := make([]string, len(t.columns))
	for i, c := range t.columns {
		header[i] = c.key
	}
	_ = w.Write(header) // Error returns what a write returns
	for _, row := range t.rows {
		texts := make([]string, len(row))
		for i, cell := range row {
			texts[i] = cell.csv()
		}
		_ = w.Write(texts)
	}
	w.Flush()
	return w.Error()
}

// csv returns the value as a cell that no spreadsheet takes for a formula.
func (c Cell) csv() string {
	switch v := c.Value.(type) {
	case nil:
		return ""
	case json.RawMessage:
		return csvcell.Escape(string(v))
	case string:
		return csvcell.Escape(v)
	case Actor:
		return csvcell.Escape(string(v))
	default:
		return fmt.Sprint(v)
	}
}
