package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/document"
	"causeway/core/ident"
	"causeway/core/transaction"
)

// StepDeleteBlob deletes the stored file of no document. Its subject is the id of the file. Every
// file has such a job from before it is written until it is clear that a document has it.
const StepDeleteBlob transaction.Step = "delete-blob"

// DocumentWriter changes documents.
type DocumentWriter interface {
	CreateDocument(ctx context.Context, d document.Document) error
	// LockDocumentsOf returns all documents of a holder, also superseded ones, in the order of their
	// ids, and makes other units of work that call it for this holder wait, also if there are none.
	LockDocumentsOf(ctx context.Context, p ident.Platform, h document.Holder) ([]document.Document, error)
	// UpdateDocument writes all but the holder and the time of creation, or returns
	// DOCUMENT_NOT_FOUND.
	UpdateDocument(ctx context.Context, d document.Document) error
	// MarkDocumentsSubmitted sets the time of submission of documents that have none.
	MarkDocumentsSubmitted(ctx context.Context, p ident.Platform, ids []ident.Document, at time.Time) error
	// DeleteDocuments deletes documents. Their files need a job of StepDeleteBlob.
	DeleteDocuments(ctx context.Context, p ident.Platform, ids []ident.Document) error
}

// DocumentReader reads documents.
type DocumentReader interface {
	// Document returns a document, also a superseded one, or DOCUMENT_NOT_FOUND.
	Document(ctx context.Context, p ident.Platform, id ident.Document) (document.Document, error)
	// Documents leaves out superseded documents.
	Documents(ctx context.Context, p ident.Platform, f DocumentFilter) (Page[document.Document], error)
	// DocumentsOf returns all documents of holders, in the order of their ids. Superseded ones are
	// those with SupersededBy.
	DocumentsOf(ctx context.Context, p ident.Platform, holders ...document.Holder) ([]document.Document, error)
	// HasBlob reports whether a document has a stored file.
	HasBlob(ctx context.Context, p ident.Platform, blob uuid.UUID) (bool, error)
}

// DocumentFilter selects documents; a zero holder matches all.
type DocumentFilter struct {
	Paging
	Holder document.Holder
}
