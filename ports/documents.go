package ports

import (
	"causeway/core/document"
	"causeway/core/transaction"
)

// StepDeleteBlob deletes the stored file of no document. Its subject is the id of the file. Every
// file has such a job from before it is written until it is clear that a document has it.
const StepDeleteBlob transaction.Step = "delete-blob"

// DocumentFilter selects documents; a zero holder matches all.
type DocumentFilter struct {
	Paging
	Holder document.Holder
	// IncludeReplaced includes files that were submitted for verification and then replaced.
	IncludeReplaced bool
}
