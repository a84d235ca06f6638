// Package ports says what the program needs from outside, as Go interfaces, one
// file a port. It holds no logic: only names, shapes and promises.
package ports

import (
	"context"
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
)

// Store keeps everything. Do is the only way to change any of it.
type Store interface {
	// Do runs fn in one unit of work: all it wrote is committed when fn returns
	// nil, and nothing otherwise. When the database asks for it (a deadlock, a
	// serialization failure) fn is run again, so it must not keep results of an
	// earlier run. An error of the commit itself leaves open whether it happened.
	Do(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	Reader
}

// Tx is one unit of work. Everything loaded for a decision is locked until it ends.
// Writes may be held back and sent together at the commit, so a broken constraint
// may surface there.
type Tx interface {
	LedgerWriter
	PlatformWriter
	CustomerWriter
	PaymentWriter
	IncomingPaymentWriter
	UnmatchedWriter
	RailReplyWriter
	PeriodWriter
	JobWriter
	ReconciliationWriter

	// Emit stores events for the platform in the order given; they are sent after
	// the commit.
	Emit(ctx context.Context, events []event.Event) error
	// SaveResponse stores the answer of a request under its idempotency key. It returns
	// a *Replay error when another request was faster with the same key.
	SaveResponse(ctx context.Context, claim *IdempotentRequest, result any, err error) error
}

// PlatformWriter changes platforms and their tokens.
type PlatformWriter interface {
	CreatePlatform(ctx context.Context, p platform.Platform) error
	// LockPlatform loads one for change.
	LockPlatform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// LockPlatformShared loads one and keeps it from changing until the unit of work ends;
	// any number of them can at once.
	LockPlatformShared(ctx context.Context, id ident.Platform) (platform.Platform, error)
	UpdatePlatform(ctx context.Context, p platform.Platform) error
	CreateToken(ctx context.Context, t platform.Token) error
	// LockTokens loads all tokens of a platform for change.
	LockTokens(ctx context.Context, p ident.Platform) ([]platform.Token, error)
	// DeleteToken answers TOKEN_NOT_FOUND when there is none.
	DeleteToken(ctx context.Context, p ident.Platform, id ident.Token) error
}

// CustomerWriter changes customers and their accounts.
type CustomerWriter interface {
	// CreateCustomer answers CONFLICT for a platformCustomerId in use and
	// UMA_ADDRESS_EXISTS for an address in use.
	CreateCustomer(ctx context.Context, c customer.Customer) error
	// CreateExternalAccount answers CONFLICT when the same account is there already.
	CreateExternalAccount(ctx context.Context, a account.External) error
	// DeleteExternalAccount marks it deleted, or answers EXTERNAL_ACCOUNT_NOT_FOUND.
	DeleteExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount, at time.Time) error
	// OpenInternalAccounts creates the accounts that do not exist yet; there is one
	// per customer (or platform) and currency.
	OpenInternalAccounts(ctx context.Context, accounts []account.Internal) error
	// InternalAccount finds the account of a customer in a currency.
	InternalAccount(ctx context.Context, p ident.Platform, c ident.Customer, currency money.Currency) (account.Internal, bool, error)
	// AddFundingInstructions returns accounts the ways to pay in that they lack.
	AddFundingInstructions(ctx context.Context, accounts []account.Internal) error
}

// PartyKey names the two sides of a quote; those that are zero are not asked for. A
// zero Customer means the owner of the account that pays, or else of the one that
// receives.
type PartyKey struct {
	Platform     ident.Platform
	Customer     ident.Customer
	FromInternal ident.InternalAccount
	FromExternal ident.ExternalAccount
	ToInternal   ident.InternalAccount
	ToExternal   ident.ExternalAccount
}

// QuoteKey names one quote of a platform.
type QuoteKey struct {
	Platform ident.Platform
	ID       ident.Quote
}

// QuoteState is a quote and its transaction.
type QuoteState struct {
	Quote       quote.Quote
	Transaction transaction.Transaction
}

// ReferenceKey names what a payer pays, by the code in the memo.
type ReferenceKey struct {
	Platform  ident.Platform
	Reference string
}

// SavedReceipt is a receipt that was stored, and the transaction with its reference, if
// there is one.
type SavedReceipt struct {
	// IsNew is false for a receipt that was stored before, or earlier in the group.
	IsNew       bool
	Transaction *transaction.Transaction
}

// TransactionKey names one transaction of a platform.
type TransactionKey struct {
	Platform ident.Platform
	ID       ident.Transaction
}

