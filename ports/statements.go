package ports

import (
	"io"

	"causeway/core/money"
	"causeway/core/reconcile"
)

// Statements parses statements of partners.
type Statements interface {
	// Read parses a whole file and returns one statement for each account in it, or INVALID_INPUT
	// with the error in the field file. It reads r as a stream and keeps only the lines in memory.
	Read(r io.Reader, format StatementFormat) ([]reconcile.Statement, error)
}

// StatementFormat is the format of a statement file.
type StatementFormat struct {
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
