// Package csv writes ledger entries as CSV (RFC 4180): a header, and one line for each entry.
package csv

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"causeway/app/exports/records"
	"causeway/core/books"
	"causeway/core/csvcell"
	"causeway/ports"
)

// Columns is the header of a file without names. New columns are added at the end.
var Columns = []string{
	"posting_number", "entry_number", "effective_at", "recorded_at", "kind", "debit", "credit", "currency", "amount", "amount_minor",
	"posting_id", "transaction_id", "reverses", "memo", "as_of", "debit_gl_code", "debit_gl_name", "credit_gl_code", "credit_gl_name",
}

// NameColumns follow Columns in a file with names: those of the customers whose accounts are debited and
// credited.
var NameColumns = []string{"debit_customer", "credit_customer"}

// Writer writes one CSV file.
type Writer struct {
	csv     *csv.Writer
	asOf    string
	mapping books.Mapping
	holder  func(path string) ports.AccountHolder // nil in a file without names
	row     []string
}

// New returns a Writer and writes the header. holder returns the customer who holds an account, for a
// header with Names. The file is as of the last posting, or of the mapping if that is later: another export
// as of that time has the same bytes.
func New(out io.Writer, header records.Header, mapping books.MappingVersion,
	holder func(path string) ports.AccountHolder) (*Writer, error) {
	asOf := header.LastPosting.Recorded
	if mapping.At.After(asOf) {
		asOf = mapping.At
	}
	columns := Columns
	w := &Writer{csv: csv.NewWriter(out), asOf: records.FormatTime(asOf), mapping: mapping.Mapping}
	if header.Names {
		columns, w.holder = slices.Concat(Columns, NameColumns), holder
	}
	w.csv.UseCRLF = true
	return w, w.csv.Write(columns)
}

// Entry writes one line. The memo, the names and the accounts of the general ledger are texts of others.
func (w *Writer) Entry(e ports.RecordedEntry) error {
	debit, credit := w.mapping.Resolve(e.Debit, e.Currency), w.mapping.Resolve(e.Credit, e.Currency)
	w.row = append(w.row[:0],
		strconv.FormatInt(e.Position.Seq, 10), strconv.Itoa(e.Position.N), records.FormatTime(e.Effective), records.FormatTime(e.Recorded),
		string(e.Kind),
		e.Debit, e.Credit, string(e.Currency), records.FormatMajor(e.Amount, e.Currency), strconv.FormatInt(e.Amount, 10),
		e.Posting.String(), e.Transaction.String(), optionalID(e.Reverses), csvcell.Escape(records.SingleLine(e.Memo)), w.asOf,
		csvcell.Escape(debit.Code), csvcell.Escape(debit.Name), csvcell.Escape(credit.Code), csvcell.Escape(credit.Name))
	if w.holder != nil {
		for _, path := range []string{e.Debit, e.Credit} {
			w.row = append(w.row, csvcell.Escape(records.SingleLine(w.holder(path).Name)))
		}
	}
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
