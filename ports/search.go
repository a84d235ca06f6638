package ports

import (
	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/search"
)

// SearchKind is what is found by keys.
type SearchKind string

// The kinds.
const (
	FoundCustomer        SearchKind = "CUSTOMER"
	FoundExternalAccount SearchKind = "EXTERNAL_ACCOUNT"
)

// SearchHit is something that has keys.
type SearchHit struct {
	Kind SearchKind
	ID   uuid.UUID
}

// SearchItem is a customer or an external account whose keys are to be made. If IsAll, it is all of the kind after the id.
type SearchItem struct {
	Platform ident.Platform
	SearchHit
	IsAll bool
}

// SearchKeys are the keys of a customer or an external account.
type SearchKeys struct {
	Platform ident.Platform
	SearchHit
	Keys []search.Key
}
