package ports

import (
	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/transaction"
)

// UnmatchedFunds links a posting to funding/unmatched with the receipt of the funds.
type UnmatchedFunds struct {
	Platform ident.Platform
	Posting  uuid.UUID
	Receipt  ident.Receipt
}

// UnmatchedFilter selects unmatched funds.
type UnmatchedFilter struct {
	// Assigned selects funds with an assignment (true) or without (false); nil for both.
	Assigned *bool
	// After is the posting of the last funds of the previous page.
	After     uuid.UUID
	Limit     int
	Ascending bool
}

// UnmatchedPage is a page of unmatched funds.
type UnmatchedPage struct {
	Items []transaction.Unmatched
	More  bool
}
