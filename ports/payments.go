package ports

import (
	"context"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/quote"
	"causeway/core/transaction"
)

// PaymentWriter changes quotes, transactions and receipts, in batches.
type PaymentWriter interface {
	// Parties returns what quotes refer to, one result per key; what does not exist is nil,
	// and so is a deleted external account.
	Parties(ctx context.Context, keys []PartyKey) ([]quote.Parties, error)
	// CreateQuotes stores quotes with their transactions. A quote whose id exists already,
	// from a repeated attempt, is skipped.
	CreateQuotes(ctx context.Context, quotes []quote.Quote, transactions []transaction.Transaction) error
	// CreateTransactions stores transactions without a quote: transfers, deposits, and
	// payments from other providers. One whose id exists already is skipped.
	CreateTransactions(ctx context.Context, transactions []transaction.Transaction) error
	// SaveReceipts stores receipts, unless there is one with the same platform, rail and
	// partner's id, and returns, locked, the transactions that they pay for; one result per
	// receipt. Receipts with the same reference share a transaction.
	SaveReceipts(ctx context.Context, receipts []transaction.Receipt) ([]SavedReceipt, error)
	// SaveReceiptPayers stores the payers of receipts that are new.
	SaveReceiptPayers(ctx context.Context, payers []ReceiptPayer) error
	// LockQuotes returns quotes with their transactions and parties, and locks the
	// transactions in one order.
	LockQuotes(ctx context.Context, keys []QuoteKey) (map[QuoteKey]QuoteState, error)
	// TransactionParties returns the present parties of a transaction.
	TransactionParties(ctx context.Context, key TransactionKey) (transaction.Parties, error)
	// LockTransactions returns transactions, and locks them in one order.
	LockTransactions(ctx context.Context, keys []TransactionKey) (map[TransactionKey]transaction.Transaction, error)
	UpdateTransactions(ctx context.Context, transactions []transaction.Transaction) error
}

// PaymentReader reads quotes, transactions and receipts.
type PaymentReader interface {
	// Quote returns a quote with its transaction, or QUOTE_NOT_FOUND.
	Quote(ctx context.Context, p ident.Platform, id ident.Quote) (quote.Quote, transaction.Transaction, error)
	// Transaction returns a transaction, or TRANSACTION_NOT_FOUND.
	Transaction(ctx context.Context, p ident.Platform, id ident.Transaction) (transaction.Transaction, error)
	Transactions(ctx context.Context, p ident.Platform, f TransactionFilter) (Page[transaction.Transaction], error)
	// TransactionsByKey returns transactions without their payment instructions.
	TransactionsByKey(ctx context.Context, keys []TransactionKey) (map[TransactionKey]transaction.Transaction, error)
	// TransactionsByReference returns transactions, without their payment instructions, by
	// the reference of payments for them.
	TransactionsByReference(ctx context.Context, keys []ReferenceKey) (map[ReferenceKey]transaction.Transaction, error)
	// Payouts returns transactions with the external accounts that they pay to. What does
	// not exist is omitted.
	Payouts(ctx context.Context, keys []TransactionKey) ([]Payout, error)
	// Collections returns transactions with the external accounts that they collect from.
	// What does not exist is omitted.
	Collections(ctx context.Context, keys []TransactionKey) ([]Collection, error)
	// Receipts returns receipts. What does not exist is omitted.
	Receipts(ctx context.Context, p ident.Platform, ids []ident.Receipt) ([]transaction.Receipt, error)
	// ReceiptPayers returns the accounts from which receipts were paid, as far as they are known and not erased.
	ReceiptPayers(ctx context.Context, p ident.Platform, ids []ident.Receipt) (map[ident.Receipt]account.External, error)
}

// ReceiptPayer is the account from which a receipt was paid.
type ReceiptPayer struct {
	Platform ident.Platform
	Receipt  ident.Receipt
	// Customer is the one for whom the money is, with whom the account is erased; zero if that is nobody.
	Customer ident.Customer
	Account  account.External
}

// PartyKey names what a quote refers to; zero ids are not loaded. A zero Customer stands
// for the owner of the account that pays, or else of the one that receives.
type PartyKey struct {
	Platform     ident.Platform
	Customer     ident.Customer
	FromInternal ident.InternalAccount
	FromExternal ident.ExternalAccount
	ToInternal   ident.InternalAccount
	ToExternal   ident.ExternalAccount
}

// QuoteKey identifies a quote of a platform.
type QuoteKey struct {
	Platform ident.Platform
	ID       ident.Quote
}

// QuoteState is a quote and its transaction.
type QuoteState struct {
	Quote       quote.Quote
	Transaction transaction.Transaction
	Parties     transaction.Parties
}

// ReferenceKey identifies what a payer pays for, by the reference in the payment.
type ReferenceKey struct {
	Platform  ident.Platform
	Reference string
}

// SavedReceipt is the result for a stored receipt.
type SavedReceipt struct {
	// ID is the id under which it is stored.
	ID ident.Receipt
	// IsNew is false for a receipt that was stored before, or earlier in the batch.
	IsNew bool
	// Transaction is the transaction with the receipt's reference, and Parties are its parties;
	// nil if there is none.
	Transaction *transaction.Transaction
	Parties     transaction.Parties
}

// TransactionKey identifies a transaction of a platform.
type TransactionKey struct {
	Platform ident.Platform
	ID       ident.Transaction
}

// TransactionFilter selects transactions; zero fields match all.
type TransactionFilter struct {
	Paging
	Customer ident.Customer
	// Agent selects the transactions that an agent created.
	Agent ident.Agent
	// PlatformOwned selects the transactions of the platform itself.
	PlatformOwned      bool
	PlatformCustomerID string
	// Account, Sender and Receiver are ids of external or internal accounts, or UMA
	// addresses.
	Account          string
	Sender, Receiver string
	Status           transaction.Status
	Type             transaction.Type
	Reference        string
	Created          period.Interval
}

// IncomingPaymentWriter loads the parties of incoming payments, and stores lookups.
type IncomingPaymentWriter interface {
	// IncomingPaymentParties returns the parties, one result per key.
	IncomingPaymentParties(ctx context.Context, keys []IncomingPaymentKey) ([]transaction.IncomingParties, error)
	// CreateLookup stores a lookup of a receiver.
	CreateLookup(ctx context.Context, l quote.Lookup) error
}

// IncomingPaymentKey names the accounts that an incoming payment is for and from. From is
// zero if the payment is not collected from an external account.
type IncomingPaymentKey struct {
	Platform ident.Platform
	To       ident.InternalAccount
	From     ident.ExternalAccount
}

// LookupReader reads lookups of receivers.
type LookupReader interface {
	// Lookup returns a lookup, or LOOKUP_REQUEST_NOT_FOUND if there is none or it has
	// expired.
	Lookup(ctx context.Context, p ident.Platform, id ident.Lookup) (quote.Lookup, error)
}
