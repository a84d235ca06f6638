package ports

import (
	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/transaction"
)

// Paging says which part of a list is wanted: at most Limit items after the one
// with id After, in ascending or descending order of creation.
type Paging struct {
	Limit     int
	After     uuid.UUID
	Ascending bool
}

// Page is one part of a list. Total counts the whole list.
type Page[T any] struct {
	Items []T
	More  bool
	Total int64
}

// TokenFilter narrows a list of tokens.
type TokenFilter struct {
	Paging
	Name             string
	Created, Updated period.Interval
}

// CustomerFilter narrows a list of customers.
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

// ExternalAccountFilter narrows a list of external accounts. PlatformOwned lists the
// platform's own instead of its customers'.
type ExternalAccountFilter struct {
	Paging
	Customer      ident.Customer
	Currency      money.Currency
	PlatformOwned bool
}

// InternalAccountFilter narrows a list of internal accounts. PlatformOwned lists the
// platform's own instead of its customers'.
type InternalAccountFilter struct {
	Paging
	Customer      ident.Customer
	Currency      money.Currency
	Type          account.InternalType
	PlatformOwned bool
}

// TransactionFilter narrows a list of transactions. An account identifier is the
// id of an external or internal account, or a UMA address.
type TransactionFilter struct {
	Paging
	Customer ident.Customer
	// PlatformOwned: those of the platform itself, which are no customer's.
	PlatformOwned      bool
	PlatformCustomerID string
	Account            string
	Sender, Receiver   string
	Status             transaction.Status
	Type               transaction.Type
	Reference          string
	Created            period.Interval
}
