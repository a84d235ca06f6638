package ports

import (
	"context"
	"time"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
)

// CustomerWriter changes customers and accounts.
type CustomerWriter interface {
	// CreateCustomer returns CONFLICT for a platformCustomerId in use, and
	// UMA_ADDRESS_EXISTS for a UMA address in use.
	CreateCustomer(ctx context.Context, c customer.Customer) error
	// LockCustomer returns a customer, also a deleted one, or USER_NOT_FOUND.
	LockCustomer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	// UpdateCustomer writes what can change of a customer, who is locked. It returns
	// UMA_ADDRESS_EXISTS for a UMA address in use.
	UpdateCustomer(ctx context.Context, c customer.Customer) error
	// CustomerFunds returns the money of a customer.
	CustomerFunds(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Funds, error)
	// LockCustomerFunds returns the money of a customer, and keeps its balances from changing until the
	// unit of work ends.
	LockCustomerFunds(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Funds, error)
	// EraseTransactionsOf removes the names, texts and UMA addresses of at most limit transactions of a
	// customer after one, in the order of their ids, the accounts that paid for them, and erases their webhooks. It returns how many there
	// were of both, and the last transaction.
	EraseTransactionsOf(ctx context.Context, p ident.Platform, id ident.Customer, after ident.Transaction,
		limit int) (n, webhooks int, last ident.Transaction, err error)
	// EraseWebhooksOf erases at most limit webhooks after one, in the order of their ids, that are about a
	// customer, its internal accounts, verifications, invitations and the actions of its agents: their
	// resource, and what was responded. It returns how many there were, and the last.
	EraseWebhooksOf(ctx context.Context, p ident.Platform, id ident.Customer, after ident.Webhook,
		limit int) (n int, last ident.Webhook, err error)
	// EraseRecordsOf deletes the external accounts, beneficial owners, verifications, their links and the
	// invitations of a customer, also deleted ones, its name in the invitations that it has claimed, the
	// reasons of reviews and of what became of its agents' actions, the funding instructions of its internal
	// accounts, which name it, its agents, the credentials and sessions of its wallet, and the accounts from which
	// other money for it was received, except of what is unmatched.
	EraseRecordsOf(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Erased, error)
	// DeleteExternalAccountsOf marks the external accounts of a customer as deleted.
	DeleteExternalAccountsOf(ctx context.Context, p ident.Platform, id ident.Customer, at time.Time) error
	// CreateExternalAccount returns CONFLICT if the same account exists already.
	CreateExternalAccount(ctx context.Context, a account.External) error
	// DeleteExternalAccount marks an account as deleted, or returns
	// EXTERNAL_ACCOUNT_NOT_FOUND.
	DeleteExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount, at time.Time) error
	// OpenInternalAccounts creates the accounts that do not exist yet; there is one per
	// customer (or platform), currency and type.
	OpenInternalAccounts(ctx context.Context, accounts []account.Internal) error
	// InternalAccount returns the account of an owner, or false.
	InternalAccount(ctx context.Context, key InternalAccountKey) (account.Internal, bool, error)
	// InternalAccountsOf returns all accounts of a customer.
	InternalAccountsOf(ctx context.Context, p ident.Platform, id ident.Customer) ([]account.Internal, error)
	// AddFundingInstructions stores the funding instructions of existing accounts that
	// have none.
	AddFundingInstructions(ctx context.Context, accounts []account.Internal) error
	// ReplaceFundingInstructions stores the funding instructions of existing accounts that have
	// others.
	ReplaceFundingInstructions(ctx context.Context, accounts []account.Internal) error
}

// InternalAccountKey identifies an internal account by its owner, who is the platform if zero.
type InternalAccountKey struct {
	Platform ident.Platform
	Owner    ident.Customer
	Currency money.Currency
	Type     account.InternalType
}

// CustomerReader reads customers and accounts.
type CustomerReader interface {
	// Customer returns a customer, also a deleted one, or USER_NOT_FOUND.
	Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	Customers(ctx context.Context, p ident.Platform, f CustomerFilter) (Page[customer.Customer], error)
	// CustomersAfter returns customers that are not deleted, in the order of their ids: at
	// most limit after the one with the given id.
	CustomersAfter(ctx context.Context, p ident.Platform, after ident.Customer, limit int) ([]customer.Customer, error)
	// CustomersByID returns those of the customers who exist and are not deleted.
	CustomersByID(ctx context.Context, p ident.Platform, ids []ident.Customer) ([]customer.Customer, error)
	// ExternalAccount returns an account that is not deleted, or
	// EXTERNAL_ACCOUNT_NOT_FOUND.
	ExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount) (account.External, error)
	ExternalAccounts(ctx context.Context, p ident.Platform, f ExternalAccountFilter) (Page[account.External], error)
	// UMAForwardingAccount returns the external account to which payments to a customer's
	// UMA address are forwarded, or false.
	UMAForwardingAccount(ctx context.Context, p ident.Platform, c ident.Customer) (account.External, bool, error)
	// InternalAccount returns an account, or INTERNAL_ACCOUNT_NOT_FOUND.
	InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error)
	// InternalAccountsByReference returns accounts, without their funding instructions, by
	// the reference of payments into them.
	InternalAccountsByReference(ctx context.Context, keys []ReferenceKey) (map[ReferenceKey]account.Internal, error)
	InternalAccounts(ctx context.Context, p ident.Platform, f InternalAccountFilter) (Page[account.Internal], error)
	// InternalAccountsOf returns all accounts of owners; a zero customer is the platform.
	InternalAccountsOf(ctx context.Context, p ident.Platform, owners []ident.Customer) (map[ident.Customer][]account.Internal, error)
}

// CustomerFilter selects customers; zero fields match all.
type CustomerFilter struct {
	Paging
	PlatformCustomerID string
	Type               customer.Type
	Created, Updated   period.Interval
	Region             string
	Currency           money.Currency
	UMAAddress         string
	IncludeDeleted     bool
}

// ExternalAccountFilter selects external accounts; zero fields match all. PlatformOwned
// selects the accounts of the platform instead of those of its customers.
type ExternalAccountFilter struct {
	Paging
	Customer      ident.Customer
	Currency      money.Currency
	PlatformOwned bool
}

// InternalAccountFilter selects internal accounts; zero fields match all. PlatformOwned
// selects the accounts of the platform instead of those of its customers.
type InternalAccountFilter struct {
	Paging
	Customer      ident.Customer
	Currency      money.Currency
	Type          account.InternalType
	PlatformOwned bool
	// IDs selects the accounts with these ids: none if it is empty, and all if it is nil.
	IDs []ident.InternalAccount
}

// AccountHolder is the customer who holds an account. Name is empty if it was not asked for, or if the
// customer was erased.
type AccountHolder struct {
	Customer ident.Customer
	Type     customer.Type
	Name     string
}
