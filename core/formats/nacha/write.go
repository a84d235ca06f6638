package nacha

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/moov-io/ach"
)

const (
	// maxBatchEntries makes batches of at most 10,000 lines, the most that some banks take.
	maxBatchEntries = 4_999
	maxTotalCents   = ach.NachaFileDebitCreditLimit // of a batch, and of a file
)

// Write writes a file of payments. A batch of many entries is divided into several; one of them is in memory at a time.
// The same file always gives the same bytes. After an error, what was written is not a file: discard it.
func Write(w io.Writer, f File) (Totals, error) {
	out := &fileWriter{lines: bufio.NewWriter(w), file: ach.NewFile()}
	header, err := f.header()
	if err != nil {
		return Totals{}, err
	}
	out.file.SetHeader(header)
	out.file.SetValidation(headerRules)
	if err := out.file.Header.Validate(); err != nil {
		return Totals{}, fmt.Errorf("the header of the file: %w", fieldProblem(err))
	}
	out.line(out.file.Header.String())
	for i, b := range f.Batches {
		if err := out.writeBatches(b); err != nil {
			return Totals{}, fmt.Errorf("batch %d: %w", i+1, err)
		}
	}
	if len(out.file.Batches) == 0 {
		return Totals{}, errors.New("the file has no entry")
	}
	return out.totals, out.finish()
}

// headerRules allow an origin of ten characters, which banks assign to companies.
var headerRules = &ach.ValidateOpts{BypassOriginValidation: true}

func (f File) header() (ach.FileHeader, error) {
	header := ach.NewFileHeader()
	switch {
	case f.CreatedAt.IsZero():
		return header, errors.New("the file has no time of creation")
	case len(f.Origin) != 9 && len(f.Origin) != 10 || ascii(f.Origin) != f.Origin:
		return header, fmt.Errorf("the origin %q of the file has not 9 or 10 characters: ask the bank which number it expects", f.Origin)
	case len(ascii(f.Reference)) > 8:
		return header, fmt.Errorf("the reference %q of the file has more than 8 characters", f.Reference)
	}
	header.ImmediateDestination, header.ImmediateDestinationName = f.Destination, ascii(f.DestinationName)
	header.ImmediateOrigin, header.ImmediateOriginName = f.Origin, ascii(f.OriginName)
	header.FileCreationDate, header.FileCreationTime = f.CreatedAt.Format("060102"), f.CreatedAt.Format("1504")
	header.FileIDModifier = string(rune(f.Modifier))
	header.ReferenceCode = ascii(f.Reference)
	return header, nil
}

// fileWriter writes the lines of a file. The batches of its file have only their headers and controls.
type fileWriter struct {
	lines        *bufio.Writer
	count        int
	err          error
	file         *ach.File
	lastSequence int
	totals       Totals
}

func (w *fileWriter) line(text string) {
	if w.err == nil {
		_, w.err = w.lines.WriteString(text + "\n")
	}
	w.count++
}

// writeBatches writes a batch, divided where it has too many entries or too large a sum.
func (w *fileWriter) writeBatches(b Batch) error {
	if err := b.check(); err != nil {
		return err
	}
	var entries []*ach.EntryDetail
	sum := int64(0)
	for e, err := range b.Entries {
		if err == nil {
			err = b.CheckEntry(e)
		}
		switch {
		case err != nil:
			return err
		case e.Sequence <= w.lastSequence:
			return &EntryError{e.Key, fmt.Sprintf("its sequence %d is not above the one before, %d: trace numbers must ascend in a file",
				e.Sequence, w.lastSequence)}
		}
		w.lastSequence = e.Sequence
		if len(entries) == maxBatchEntries || sum+e.Amount.Minor > maxTotalCents {
			if err := w.writeBatch(b, entries); err != nil {
				return err
			}
			entries, sum = entries[:0], 0
		}
		entries = append(entries, b.detail(e))
		sum += e.Amount.Minor
	}
	if len(entries) == 0 {
		return nil
	}
	return w.writeBatch(b, entries)
}

// writeBatch lets the library count, sum and check the entries, and writes them.
func (w *fileWriter) writeBatch(b Batch, entries []*ach.EntryDetail) error {
	batch, err := ach.NewBatch(b.header(len(w.file.Batches) + 1))
	if err != nil {
		return fieldProblem(err)
	}
	for _, e := range entries {
		batch.AddEntry(e)
	}
	if err := batch.Create(); err != nil {
		return fieldProblem(err)
	}
	w.line(batch.GetHeader().String())
	for _, e := range batch.GetEntries() {
		w.line(e.String())
		for _, addenda := range e.Addenda05 {
			w.line(addenda.String())
		}
	}
	control := batch.GetControl()
	w.line(control.String())
	w.totals.Entries += len(entries)
	w.totals.Batches++
	w.totals.Credits += int64(control.TotalCreditEntryDollarAmount)
	w.totals.Debits += int64(control.TotalDebitEntryDollarAmount)
	if max(w.totals.Credits, w.totals.Debits) > maxTotalCents {
		return errors.New("the file has a sum of more than 9,999,999,999.99 USD: write several files")
	}
	batch.DeleteEntries(func(*ach.EntryDetail) bool { return true })
	w.file.AddBatch(batch)
	return w.err
}

// finish writes the control record, and lines of nines up to a block of ten.
func (w *fileWriter) finish() error {
	if err := w.file.Create(); err != nil {
		return fieldProblem(err)
	}
	if err := w.file.Control.Validate(); err != nil {
		return fieldProblem(err)
	}
	w.line(w.file.Control.String())
	for w.count%10 != 0 {
		w.line(strings.Repeat("9", 94))
	}
	if w.err == nil {
		w.err = w.lines.Flush()
	}
	return w.err
}
