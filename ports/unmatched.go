package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/transaction"
)

// UnmatchedWriter changes what was decided about money that nobody knew the owner of.
type UnmatchedWriter interface {
	// SaveUnmatched stores which receipts the funds of postings to funding/unmatched come
	// from. Storing one again changes nothing.
	SaveUnmatched(ctx context.Context, funds []UnmatchedFunds) error
	// LockUnmatched loads the unmatched money of a receipt (or of the transaction with that
	// id whose refund failed) and holds it against every other decision until the unit of
	// work ends; where it lay there twice, the last. False when there is none.
	LockUnmatched(ctx context.Context, p ident.Platform, receipt ident.Receipt) (transaction.Unmatched, bool, error)
	// AssignUnmatched stores a decision; a second one about the same money is a CONFLICT.
	AssignUnmatched(ctx context.Context, u transaction.Unmatched, a transaction.Assignment) error
}

// UnmatchedFunds links a posting to funding/unmatched with the receipt of the funds.
type UnmatchedFunds struct {
	Platform ident.Platform
	Posting  uuid.UUID
	Receipt  ident.Receipt
}

// UnmatchedReader reads unmatched money.
type UnmatchedReader interface {
	// Unmatched returns the money that lies or lay in funding/unmatched: of receipts, and of
	// transactions whose refund failed.
	Unmatched(ctx context.Context, p ident.Platform, f UnmatchedFilter) (UnmatchedPage, error)
	// AssignmentOf reads what was decided with which a transaction was paid; false when
	// its money was never unmatched.
	AssignmentOf(ctx context.Context, p ident.Platform, t ident.Transaction) (transaction.Unmatched, bool, error)
}

// UnmatchedFilter narrows a list of unmatched money.
type UnmatchedFilter struct {
	// Assigned: only what was decided about (true), or not yet (false); nil for both.
	Assigned *bool
	// After is the posting that put the last one of the page before there.
	After     uuid.UUID
	Limit     int
	Ascending bool
}

// UnmatchedPage is one page of it.
type UnmatchedPage struct {
	Items []transaction.Unmatched
	More  bool
}

// RailCall is what a rail was asked.
type RailCall string

// The questions.
const (
	CallNone     RailCall = ""
	CallSend     RailCall = "DELIVER"
	CallCollect  RailCall = "COLLECT"
	CallRefund   RailCall = "REFUND"
	CallSendBack RailCall = "SEND_BACK"
	CallStatus   RailCall = "STATUS"
)

// RailReply is what a rail answered to a question, where it is not to be read from the
// postings it led to: anything but that it is done.
type RailReply struct {
	Platform ident.Platform
	// Subject is the transaction, or the receipt that goes back.
	Subject uuid.UUID
	Call    RailCall
	At      time.Time
	Outcome
}

// RailReplyWriter keeps answers.
type RailReplyWriter interface {
	// SaveRailReplies stores answers with the commit.
	SaveRailReplies(ctx context.Context, answers []RailReply) error
}

// RailReplyReader reads answers.
type RailReplyReader interface {
	// RailReplies reads the answers about a subject, the first one first, at most limit.
	RailReplies(ctx context.Context, p ident.Platform, subject uuid.UUID, limit int) ([]RailReply, error)
}
