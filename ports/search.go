package ports

import (
	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/search"
)

// SearchKind is what the search finds.
type SearchKind string

// The kinds.
const (
	FoundPayment         SearchKind = "PAYMENT"
	FoundCustomer        SearchKind = "CUSTOMER"
	FoundExternalAccount SearchKind = "EXTERNAL_ACCOUNT"
	FoundInternalAccount SearchKind = "INTERNAL_ACCOUNT"
	FoundWebhook         SearchKind = "WEBHOOK"
	FoundPosting         SearchKind = "POSTING"
)

// SearchHit is something that has the id that was looked for. A payment also has the id of its quote.
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
