// Package csv writes ledger entries as CSV (RFC 4180): a header, and one line for each entry.
package csv

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/google/uuid"

	"causeway/app/exports/records"
	"causeway/core/csvcell"
	"causeway/ports"
)

// Columns is the header. New columns are added at the end.
var Columns = []string{
	"posting_number", "entry_number", "effective_at", "recorded_at", "kind", "debit", "credit", "currency", "amount", "amount_minor",
	"posting_id", "transaction_id", "reverses", "memo", "as_of",
}

// Writer writes one CSV file.
type Writer struct {
	csv  *csv.Writer
	asOf string
	row  []string
}

// New returns a Writer and writes the header.
func New(out io.Writer, header records.Header) (*Writer, error) {
	w := &Writer{csv: csv.NewWriter(out), asOf: records.FormatTime(header.LastPosting.Recorded), row: make([]string, len(Columns))}
	w.csv.UseCRLF = true
	return w, w.csv.Write(Columns)
}

// Entry writes one line. The memo is the only text of others in it.
func (w *Writer) Entry(e ports.RecordedEntry) error {
	w.row = append(w.row[:0],
		strconv.FormatInt(e.Position.Seq, 10), strconv.Itoa(e.Position.N), records.FormatTime(e.Effective), records.FormatTime(e.Recorded), string(e.Kind),
		e.Debit, e.Credit, string(e.Currency), records.FormatMajor(e.Amount, e.Currency), strconv.FormatInt(e.Amount, 10),
		e.Posting.String(), e.Transaction.String(), optionalID(e.Reverses), csvcell.Escape(records.SingleLine(e.Memo)), w.asOf)
	return w.csv.Write(w.row)
}

// Flush writes buffered lines.
func (w *Writer) Flush() error {
	w.csv.Flush()
	return w.csv.Error()
}

func optionalID(id uuid.UUID) string {
	if id == uuid.Nil {
		return ""
	}
	return id.String()
}
