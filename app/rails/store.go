package rails

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/connections"
	"causeway/app/internal/foureyes"
	"causeway/core/bankorder"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// Store reads the payments and accounts of connections.
type Store interface {
	ports.UnitsOfWork
	ports.Platforms
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	RailReplies(ctx context.Context, p ident.Platform, subject uuid.UUID, limit int) ([]ports.RailReply, error)
	// WaitingRailPayments returns payments in one of the states InReview, Queued, HandedOver and Sent, of one connection or, if it is
	// empty, of all: the oldest first, those that are queued or handed over by connection.
	WaitingRailPayments(ctx context.Context, state rail.State, connection string, limit int) ([]rail.Payment, error)
	// RailPaymentsInReview returns payments of a platform that wait for a review, the oldest first.
	RailPaymentsInReview(ctx context.Context, p ident.Platform, limit int) ([]rail.Payment, error)
	// RailPaymentsByID returns the payments with an id, of any kind and platform.
	RailPaymentsByID(ctx context.Context, id uuid.UUID) ([]rail.Payment, error)
	// RailAccounts returns what is known about the money of a connection, by currency.
	RailAccounts(ctx context.Context, connection string, now time.Time) ([]rail.Account, error)
	// RailTotals returns how many payments wait, were handed over and have left, by connection, rail, currency and state.
	RailTotals(ctx context.Context) ([]ports.RailTotal, error)
	// ListJobs returns the jobs that a filter selects, oldest first.
	ListJobs(ctx context.Context, f ports.JobFilter) ([]ports.ListedJob, error)
	// TransactionsByKey returns the transactions that exist.
	TransactionsByKey(ctx context.Context, keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error)
	// RailDecisions returns the decisions about a payment, oldest first.
	RailDecisions(ctx context.Context, p ident.Platform, id uuid.UUID) ([]ports.RailDecision, error)
}

// Tx records what operators decide about payments of connections.
type Tx interface {
	connections.Tx
	foureyes.Tx
	RecordRailDecision(ctx context.Context, d ports.RailDecision) error
}

// Finance reads the ledger for finance reports: committed postings only, and sums that
// never overflow.
type Finance interface {
	// AccountsAtCutoff returns the accounts at a path, in one currency or, if empty, in
	// all, with their balances at a cutoff; none if the path was never posted to.
	AccountsAtCutoff(ctx context.Context, p ident.Platform, path string, currency money.Currency,
		cut ports.Cutoff) ([]ports.LedgerAccount, error)
}

// BankNotices reads what operators have to look at in files of banks.
type BankNotices interface {
	// Notices returns the newest notices of a connection, newest first.
	Notices(ctx context.Context, connection string, limit int) ([]bankorder.KeptNotice, error)
}

// RailBalanceStore stores what partners and chains say that they hold.
type RailBalanceStore interface {
	// RailBalancesAt returns the last balances of a connection at a time, by currency.
	RailBalancesAt(ctx context.Context, connection string, at time.Time) ([]ports.RailBalance, error)
}

// ConnectionsTx changes connections, or stores proposals of that. Changes wait for each other.
type ConnectionsTx interface {
	foureyes.ProposalTx
	// FourEyesPlatforms returns the platforms whose present settings of the books list an action.
	FourEyesPlatforms(ctx context.Context, a books.Action) ([]ident.Platform, error)
	// SaveRailConnection stores a version, with its test if there was one. It returns ErrRailConnectionChanged if there is one
	// with its number, or if the connections in force are no longer those that the caller has seen.
	SaveRailConnection(ctx context.Context, v ports.RailConnectionVersion, test *ports.RailTest, seen []ports.RailConnectionVersion) error
	SaveOpeningBalance(ctx context.Context, b ports.OpeningBalance) error
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
	AddJobs(ctx context.Context, jobs []ports.Job) error
}

