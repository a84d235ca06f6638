package ports

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/transaction"
)

// StepImportCustomers imports the next rows of a file of customers. Its subject is the import.
const StepImportCustomers transaction.Step = "import-customers"

// ImportRow is a row of a file of customers.
type ImportRow struct {
	// Line is the line of the file on which the row begins.
	Line   int
	Values []string
}

// ImportChunk is some consecutive rows of a file, that are imported together.
type ImportChunk struct {
	ID uuid.UUID
	// FirstRow is the number of the first row; those below the header count from 1.
	FirstRow int
	Rows     []ImportRow
}

// UnfinishedImports limits the imports of a platform that have not ended.
type UnfinishedImports struct {
	Max int
	// UploadsSince is the time before which an upload does not count: its process has stopped.
	UploadsSince time.Time
}

// SealedCustomers are new customers with their accounts, encrypted by the store that stores them.
type SealedCustomers interface {
	// Len returns the number of customers.
	Len() int
}
