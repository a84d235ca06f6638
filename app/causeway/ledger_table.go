package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"causeway/core/money"
)

// maxListed is the maximum number of items that a command lists.
const maxListed = 10_000

// checkLimit checks the flag --limit of a command that lists.
func checkLimit(limit int) error {
	if limit < 1 || limit > maxListed {
		return fmt.Errorf("--limit must be from 1 to %d, not %d", maxListed, limit)
	}
	return nil
}

// table formats rows of text in aligned columns.
type table struct {
	rows [][]string
	// rightAligned lists the right-aligned columns.
	rightAligned []int
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines returns the header and the rows as aligned lines.
func (t table) lines(header ...string) []string {
	rows := [][]string{header}
	for _, row := range t.rows {
		printed := make([]string, len(row))
		for i, cell := range row {
			printed[i] = printable(cell)
		}
		rows = append(rows, printed)
	}
	for _, column := range t.rightAligned {
		width := 0
		for _, row := range rows {
			width = max(width, utf8.RuneCountInString(row[column]))
		}
		for _, row := range rows {
			row[column] = strings.Repeat(" ", width-utf8.RuneCountInString(row[column])) + row[column]
		}
	}
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

// printable returns a text, which a client of the API may have written, without the characters that would move the
// cursor of a terminal, begin another line or cell, or turn the direction of the text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return ' '
		}
		return r
	}, text)
}

func (t table) write(out io.Writer, header ...string) error {
	_, err := fmt.Fprintln(out, strings.Join(t.lines(header...), "\n"))
	return err
}

// formatMajor formats an exact amount without its currency, which has its own column.
func formatMajor(minor int64, currency money.Currency) string {
	text, _, _ := strings.Cut(money.Amount{Minor: minor, Currency: currency}.String(), " ")
	return text
}
