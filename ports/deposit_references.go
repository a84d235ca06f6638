package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
)

// DepositReference is a reference with which payers can pay in: of an internal account, or of a quote that is paid
// just in time.
type DepositReference struct {
	Platform ident.Platform
	// ID is that of the account or of the quote.
	ID        uuid.UUID
	Reference string
	Currency  money.Currency
	CreatedAt time.Time
}

// DepositReferences reads for which references addresses on a chain may have been shown to payers.
type DepositReferences interface {
	// DepositReferences returns at most limit references of platforms in production, in one of the currencies and
	// with an id after the given one, in the order of the ids. No platform means all of them. Ids begin with the time
	// of creation, and a commit can add one that is some seconds old: callers read the last minutes again.
	DepositReferences(ctx context.Context, platforms []ident.Platform, currencies []money.Currency, after uuid.UUID,
		limit int) ([]DepositReference, error)
}
