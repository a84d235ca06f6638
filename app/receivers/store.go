package receivers

import (
	"context"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/ports"
)

// Store reads who can be paid, and from what.
type Store interface {
	ports.UnitsOfWork
	Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	Customers(ctx context.Context, p ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error)
	ExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount) (account.External, error)
	InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error)
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
}

// Tx stores lookups of receivers.
type Tx interface {
	// CreateLookup stores a lookup of a receiver.
	CreateLookup(ctx context.Context, l quote.Lookup) error
}
