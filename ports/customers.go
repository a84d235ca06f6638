package ports

import (
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
)

// InternalAccountKey identifies an internal account by its owner, who is the platform if zero.
type InternalAccountKey struct {
	Platform ident.Platform
	Owner    ident.Customer
	Currency money.Currency
	Type     account.InternalType
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
	OnlyDeleted        bool
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
