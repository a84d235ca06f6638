// Package statements reads statement files of partners: ISO 20022 camt.053, SWIFT MT940, CSV and
// BAI2.
//
// It reads a file once and keeps only its lines, so that memory is limited whatever the file
// contains. It never guesses: an incomplete or ambiguous file is refused, with the position and
// the reason. It does not interpret lines.
package statements

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"causeway/core/fault"
	"causeway/core/formats/textfile"
	"causeway/core/money"
	"causeway/core/plaintext"
	"causeway/core/reconcile"
)

// MaxFileBytes is the maximum size of a file.
const MaxFileBytes = 1 << 30

// Options say how a file is read.
type Options struct {
	Format reconcile.Format
	// Currency is that of the only account in the file. Empty if the file may have several accounts
	// and says itself which; CSV does if the layout names a column.
	Currency money.Currency
	// CommonCurrency is that of all accounts in a CSV file that does not say their currencies.
	CommonCurrency money.Currency
	// AcceptsMismatch reads a file whose lines do not lead to its balances, or that has gaps between
	// its statements. Statement.Mismatches says so.
	AcceptsMismatch bool
	// Layout is used for CSV, and its encoding for MT940.
	Layout reconcile.Layout
}

// Read parses a whole file and returns one statement for each account in it, or INVALID_INPUT
// with the error in the field file. It reads r as a stream and keeps only the lines in memory.
func Read(r io.Reader, options Options) (statements []reconcile.Statement, err error) {
	limited := textfile.Limit(r, MaxFileBytes)
	builder := statementBuilder{currency: options.Currency, acceptsMismatch: options.AcceptsMismatch}
	switch options.Format {
	case reconcile.CAMT053:
		statements, err = readCAMT053(limited, builder)
	case reconcile.CSV:
		statements, err = readCSV(limited, builder, options)
	case reconcile.BAI2:
		statements, err = readBAI2(limited, builder)
	case reconcile.MT940:
		statements, err = readMT940(limited, builder, options.Layout.Encoding)
	default:
		return nil, fault.Invalid(fault.Field{Field: "format", Message: "must be one of " + strings.Join(reconcile.Formats(), ", ")})
	}
	// An error of the source takes precedence over the parser error that it causes.
	switch {
	case errors.Is(limited.Err(), textfile.ErrTooLarge):
		return nil, reconcile.InvalidFile("is larger than %d MiB; split it into several files", MaxFileBytes>>20)
	case limited.Err() != nil:
		return nil, fmt.Errorf("read the statement: %w", limited.Err())
	case err != nil:
		return nil, err
	}
	return statements, nil
}

// decode converts a file to UTF-8.
func decode(r io.Reader, encoding reconcile.Encoding) (io.Reader, error) {
	text, ok := textfile.Decode(r, string(encoding))
	if !ok {
		return nil, reconcile.InvalidFile("is not in the encoding %.20s that map names", encoding)
	}
	return text, nil
}

// addReference adds a reference to a line.
func addReference(l *reconcile.Line, written string) {
	written = plaintext.Clean(written, reconcile.MaxReference)
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

// currencyMismatch returns the error for something in another currency than the account.
func currencyMismatch(subject string, found string, want money.Currency) error {
	return reconcile.InvalidFile("%s is in %.8q, and the account is in %s", subject, found, want)
}
