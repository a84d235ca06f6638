package ports

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
)

// RailFeedLease is the right to read the feed of a connection, until it ends or another process takes it.
type RailFeedLease struct {
	Lease // by the name of the connection
	// Cursor is how far the feed was read, and Failures how often reading it has failed since.
	Cursor   string
	Failures int
}

// RailFeedState is the state of a feed, for operators.
type RailFeedState struct {
	Connection string
	Failures   int
	LastError  string
	// FailedAt, RetryAt and SucceededAt are zero if they never were.
	FailedAt, RetryAt, SucceededAt time.Time
	// Waiting is how many items are kept aside, and Since when the oldest of them.
	Waiting int
	Since   time.Time
}

// RailFeedItemKind is a kind of what partners report: at most 40 capital letters and underscores.
type RailFeedItemKind string

// The kinds of what was understood.
const (
	RailFeedReceipt   RailFeedItemKind = "RECEIPT"
	RailFeedReversal  RailFeedItemKind = "REVERSAL"
	RailFeedFee       RailFeedItemKind = "FEE"
	RailFeedStatement RailFeedItemKind = "STATEMENT"
	// RailFeedContradiction is a rail.Contradiction. It is not tried again: a person closes it.
	RailFeedContradiction RailFeedItemKind = "CONTRADICTION"
)

// The kinds of a RawReport.
const (
	RailFeedEvent RailFeedItemKind = "EVENT"
	RailFeedFile  RailFeedItemKind = "FILE"
)

// Never is when an item is tried again that a person has to close.
var Never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// RailFeedItem is what a partner reported and the service could not take, kept until it can.
type RailFeedItem struct {
	ID uuid.UUID
	// Platform is zero if it is not known.
	Platform   ident.Platform
	Connection string
	Kind       RailFeedItemKind
	// Key is the same for the same item, however often it is reported.
	Key string
	// Place is where a RawReport was, such as a file by its folder and name; empty for others. It has no personal data.
	Place string
	// Content is the item as JSON, that of a RawReport for its kinds. It is stored encrypted.
	Content []byte
	// Problem says why it could not be taken.
	Problem         string
	Attempts        int
	KeptAt, RetryAt time.Time
	Discarded
}

// Discarded is when an operator has ended something that will never be taken, who did it and why; zero if nobody did.
type Discarded struct {
	DiscardedAt       time.Time
	DiscardedBy, Note string
}

// QueuedStatement is a statement of a connection that waits to be reconciled.
type QueuedStatement struct {
	ID         uuid.UUID
	Platform   ident.Platform
	Connection string
	RailStatement
	// Account and Currency are those of the ledger account that it is of. Without both, it is of the accounts that
	// Accounts (number=path pairs separated by semicolons) or an earlier statement says.
	Account, Currency, Accounts string
	ReceivedAt, RetryAt         time.Time
	Attempts                    int
	Problem                     string
	// ReconciledAt is zero as long as the statement waits, and if it was discarded.
	ReconciledAt time.Time
	Discarded
}