// PaymentWriter changes quotes, transactions and receipts, many at a time.
type PaymentWriter interface {
	// Parties loads what quotes are about, one result for each key; what is not there,
	// or deleted, is nil.
	Parties(ctx context.Context, keys []PartyKey) ([]quote.Parties, error)
	// CreateQuotes stores quotes with their transactions. One that is there already
	// (the same id, from a repeated attempt) is left as it is.
	CreateQuotes(ctx context.Context, quotes []quote.Quote, transactions []transaction.Transaction) error
	// CreateTransactions stores transactions that no quote has: transfers, deposits,
	// payments from other providers. One that is there already is left as it is.
	CreateTransactions(ctx context.Context, transactions []transaction.Transaction) error
	// SaveReceipts stores receipts, and loads and locks the transactions they pay for; one
	// result for each. Receipts with the same reference share one transaction.
	SaveReceipts(ctx context.Context, receipts []transaction.Receipt) ([]SavedReceipt, error)
	// LockQuotes loads quotes and locks their transactions, in one order; those that do
	// not exist are missing.
	LockQuotes(ctx context.Context, keys []QuoteKey) (map[QuoteKey]QuoteState, error)
	// LockTransactions loads and locks transactions, in one order.
	LockTransactions(ctx context.Context, keys []TransactionKey) (map[TransactionKey]transaction.Transaction, error)
	UpdateTransactions(ctx context.Context, transactions []transaction.Transaction) error
}

// Reader reads without locking. What belongs to another platform is not found.
type Reader interface {
	LookupReader
	UnmatchedReader
	RailReplyReader
	PeriodReader

	// TokensByClientID finds tokens, with the environment of their platforms.
	TokensByClientID(ctx context.Context, clientIDs []string) (map[string]TokenWithEnvironment, error)
	// StoredResponses finds the remembered answers of requests; the result is as long as keys.
	StoredResponses(ctx context.Context, keys []IdempotencyKey) ([]*StoredResponse, error)

	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	Token(ctx context.Context, p ident.Platform, id ident.Token) (platform.Token, error)
	Tokens(ctx context.Context, p ident.Platform, f TokenFilter) (Page[platform.Token], error)

	Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	Customers(ctx context.Context, p ident.Platform, f CustomerFilter) (Page[customer.Customer], error)
	// CustomersAfter walks the customers who are not deleted, in the order of their
	// ids: at most limit of those that follow after.
	CustomersAfter(ctx context.Context, p ident.Platform, after ident.Customer, limit int) ([]customer.Customer, error)
	ExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount) (account.External, error)
	ExternalAccounts(ctx context.Context, p ident.Platform, f ExternalAccountFilter) (Page[account.External], error)
	// UMAForwardingAccount returns the external account that payments to a customer's UMA address are
	// sent on to; false when there is none.
	UMAForwardingAccount(ctx context.Context, p ident.Platform, c ident.Customer) (account.External, bool, error)
	// InternalAccount answers INTERNAL_ACCOUNT_NOT_FOUND when there is none.
	InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error)
	// InternalAccountsByReference finds what payments with these references are paid
	// into; those nobody knows are missing. They come without their instructions.
	InternalAccountsByReference(ctx context.Context, keys []ReferenceKey) (map[ReferenceKey]account.Internal, error)
	InternalAccounts(ctx context.Context, p ident.Platform, f InternalAccountFilter) (Page[account.Internal], error)
	// InternalAccountsOf reads all accounts of owners; a zero customer is the platform.
	InternalAccountsOf(ctx context.Context, p ident.Platform, owners []ident.Customer) (map[ident.Customer][]account.Internal, error)

	Quote(ctx context.Context, p ident.Platform, id ident.Quote) (quote.Quote, transaction.Transaction, error)
	Transaction(ctx context.Context, p ident.Platform, id ident.Transaction) (transaction.Transaction, error)
	Transactions(ctx context.Context, p ident.Platform, f TransactionFilter) (Page[transaction.Transaction], error)
	// TransactionsByKey reads many, without their payment instructions; those that do
	// not exist are missing.
	TransactionsByKey(ctx context.Context, keys []TransactionKey) (map[TransactionKey]transaction.Transaction, error)

	// Payouts reads transactions with the accounts they pay to; those that do not
	// exist are missing.
	Payouts(ctx context.Context, keys []TransactionKey) ([]Payout, error)
	// Collections reads transactions with the external accounts they are paid from;
	// those that do not exist are missing.
	Collections(ctx context.Context, keys []TransactionKey) ([]Collection, error)
	// Receipts reads those with these ids; those that do not exist are missing.
	Receipts(ctx context.Context, p ident.Platform, ids []ident.Receipt) ([]transaction.Receipt, error)
	// TransactionsByReference finds what payments with these references are for;
	// those nobody knows are missing. They come without their payment instructions.
	TransactionsByReference(ctx context.Context, keys []ReferenceKey) (map[ReferenceKey]transaction.Transaction, error)

	// CorridorOverrides returns the operator's changes to terms: those for all
	// platforms and those for one.
	CorridorOverrides(ctx context.Context) ([]CorridorOverride, error)
	// PlatformLimits returns the limits that platforms set themselves, for all of them.
	PlatformLimits(ctx context.Context) ([]PlatformLimits, error)
}

// PlatformLimits are a platform's own limits for one currency.
type PlatformLimits struct {
	Platform ident.Platform
	Currency money.Currency
	corridor.Limits
}

// TokenWithEnvironment is a token with what a request needs to know of its platform.
type TokenWithEnvironment struct {
	Token       platform.Token
	Environment platform.Environment
}

// CorridorOverride is one line of the operator's table; a zero Platform means all.
type CorridorOverride struct {
	Platform ident.Platform
	From, To money.Currency
	Terms    corridor.Override
}
