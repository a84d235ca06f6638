package ports

import (
	"causeway/core/ident"
	"causeway/ledger"
)

// StatusMismatch is a transaction that a list by status lacks, or has wrongly.
type StatusMismatch struct {
	Platform          ident.Platform
	Transaction       ident.Transaction
	Status, Direction string
	// Listed reports whether it is in that list, and not one of its transactions.
	Listed bool
}

// ChangedReply is a reply that is not what was recorded.
type ChangedReply struct {
	RailReply
	// Unsealed reports whether it has no seal.
	Unsealed bool
}

// MissingReply is a transaction with a posting that follows from a reply that is not stored.
type MissingReply struct {
	Platform    ident.Platform
	Transaction ident.Transaction
	Kind        ledger.Kind
}
