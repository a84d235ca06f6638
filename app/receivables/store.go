package receivables

import (
	"context"
	"time"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/returns"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/receivable"
	"causeway/ports"
)

// Store reads what customers owe for money that was taken back.
type Store interface {
	returns.Accounts
	foureyes.Store
	// Receivable returns a receivable with its changes in their order, or false if there is none.
	Receivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ports.ReceivableDetails, bool, error)
	// Receivables returns a page of receivables.
	Receivables(ctx context.Context, p ident.Platform, f ports.ReceivableFilter) (ports.Page[receivable.Receivable], error)
	// OpenReceivables calls each with what every open receivable of a platform owes, all read from one snapshot.
	OpenReceivables(ctx context.Context, p ident.Platform, each func(currency money.Currency, owed int64, returnedAt time.Time) error) error
	// CollectableReceivables returns open receivables of all platforms of the scope whose accounts have money, those
	// that were returned first first: at most limit after one, or from the first on if it is zero.
	CollectableReceivables(ctx context.Context, after ports.CollectableReceivable, limit int) ([]ports.CollectableReceivable, error)
}

// Tx changes receivables.
type Tx interface {
	foureyes.Tx
	returns.Tx
	// LockReceivable returns a receivable, locked, with its changes, or false if there is none. Lock it before balances.
	LockReceivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ports.ReceivableDetails, bool, error)
}
