package ports

import (
	"context"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/lookup"
)

// IncomingPaymentKey names the accounts that money comes to and from; From is zero when no
// account of ours is asked for it.
type IncomingPaymentKey struct {
	Platform ident.Platform
	To       ident.InternalAccount
	From     ident.ExternalAccount
}

// IncomingPaymentParties are what InflowKey found; what is not there is nil, and a deleted
// external account too.
type IncomingPaymentParties struct {
	To *account.Internal
	// Owner is the customer whose account receives, also a deleted one; nil when it is
	// the platform's own.
	Owner *customer.Customer
	From  *account.External
}

// IncomingPaymentWriter is what money that comes in needs of a unit of work.
type IncomingPaymentWriter interface {
	// IncomingPaymentParties loads who receives and who pays, one result for each key.
	IncomingPaymentParties(ctx context.Context, keys []IncomingPaymentKey) ([]IncomingPaymentParties, error)
	// CreateLookup keeps a question about a receiver.
	CreateLookup(ctx context.Context, l lookup.Lookup) error
}

// LookupReader finds questions about receivers again.
type LookupReader interface {
	// Lookup answers LOOKUP_REQUEST_NOT_FOUND for one that is not there or has expired.
	Lookup(ctx context.Context, p ident.Platform, id ident.Lookup) (lookup.Lookup, error)
}
