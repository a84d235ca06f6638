package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
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

// CustomerImportWriter changes imports of customers.
type CustomerImportWriter interface {
	// CreateCustomers stores customers with their accounts, except those whose platformCustomerId or UMA
	// address is in use by another one, stored or before it in the list. It returns why each of these was
	// refused.
	CreateCustomers(ctx context.Context, customers SealedCustomers) (map[ident.Customer]*fault.Error, error)
	// CreateCustomerImport stores an import that is being uploaded, or returns RATE_LIMITED if the
	// platform has too many that have not ended.
	CreateCustomerImport(ctx context.Context, i customer.Import, limit UnfinishedImports) error
	// AddImportChunk stores rows of a file.
	AddImportChunk(ctx context.Context, i customer.Import, chunk ImportChunk) error
	// LockCustomerImport returns an import that was not deleted, or false.
	LockCustomerImport(ctx context.Context, p ident.Platform, id ident.CustomerImport) (customer.Import, bool, error)
	// DeleteImportChunk deletes rows that are stored.
	DeleteImportChunk(ctx context.Context, i customer.Import, chunk ImportChunk) error
	// DeleteImportChunks deletes all rows that are stored.
	DeleteImportChunks(ctx context.Context, i customer.Import) error
	// UpdateCustomerImport stores an import and further errors of it.
	UpdateCustomerImport(ctx context.Context, i customer.Import, errors []customer.ImportError) error
	// ImportErrors returns the stored errors of an import.
	ImportErrors(ctx context.Context, i customer.Import) ([]customer.ImportError, error)
	// DeleteCustomerUpload deletes an import with its rows, if its upload has not ended.
	DeleteCustomerUpload(ctx context.Context, p ident.Platform, id ident.CustomerImport) error
}

// SealedCustomers are new customers with their accounts, encrypted by the store that stores them.
type SealedCustomers interface {
	// Len returns the number of customers.
	Len() int
}

// CustomerImportReader reads imports of customers, and prepares what they write.
type CustomerImportReader interface {
	// ImportChunk returns the rows that were stored together, and begin with a row; none if none do.
	ImportChunk(ctx context.Context, p ident.Platform, id ident.CustomerImport, firstRow int) (ImportChunk, error)
	// SealCustomers encrypts customers of one platform, and their accounts, for CreateCustomers. It
	// takes as long as storing them, but is outside of the unit of work.
	SealCustomers(ctx context.Context, customers []customer.Customer, accounts []account.Internal) (SealedCustomers, error)
	// CustomerImport returns an import that was uploaded, or BULK_UPLOAD_JOB_NOT_FOUND.
	CustomerImport(ctx context.Context, p ident.Platform, id ident.CustomerImport) (customer.ImportWithErrors, error)
}
