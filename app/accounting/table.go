package accounting

import (
	"encoding/csv"
	"io"
	"time"
)

// Table is a report as rows of text, for spreadsheets and terminals. Amounts are in major units with
// all decimals; times are UTC.
type Table struct {
	Header []string
	Rows   [][]string
}

// CSV writes the table as RFC 4180.
func (t Table) CSV(out io.Writer) error {
	w := csv.NewWriter(out)
	w.UseCRLF = true
	_ = w.Write(t.Header)  // Error returns what a write returns
	_ = w.WriteAll(t.Rows) // flushes
	return w.Error()
}

// Table returns the lines of the trial balance. Opening and closing are debits minus credits.
func (b TrialBalance) Table() Table {
	t := Table{Header: []string{"currency", "path", "class", "opening", "debits", "credits", "closing"}}
	for _, l := range b.Lines {
		c := l.Currency
		t.Rows = append(t.Rows, []string{string(c), l.Path, string(l.Class), l.Opening.Major(c), l.Debits.Major(c), l.Credits.Major(c), l.Closing.Major(c)})
	}
	return t
}

// Table returns the income of each period.
func (r Income) Table() Table {
	t := Table{Header: []string{"from", "to", "currency", "path", "earned"}}
	for _, p := range r.Periods {
		for _, l := range p.Lines {
			t.Rows = append(t.Rows, []string{tableTime(p.From), tableTime(p.To), string(l.Currency), l.Path, l.Amount.Major(l.Currency)})
		}
	}
	return t
}

func tableTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
