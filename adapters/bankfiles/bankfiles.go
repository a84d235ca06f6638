// Package bankfiles reads the statements that partners send: camt.053 of ISO 20022,
// CSV and BAI2.
//
// It reads a file once from beginning to end and keeps the lines alone, so that what a
// file can make it use has a limit, whatever is in the file. It never guesses: a file
// that is not whole, or says something that cannot be taken exactly, is refused as a
// whole, with the place and the reason. What the lines mean is not its to decide.
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

// MaxFileBytes is the largest file that is read, in bytes.
const MaxFileBytes = 1 << 30

// Reader reads statements in all formats.
type Reader struct{}

var _ ports.Statements = Reader{}

// Read is as ports.Statements says.
func (Reader) Read(r io.Reader, how ports.StatementFormat) (reconcile.Statement, error) {
	limited := &limitedReader{source: r, remaining: MaxFileBytes}
	var s reconcile.Statement
	var err error
	switch how.Format {
	case reconcile.CAMT053:
		s, err = readCAMT053(limited, how.Currency)
	case reconcile.CSV:
		s, err = readCSV(limited, how.Currency, how.Layout)
	case reconcile.BAI2:
		s, err = readBAI2(limited, how.Currency)
	default:
		return s, fault.Invalid(fault.Field{Field: "format", Message: "must be one of " + strings.Join(reconcile.Formats(), ", ")})
	}
	// What the reader of the file met counts before what a parser made of it.
	switch {
	case errors.Is(limited.err, errTooLarge):
		return reconcile.Statement{}, reconcile.InvalidFile("is larger than %d MiB; import it in parts", MaxFileBytes>>20)
	case limited.err != nil:
		return reconcile.Statement{}, fmt.Errorf("read the statement: %w", limited.err)
	case err != nil:
		return reconcile.Statement{}, err
	}
	return s, nil
}

var errTooLarge = errors.New("the file is too large")

// limitedReader ends with an error, and not as if the file ended, when there is too much,
// and keeps the error that it met.
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

// statementBuilder is a statement that is being read.
type statementBuilder struct {
	reconcile.Statement
	currency  money.Currency
	pageCount int // of the statement, each with its own balances
}

// endPage ends a page, or one of several statements: it must add up, and its balances are
// the file's where one page goes on from the other.
func (g *statementBuilder) endPage(name string, opening, closing *int64, sum int64) error {
	if opening != nil && closing != nil {
		if should, err := money.AddMinor(*opening, sum); err != nil || should != *closing {
			in := func(minor int64) string { return money.Amount{Minor: minor, Currency: g.currency}.String() }
			return reconcile.InvalidFile("is not whole: the lines of %.60q add up to %s, and do not lead from its opening balance of %s to its closing balance of %s",
				name, in(sum), in(*opening), in(*closing))
		}
	}
	if g.pageCount == 0 {
		g.Opening = opening
	} else if g.Closing == nil || opening == nil || *g.Closing != *opening {
		g.Opening = nil
	}
	g.Closing = closing
	g.pageCount++
	return nil
}

// addLine takes a line in; one that moves nothing is counted and left out.
func (g *statementBuilder) addLine(l reconcile.Line) error {
	if l.Amount == 0 {
		g.Ignored++
		return nil
	}
	if len(g.Lines) == reconcile.MaxLines {
		return reconcile.InvalidFile("has more than %d lines; import it in parts", reconcile.MaxLines)
	}
	l.ServicerReference = cleanText(l.ServicerReference, reconcile.MaxReference)
	l.Description = cleanText(l.Description, reconcile.MaxDescription)
	g.Lines = append(g.Lines, l)
	return nil
}

// addReference adds what a line says to tell payments apart.
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

// cleanText is what can be kept of a text: in one line, of at most so many bytes.
func cleanText(written string, most int) string {
	if strings.ContainsAny(written, "\x00\t\n\r") || strings.HasPrefix(written, " ") || strings.HasSuffix(written, " ") {
		written = strings.Join(strings.FieldsFunc(written, func(r rune) bool { return r <= ' ' }), " ")
	}
	if !utf8.ValidString(written) {
		written = strings.ToValidUTF8(written, "�")
	}
	for len(written) > most {
		_, size := utf8.DecodeLastRuneInString(written)
		written = written[:len(written)-size]
	}
	return written
}

// currencyMismatch says that a statement is not the account's.
func currencyMismatch(of string, found string, want money.Currency) error {
	return reconcile.InvalidFile("%s is in %.8q, and the account is in %s", of, found, want)
}
