package ports

import (
	"io"

	"causeway/core/money"
	"causeway/core/reconcile"
)

// Statements parses statements of partners.
type Statements interface {
	// Read parses a whole statement, or returns INVALID_INPUT with the error in the field
	// file. It reads r as a stream and keeps only the lines in memory.
	Read(r io.Reader, format StatementFormat) (reconcile.Statement, error)
}

// StatementFormat is the format of a statement file.
type StatementFormat struct {
	Format   reconcile.Format
	Currency money.Currency
	// Layout is used for CSV only.
	Layout reconcile.Layout
}
