// Package bankfiles reads statement files of partners: ISO 20022 camt.053, CSV and BAI2.
//
// It reads a file once and keeps only its lines, so that memory is limited whatever the file
// contains. It never guesses: an incomplete or ambiguous file is refused, with the position and
// the reason. It does not interpret lines.
package bankfiles

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ports"
)

// MaxFileBytes is the maximum size of a file.
const MaxFileBytes = 1 << 30

// Reader reads statements in all formats.
type Reader struct{}

var _ ports.Statements = Reader{}

// Read implements ports.Statements.
func (Reader) Read(r io.Reader, format ports.StatementFormat) (reconcile.Statement, error) {
	limited := &limitedReader{source: r, remaining: MaxFileBytes}
	var s reconcile.Statement
	var err error
	switch format.Format {
	case reconcile.CAMT053:
		s, err = readCAMT053(limited, format.Currency)
	case reconcile.CSV:
		s, err = readCSV(limited, format.Currency, format.Layout)
	case reconcile.BAI2:
		s, err = readBAI2(limited, format.Currency)
	default:
		return s, fault.Invalid(fault.Field{Field: "format", Message: "must be one of " + strings.Join(reconcile.Formats(), ", ")})
	}
	// An error of the source takes precedence over the parser error that it causes.
	switch {
	case errors.Is(limited.err, errTooLarge):
		return reconcile.Statement{}, reconcile.InvalidFile("is larger than %d MiB; split it into several files", MaxFileBytes>>20)
	case limited.err != nil:
		return reconcile.Statement{}, fmt.Errorf("read the statement: %w", limited.err)
	case err != nil:
		return reconcile.Statement{}, err
	}
	return s, nil
}

var errTooLarge = errors.New("the file is too large")

// limitedReader returns an error, not io.EOF, after the limit, and keeps the first error.
type limitedReader struct {
	source    io.Reader
	remaining int64
	err       error
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.source.Read(p)
	if l.remaining -= int64(n); l.remaining < 0 {
		n, err = 0, errTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}

// statementBuilder collects the statement while a file is parsed.
type statementBuilder struct {
	reconcile.Statement
	currency  money.Currency
	pageCount int // pages or statements in the file, each with its own balances
}

// endPage finishes a page, or one of several statements. Its lines must add up to the difference of
// its balances. The balances of the file are those of all pages if each page continues the last.
func (b *statementBuilder) endPage(name string, opening, closing *int64, sum int64) error {
	if opening != nil && closing != nil {
		if expected, err := money.AddMinor(*opening, sum); err != nil || expected != *closing {
			format := func(minor int64) string { return money.Amount{Minor: minor, Currency: b.currency}.String() }
			return reconcile.InvalidFile("is not complete: the lines of %.60q add up to %s, but its opening balance is %s and its closing balance %s",
				name, format(sum), format(*opening), format(*closing))
		}
	}
	if b.pageCount == 0 {
		b.Opening = opening
	} else if b.Closing == nil || opening == nil || *b.Closing != *opening {
		b.Opening = nil
	}
	b.Closing = closing
	b.pageCount++
	return nil
}

// addLine adds a line. A line of zero is counted as ignored.
func (b *statementBuilder) addLine(l reconcile.Line) error {
	if l.Amount == 0 {
		b.Ignored++
		return nil
	}
	if len(b.Lines) == reconcile.MaxLines {
		return reconcile.InvalidFile("has more than %d lines; split it into several files", reconcile.MaxLines)
	}
	l.ServicerReference = cleanText(l.ServicerReference, reconcile.MaxReference)
	l.Description = cleanText(l.Description, reconcile.MaxDescription)
	b.Lines = append(b.Lines, l)
	return nil
}

// addReference adds a reference to a line.
func addReference(l *reconcile.Line, written string) {
	written = cleanText(written, reconcile.MaxReference)
	if written == "" || len(l.References) == reconcile.MaxReferences {
		return
	}
	for _, other := range l.References {
		if other == written {
			return
		}
	}
	l.References = append(l.References, written)
}

// cleanText returns a text on one line, valid UTF-8 of at most maxBytes, without control characters.
func cleanText(written string, maxBytes int) string {
	if strings.ContainsFunc(written, func(r rune) bool { return r < ' ' }) || strings.HasPrefix(written, " ") || strings.HasSuffix(written, " ") {
		written = strings.Join(strings.FieldsFunc(written, func(r rune) bool { return r <= ' ' }), " ")
	}
	if !utf8.ValidString(written) {
		written = strings.ToValidUTF8(written, "�")
	}
	for len(written) > maxBytes {
		_, size := utf8.DecodeLastRuneInString(written)
		written = written[:len(written)-size]
	}
	return written
}

// currencyMismatch returns the error for something in another currency than the account.
func currencyMismatch(subject string, found string, want money.Currency) error {
	return reconcile.InvalidFile("%s is in %.8q, and the account is in %s", subject, found, want)
}
