package ports

import (
	"time"

	"causeway/core/document"
	"causeway/core/transaction"
)

// StepDeleteBlob deletes the stored file of no document and no export. Its subject is the id of the file. Every
// file has such a job from before it is written until it is clear that a document or an export has it.
const StepDeleteBlob transaction.Step = "delete-blob"

// UnusedFileAge is when a file is deleted that was written and that nothing has. Writing one ends much sooner.
const UnusedFileAge = 24 * time.Hour

// DocumentFilter selects documents; a zero holder matches all.
type DocumentFilter struct {
	Paging
	Holder document.Holder
	// IncludeReplaced includes files that were submitted for verification and then replaced.
	IncludeReplaced bool
}
