// Package report holds the form in which use cases return reports for spreadsheets and terminals.
package report

import (
	"context"
	"encoding/csv"
	"io"
	"time"
)

// Table is a report as rows of text, for spreadsheets and terminals. Amounts are in major units with
// all decimals; times are UTC. Texts of others are escaped with csvcell.Escape.
type Table struct {
	Header []string
	Rows   [][]string
	// Pages reads the rows of a report of any length, some at a time, in place of Rows.
	Pages func(ctx context.Context, write func(rows [][]string) error) error
}

// Each calls write with all rows: once with Rows, or with each of Pages.
func (t Table) Each(ctx context.Context, write func(rows [][]string) error) error {
	if t.Pages == nil {
		return write(t.Rows)
	}
	return t.Pages(ctx, write)
}

// CSV writes the table as RFC 4180.
func (t Table) CSV(ctx context.Context, out io.Writer) error {
	w := csv.NewWriter(out)
	w.UseCRLF = true
	_ = w.Write(t.Header) // Error returns what a write returns
	if err := t.Each(ctx, w.WriteAll); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// Time returns a time as it is in a table; empty for the zero time.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
