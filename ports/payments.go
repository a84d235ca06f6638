package ports

import (
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/quote"
	"causeway/core/transaction"
)

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
	Statuses         []transaction.Status
	Type             transaction.Type
	Reference        string
	Created          period.Interval
	Amounts          AmountFilter
}

// StatusCounts are the transactions of a list by status, each counted to one above MaxTotal. AreMinimum reports that not all of the
// list were looked at, because a filter left many out.
type StatusCounts struct {
	Counts     map[transaction.Status]int64
	AreMinimum bool
}

// AmountFilter selects transactions that receive a currency, and outgoing ones that send it. Min and Max limit the amount of
// that currency, in minor units; 0 does not.
type AmountFilter struct {
	Currency money.Currency
	Min, Max int64
	// Currencies may have the one amount Min = Max each, in place of Currency.
	Currencies []money.Currency
}

// QuoteFilter selects quotes; zero fields match all.
type QuoteFilter struct {
	// Transactions selects by the transactions of the quotes; its Statuses are not used.
	Transactions TransactionFilter
	Statuses     []quote.Status
}

// IncomingPaymentKey names the accounts that an incoming payment is for and from. From is
// zero if the payment is not collected from an external account.
type IncomingPaymentKey struct {
	Platform ident.Platform
	To       ident.InternalAccount
	From     ident.ExternalAccount
}
