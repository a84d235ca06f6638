package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/transaction"
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

// RailFeedItemWriter keeps items in the unit of work of what they are about.
type RailFeedItemWriter interface {
	// AddRailFeedItems keeps items aside as RailFeedStore does.
	AddRailFeedItems(ctx context.Context, items []RailFeedItem) error
}

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

// RailFeedStore stores how far feeds were read. Each method is one atomic step, and those with a lease return
// ErrLeaseLost, and change nothing, if another process has taken it.
type RailFeedStore interface {
	// TakeRailFeed takes the lease of a feed. It returns false while another process holds it, and before the feed is to be read
	// again after a failure.
	TakeRailFeed(ctx context.Context, connection string, length time.Duration) (RailFeedLease, bool, error)
	RenewRailFeed(ctx context.Context, lease RailFeedLease, length time.Duration) error
	// AdvanceRailFeed stores the cursor after a piece was passed on, which ends the failures.
	AdvanceRailFeed(ctx context.Context, lease RailFeedLease, cursor string, now time.Time) error
	// MoveRailFeed stores the cursor after a piece with a problem was passed on. Failures stay.
	MoveRailFeed(ctx context.Context, lease RailFeedLease, cursor string) error
	// FailRailFeed records a failure and ends the lease. The feed is to be read again after a delay.
	FailRailFeed(ctx context.Context, lease RailFeedLease, problem string, delay time.Duration) error
	ReleaseRailFeed(ctx context.Context, lease RailFeedLease) error
	RailFeedStates(ctx context.Context) ([]RailFeedState, error)

	// KeepRailFeedItems keeps items aside, and returns those that are new. One that is kept already, or was discarded, stays
	// as it is.
	KeepRailFeedItems(ctx context.Context, items []RailFeedItem) ([]RailFeedItem, error)
	// DueRailFeedItems returns items of a connection to be tried again, the longest due first.
	DueRailFeedItems(ctx context.Context, connection string, now time.Time, limit int) ([]RailFeedItem, error)
	// RailFeedItemsByKey returns the items of a kind with the keys that were not discarded.
	RailFeedItemsByKey(ctx context.Context, connection string, kind RailFeedItemKind, keys []string) ([]RailFeedItem, error)
	// RetryRailFeedItem stores the problem of another attempt, and when the next is due.
	RetryRailFeedItem(ctx context.Context, item RailFeedItem) error
	DeleteRailFeedItem(ctx context.Context, item RailFeedItem) error
	// RailFeedItem returns an item, also one that was discarded. It returns false if there is none.
	RailFeedItem(ctx context.Context, id uuid.UUID) (RailFeedItem, bool, error)
	// RailFeedItems returns the items of a connection, or of all for an empty name, that were not discarded, the
	// oldest first, without their contents.
	RailFeedItems(ctx context.Context, connection string, limit int) ([]RailFeedItem, error)
	// DiscardRailFeedItem ends an item that will never be taken. It returns false if there is none.
	DiscardRailFeedItem(ctx context.Context, id uuid.UUID, by, note string, now time.Time) (bool, error)
}

// RailBalanceStore stores what partners and chains say that they hold.
type RailBalanceStore interface {
	// SaveRailBalances stores balances of a connection; of each day the last is kept.
	SaveRailBalances(ctx context.Context, connection string, balances []RailBalance) error
	// RailBalancesAt returns the last balances of a connection at a time, by currency.
	RailBalancesAt(ctx context.Context, connection string, at time.Time) ([]RailBalance, error)
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

// RailStatementStore queues the statements of connections until they are reconciled.
type RailStatementStore interface {
	// QueueRailStatement stores a statement. One with the content of an earlier one of the connection is skipped.
	QueueRailStatement(ctx context.Context, s QueuedStatement) error
	// TakeRailStatement returns the statement that is due longest, and makes it due again after a time.
	TakeRailStatement(ctx context.Context, again time.Duration) (QueuedStatement, bool, error)
	// RailStatementFailed stores why a statement could not be reconciled, and when to try again.
	RailStatementFailed(ctx context.Context, s QueuedStatement, problem string, retryAt time.Time) error
	// RailStatement returns a statement without its balances; its content is deleted when it is reconciled or discarded. It returns false if
	// there is none.
	RailStatement(ctx context.Context, id uuid.UUID) (QueuedStatement, bool, error)
	// RailStatements returns the statements of a connection, or of all for an empty name, that wait, the oldest first,
	// without their contents.
	RailStatements(ctx context.Context, connection string, limit int) ([]QueuedStatement, error)
	// DiscardRailStatement ends a statement that will never be reconciled, and deletes its content. It returns false if
	// none waits.
	DiscardRailStatement(ctx context.Context, id uuid.UUID, by, note string, now time.Time) (bool, error)
	// RailStatementReconciled ends a statement, deletes its content, and stores its balances as RailBalanceStore does.
	RailStatementReconciled(ctx context.Context, s QueuedStatement, now time.Time) error
}

// PartnerReceipts reads receipts by the partner's ids.
type PartnerReceipts interface {
	// ReceiptsByPartnerID returns the receipts that exist.
	ReceiptsByPartnerID(ctx context.Context, keys []RailReceiptKey) (map[RailReceiptKey]transaction.Receipt, error)
}
