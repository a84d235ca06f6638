package ports

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/ledger"
)

// PaymentAudit reads what is stored beside payments, including damage, to check it: that of one platform or, if it is zero, of
// all.
type PaymentAudit interface {
	// StatusMismatches counts the transactions, and passes those that the lists by status lack, and what these have beside the
	// transactions. All is of the same moment.
	StatusMismatches(ctx context.Context, of ident.Platform, each func(StatusMismatch) error) (transactions int64, err error)
	// ChangedReplies counts the replies of rails that were compared with their seal, and those that could not be, because there
	// is no master key. It passes those that are not what was recorded.
	ChangedReplies(ctx context.Context, of ident.Platform, each func(ChangedReply) error) (compared, withoutKey int64, err error)
	// MissingReplies passes the transactions whose postings since a time follow from a reply of a rail that is not stored.
	MissingReplies(ctx context.Context, of ident.Platform, since time.Time, each func(MissingReply) error) error
}

// StatusMismatch is a transaction that a list by status lacks, or has wrongly.
type StatusMismatch struct {
	Platform          ident.Platform
	Transaction       ident.Transaction
	Status, Direction string
	// Listed reports whether it is in that list, and not one of its transactions.
	Listed bool
}

// ChangedReply is a reply that is not what was recorded.
type ChangedReply struct {
	RailReply
	// Unsealed reports whether it has no seal.
	Unsealed bool
}

// MissingReply is a transaction with a posting that follows from a reply that is not stored.
type MissingReply struct {
	Platform    ident.Platform
	Transaction ident.Transaction
	Kind        ledger.Kind
}
