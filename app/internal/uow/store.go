package uow

import (
	"context"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// Tx writes a Work: transactions with their postings, events, jobs and replies.
type Tx interface {
	// GiveBackUsage takes locked transactions out of the counters of limits, and then of agents, if their usage is given back and the
	// stored one is not. It comes before UpdateTransactions, which stores that.
	GiveBackUsage(ctx context.Context, transactions []transaction.Transaction) error
	// OpenInternalAccounts creates the accounts that do not exist yet; there is one per
	// customer (or platform), currency and type.
	OpenInternalAccounts(ctx context.Context, accounts []account.Internal) error
	// InternalAccount returns the account of an owner, or false.
	InternalAccount(ctx context.Context, key ports.InternalAccountKey) (account.Internal, bool, error)
	AddJobs(ctx context.Context, jobs []ports.Job) error
	// FinishJobs deletes jobs. If the lease of one was lost, the unit of work fails with
	// ErrLeaseLost and changes nothing.
	FinishJobs(ctx context.Context, jobs []ports.Job) error
	// Post writes postings, of any platforms, in the given order. A posting whose id is
	// already written with the same content is skipped, so that a call may be repeated.
	//
	// Errors, with nothing written: ledger.ErrInvalid; a *ledger.InsufficientBalanceError
	// if an account that may not be overdrawn would go below zero after any posting;
	// ledger.ErrConflict if an id is written with other content; ledger.ErrNotReversible;
	// ledger.ErrOverflow.
	Post(ctx context.Context, postings []ledger.Posting) error
	// LockBalances returns the balances of internal accounts, with the internal accounts
	// themselves, and locks them until the unit of work ends. The balance of an account
	// that was never posted to is zero; an account that is not opened yet has a zero id.
	// All accounts that the unit of work will post to and that may not be overdrawn must
	// be in one call: a second lock could deadlock with another unit of work.
	LockBalances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]account.WithBalance, error)
	// CreateTransactions stores transactions without a quote: transfers, deposits, and
	// payments from other providers. One whose id exists already is skipped.
	CreateTransactions(ctx context.Context, transactions []transaction.Transaction) error
	// LockTransactions returns transactions, and locks them in one order.
	LockTransactions(ctx context.Context, keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error)
	UpdateTransactions(ctx context.Context, transactions []transaction.Transaction) error
	SaveRailReplies(ctx context.Context, replies []ports.RailReply) error
	// AddRailFeedItems keeps items aside as RailFeedStore does.
	AddRailFeedItems(ctx context.Context, items []ports.RailFeedItem) error
	// LockRailPayments locks the recorded payments with these keys and returns them.
	LockRailPayments(ctx context.Context, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error)
	// Emit stores events in the given order; they are sent after the commit.
	Emit(ctx context.Context, events []event.Event) error
	// SaveResponse stores the response to a request with an idempotency key; for a nil
	// request it does nothing. It returns a *Replay error if the key already has a
	// response.
	SaveResponse(ctx context.Context, request *ports.IdempotentRequest, result any, err error) error
	// SaveUnmatched stores which receipts the funds of postings to funding/unmatched come
	// from. Storing one again changes nothing.
	SaveUnmatched(ctx context.Context, funds []ports.UnmatchedFunds) error
}
