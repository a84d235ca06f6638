package ports

import (
	"context"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/transaction"
)

// UnmatchedWriter assigns unmatched funds: money received from an unknown owner.
type UnmatchedWriter interface {
	// SaveUnmatched stores which receipts the funds of postings to funding/unmatched come
	// from. Storing one again changes nothing.
	SaveUnmatched(ctx context.Context, funds []UnmatchedFunds) error
	// LockUnmatched returns the unmatched funds of a receipt, or of the transaction with
	// that UUID whose refund failed, and locks them; if they were unmatched twice, it
	// returns the later ones. It returns false if there are none.
	LockUnmatched(ctx context.Context, p ident.Platform, receipt ident.Receipt) (transaction.Unmatched, bool, error)
	// AssignUnmatched stores an assignment, or returns CONFLICT if the funds have one.
	AssignUnmatched(ctx context.Context, u transaction.Unmatched, a transaction.Assignment) error
	// SaveReceiptReversal stores that a receipt was taken back. It returns false if that is stored already.
	SaveReceiptReversal(ctx context.Context, r transaction.ReceiptReversal) (isNew bool, err error)
	// IsReceiptReversed reports whether a receipt was taken back. LockUnmatched makes that wait which takes it back.
	IsReceiptReversed(ctx context.Context, p ident.Platform, receipt ident.Receipt) (bool, error)
}

// UnmatchedFunds links a posting to funding/unmatched with the receipt of the funds.
type UnmatchedFunds struct {
	Platform ident.Platform
	Posting  uuid.UUID
	Receipt  ident.Receipt
}

// UnmatchedReader reads unmatched funds.
type UnmatchedReader interface {
	// Unmatched returns a page of the funds that are or were in funding/unmatched: those of
	// receipts, and those of transactions whose refund failed.
	Unmatched(ctx context.Context, p ident.Platform, f UnmatchedFilter) (UnmatchedPage, error)
	// AssignmentOf returns the unmatched funds that were assigned to a transaction, or
	// false if there were none.
	AssignmentOf(ctx context.Context, p ident.Platform, t ident.Transaction) (transaction.Unmatched, bool, error)
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