// RailConnectionStore is what the commands of operators change, in units of work of type ConnectionsTx.
type RailConnectionStore interface {
	ports.UnitsOfWork
	foureyes.ProposalReader
	// RailConnections returns the version in force of every connection that is not deleted, by name: the latest one that was
	// tested or that retires the connection, and if there is none, the latest one.
	RailConnections(ctx context.Context) ([]ports.RailConnectionVersion, error)
	// RailConnectionHistory returns every version of a connection, oldest first.
	RailConnectionHistory(ctx context.Context, name string) ([]ports.RailConnectionVersion, error)
	// RailTests returns every test of a connection, oldest first.
	RailTests(ctx context.Context, name string) ([]ports.RailTest, error)
	// RailPauses returns the latest pause or resumption of each name.
	RailPauses(ctx context.Context) ([]ports.RailPause, error)
	// RailPauseHistory returns every pause and resumption of a name, oldest first.
	RailPauseHistory(ctx context.Context, name string) ([]ports.RailPause, error)
	// SaveRailTest stores a test, and the jobs that follow from it. It returns ErrRailConnectionChanged if the connections in force are
	// no longer those that the caller has seen.
	SaveRailTest(ctx context.Context, t ports.RailTest, seen []ports.RailConnectionVersion, jobs []ports.Job) error
	// SaveRailPause stores a pause or resumption, with the record of who did it.
	SaveRailPause(ctx context.Context, p ports.RailPause, record ...platform.OperatorAction) error
}

// RailFeedStore stores how far feeds were read. Each method is one atomic step, and those with a lease return
// ErrLeaseLost, and change nothing, if another process has taken it.
type RailFeedStore interface {
	// RailFeedStates returns the states of the feeds of all connections.
	RailFeedStates(ctx context.Context) ([]ports.RailFeedState, error)
	// RetryRailFeedItem stores the problem of another attempt, and when the next is due.
	RetryRailFeedItem(ctx context.Context, item ports.RailFeedItem) error
	// RailFeedItem returns an item, also one that was discarded. It returns false if there is none.
	RailFeedItem(ctx context.Context, id uuid.UUID) (ports.RailFeedItem, bool, error)
	// RailFeedItems returns the items of a connection, or of all for an empty name, that were not discarded, the
	// oldest first, without their contents.
	RailFeedItems(ctx context.Context, connection string, limit int) ([]ports.RailFeedItem, error)
	// DiscardRailFeedItem ends an item that will never be taken. It returns false if there is none.
	DiscardRailFeedItem(ctx context.Context, id uuid.UUID, by platform.Author, note string, now time.Time) (bool, error)
}

// RailProofStore stores the daily proofs, and reads what they need.
type RailProofStore interface {
	// RailInFlight returns what connections had handed over in a currency by a time and not settled by an earlier one: what
	// goes out, and what comes in. Returned money comes in or goes out in its turn.
	RailInFlight(ctx context.Context, connections []string, currency money.Currency, from time.Time, to time.Time) (out money.Total,
		in money.Total, err error)
	// RailPaymentsOfAmount returns payments of connections of an amount that are in flight, or were settled since a time, the
	// latest first, at most limit.
	RailPaymentsOfAmount(ctx context.Context, connections []string, amount money.Amount, since time.Time, limit int) ([]rail.Payment, error)
	// SaveRailProofs replaces the proofs of a day.
	SaveRailProofs(ctx context.Context, day time.Time, proofs []rail.Proof) error
	// RailProofs returns the proofs of the last day that has some, and the day; none if there is none.
	RailProofs(ctx context.Context) ([]rail.Proof, time.Time, error)
}

// RailStatementStore queues the statements of connections until they are reconciled.
type RailStatementStore interface {
	// RailStatementFailed stores why a statement could not be reconciled, and when to try again.
	RailStatementFailed(ctx context.Context, s ports.QueuedStatement, problem string, retryAt time.Time) error
	// RailStatement returns a statement without its balances; its content is deleted when it is reconciled or discarded. It returns false if
	// there is none.
	RailStatement(ctx context.Context, id uuid.UUID) (ports.QueuedStatement, bool, error)
	// RailStatements returns the statements of a connection, or of all for an empty name, that wait, the oldest first,
	// without their contents.
	RailStatements(ctx context.Context, connection string, limit int) ([]ports.QueuedStatement, error)
	// DiscardRailStatement ends a statement that will never be reconciled, and deletes its content. It returns false if
	// none waits.
	DiscardRailStatement(ctx context.Context, id uuid.UUID, by platform.Author, note string, now time.Time) (bool, error)
}

// LostCommitStore has what the database is known to have lost.
type LostCommitStore interface {
	// LostCommitFindings returns all findings, newest first.
	LostCommitFindings(ctx context.Context) ([]ports.LostCommitFinding, error)
	// LostCommits returns what a finding names, oldest first, those without a time last.
	LostCommits(ctx context.Context, finding int64, limit int) ([]ports.LostCommit, error)
	// SaveLostCommitReview records that a finding was looked at. It needs the rights of the tables' owner.
	SaveLostCommitReview(ctx context.Context, finding int64, by platform.Author, note string, now time.Time) error
}
