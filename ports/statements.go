package ports

import (
	"io"

	"causeway/core/money"
	"causeway/core/reconcile"
)

// Statements reads the statements of partners.
type Statements interface {
	// Read reads a whole statement, or answers INVALID_INPUT with what is wrong in the
	// field file. It takes from r no more than it must, and keeps no more than the lines.
	Read(r io.Reader, how StatementFormat) (reconcile.Statement, error)
}

// StatementFormat says how to read a file.
type StatementFormat struct {
	Format   reconcile.Format
	Currency money.Currency
	// Layout is for CSV.
	Layout reconcile.Layout
}
