package ports

import (
	"context"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/lookup"
)

// InflowKey names the accounts that money comes to and from; From is zero when no
// account of ours is asked for it.
type InflowKey struct {
	Platform ident.Platform
	To       ident.InternalAccount
	From     ident.ExternalAccount
}

// InflowParties are what InflowKey found; what is not there is nil, and a deleted
// external account too.
type InflowParties struct {
	To *account.Internal
	// Owner is the customer whose account receives, also a deleted one; nil when it is
	// the platform's own.
	Owner *customer.Customer
	From  *account.External
}

// ReceivingWriter is what money that comes in needs of a unit of work.
type ReceivingWriter interface {
	// InflowParties loads who receives and who pays, one result for each key.
	InflowParties(ctx context.Context, keys []InflowKey) ([]InflowParties, error)
	// CreateLookup keeps a question about a receiver.
	CreateLookup(ctx context.Context, l lookup.Lookup) error
}

// LookupReader finds questions about receivers again.
type LookupReader interface {
	// Lookup answers LOOKUP_REQUEST_NOT_FOUND for one that is not there or has expired.
	Lookup(ctx context.Context, p ident.Platform, id ident.Lookup) (lookup.Lookup, error)
}
